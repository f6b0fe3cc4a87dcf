"""Events: what changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from governance.wire.base import Answer, JSONObject, Request


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


class WebhookRequest(Request):
    """Who wants to be told, and of what."""

    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    namespace: Annotated[str, Field(max_length=128, pattern=r"^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*)$")] = "*"
    """What lies here or below; ``*``: everything."""
    types: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=100)
    """Event types; empty: all."""


class Webhook(Answer):
    """One webhook without its secret."""

    id: str
    url: str
    namespace: str
    types: list[str]
    disabled: str | None = None
    """Why nothing is sent to it; None: it is on."""
    created_at: datetime
    created_by: str


class WebhookCreated(Webhook):
    """A new webhook, or one with a new secret, which is shown this once."""

    secret: str
    """As libraries for Standard Webhooks take it: ``whsec_`` and base64."""


class WebhookPage(Answer):
    items: list[Webhook]


class Delivery(Answer):
    """One event for one webhook."""

    id: str
    """The ``webhook-id`` of every attempt."""
    event: str
    type: str
    state: str
    """``waiting``, ``delivered`` or ``given_up``."""
    attempts: int
    created_at: datetime
    next_at: datetime | None = None
    delivered_at: datetime | None = None
    last_at: datetime | None = None
    last_status: int | None = None
    last_error: str | None = None


class DeliveryPage(Answer):
    """Newest first."""

    items: list[Delivery]
    next: str | None = None
