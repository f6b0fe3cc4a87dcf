"""Lines that consumers have accepted."""

from __future__ import annotations

from datetime import datetime

from governance.wire.base import Answer


class AcceptanceView(Answer):
    """One consumer accepted one line of one skill."""

    id: str
    skill: str
    consumer: str
    line: str
    """A version of the line: its opening when it was accepted."""
    basis: str
    """``first-contact``, ``named-line``, or ``flag``: a blanket one, which expires."""
    accepted_at: datetime
    accepted_by: str
    expires_at: datetime | None = None
    """None: it stands until it is revoked."""
    revoked_at: datetime | None = None
    revoked_by: str | None = None


class AcceptancePage(Answer):
    """Acceptances by skill."""

    items: list[AcceptanceView]
    next: str | None = None
