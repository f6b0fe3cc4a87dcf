"""CI identity: whom to trust, and a short token for whoever proves to be that."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from governance.wire.base import Answer, Label, Request, ShortText
from governance.wire.tokens import Grant

Claim = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f]*$")]


class PublisherRequest(Request):
    """Trust CI jobs of which ``issuer`` says all of ``claims``."""

    name: Label
    issuer: Annotated[str, Field(min_length=1, max_length=500)]
    """Exactly as its assertions spell it."""
    claims: dict[ShortText, Claim] = Field(min_length=1, max_length=20)
    """The value each must have, whole; a trailing ``*`` stands for any rest, except in the claim that says whose job
    it is."""
    grants: list[Grant] = Field(min_length=1, max_length=20)


class Publisher(Answer):
    """One trusted publisher."""

    id: str
    name: str
    issuer: str
    claims: dict[str, str]
    grants: list[Grant]
    state: str
    """``pending`` until its first use, ``active``, or ``revoked``."""
    created_at: datetime
    created_by: str
    pending_until: datetime | None = None
    """By when a pending one must be used, or it is void."""
    last_used_at: datetime | None = None


class PublisherPage(Answer):
    items: list[Publisher]


class ExchangeRequest(Request):
    """An assertion: an OIDC ID token of a CI job, made for this service."""

    assertion: Annotated[str, Field(min_length=1, max_length=16 * 1024)]


class Exchanged(Answer):
    """A short token."""

    token: str
    expires_at: datetime
    grants: list[Grant]
    subject: str
    """Whom the issuer says the job to be."""
    publishers: list[str]
    """Names of the publishers that trust it."""
