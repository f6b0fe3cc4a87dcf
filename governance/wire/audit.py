"""Audit entries."""

from __future__ import annotations

from governance.wire.base import Answer, JSONObject


class AuditPage(Answer):
    """Entries, oldest first, each as it was written."""

    items: list[JSONObject]
    next: str | None = None
    """Where to go on when there are more already; None on the last page."""
    last: str | None = None
    """The place of the last entry given, or where the caller stood: what comes later is after it."""
