"""Exceptions: findings that named people let pass for a while."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from governance.wire.base import Answer, ConsumerName, EnvironmentName, Request, Text, Whole, Why


class ExceptionState(StrEnum):
    """Where an exception stands now."""

    PROPOSED = "proposed"
    IN_FORCE = "in_force"
    EXPIRED = "expired"
    """Whether it was approved or not."""
    USED_UP = "used_up"
    REVOKED = "revoked"


class ExceptionRequest(Request):
    """An exception for findings of one skill, as a stored check or the decision on a published version tells them.

    Exactly one of ``check`` and ``version`` is given.
    """

    check: Annotated[str, Field(pattern=r"^chk_[0-9a-f]{24}$")] | None = None
    version: Annotated[str, Field(max_length=400, pattern=r"^[^@\x00]+@[^@\x00]+$")] | None = None
    """``NAME@VERSION``: to let what is published into an environment, or reach a consumer."""
    fingerprints: list[Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]] = Field(min_length=1, max_length=200)
    environment: EnvironmentName | None = None
    """It lets them into this environment alone; None: it opens the gate itself."""
    consumer: ConsumerName | None = None
    """It lets them reach this consumer alone; None: it opens the gate itself."""
    reason: Why
    expires_in_days: Whole = Field(ge=1, le=3_650)
    """At most what the policy `exception_days` of the skill allows."""
    max_uses: Whole | None = Field(default=None, ge=1, le=1_000_000)
    """Publishes and releases that may need it; None: any number."""


class ApprovalRequest(Request):
    """Agreement to an exception that somebody else asked for."""

    reason: Text | None = None


class ExceptedFinding(Answer):
    """A finding, and what surrounded it when the exception was asked for."""

    fingerprint: str
    surroundings: str
    code: str
    message: str


class ExceptionView(Answer):
    """One exception whole."""

    id: str
    skill: str
    state: ExceptionState
    findings: list[ExceptedFinding]
    environment: str | None = None
    consumer: str | None = None
    reason: str
    created_at: datetime
    created_by: str
    expires_at: datetime
    max_uses: int | None = None
    uses: int
    last_used_at: datetime | None = None
    approved_at: datetime | None = None
    approved_by: str | None = None
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    revoked_reason: str | None = None


class ExceptionPage(Answer):
    """Exceptions, those that end first first."""

    items: list[ExceptionView]
    next: str | None = None
