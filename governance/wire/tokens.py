"""Tokens and the roles they carry."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from governance.wire.base import Answer, Label, Request, Whole

_NAMESPACE = r"^(\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*)$"


class Role(StrEnum):
    """What a token may do in a namespace. Each role and what it may do: docs/service.md."""

    VIEWER = "viewer"
    CALLER = "caller"
    PUBLISHER = "publisher"
    APPROVER = "approver"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    ADMIN = "admin"


class Grant(Request):
    """A role in a namespace and all below it; ``*`` is everywhere."""

    role: Annotated[Role, Field(strict=False)]
    namespace: Annotated[str, Field(max_length=128, pattern=_NAMESPACE)] = "*"


class TokenRequest(Request):
    """A new token; it always expires, a year from now at the latest."""

    name: Label
    grants: list[Grant] = Field(min_length=1, max_length=50)
    expires_in_days: Whole = Field(default=90, ge=1, le=366)


class TokenView(Answer):
    """A token without its secret."""

    id: str
    name: str
    prefix: str
    """The first characters, to recognise it by."""
    grants: list[Grant]
    created_at: datetime
    created_by: str
    expires_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class TokenCreated(TokenView):
    """A new token with its secret, shown this once."""

    token: str


class TokenPage(Answer):
    items: list[TokenView]
    next: str | None = None
