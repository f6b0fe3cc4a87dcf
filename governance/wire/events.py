"""Events: what changed."""

from __future__ import annotations

from datetime import datetime

from governance.wire.base import Answer, JSONObject


class Event(Answer):
    """One change, as the audit log has it."""

    id: str
    """Its place in the one order of all events."""
    type: str
    """The audit action, such as ``skill.publish``."""
    time: datetime
    namespace: str
    subject: str
    actor: str
    reason: str | None = None
    data: JSONObject
    """What the change came to; no secrets and no payloads."""
