"""Attestations: how the tests of a contract ended."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from governance.wire.base import Answer, Request, ShortText, Whole


class AttestationRequest(Request):
    """One test run. What passed none, or failed some, is on record and makes nothing ready."""

    passed: Whole = Field(ge=0, le=1_000_000_000)
    failed: Whole = Field(default=0, ge=0, le=1_000_000_000)
    source: ShortText | None = None
    """Where it can be looked up: the address of a build, say."""


class Attestation(Answer):
    """A test run on record."""

    id: str
    skill: str
    contract_digest: str
    passed: int
    failed: int
    source: str | None = None
    recorded_at: datetime
    recorded_by: str


class AttestationPage(Answer):
    """Newest first."""

    items: list[Attestation]
    next: str | None = None
