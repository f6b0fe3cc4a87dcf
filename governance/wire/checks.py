"""Checks, the dry runs of the gate."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from governance.wire.base import Answer, JSONObject, Request, ShortText, Text
from governance.wire.skills import Provenance


class CheckProvenance(Request):
    """Where the candidates come from, as CI tells it."""

    repository: ShortText | None = None
    commit: ShortText | None = None
    run: ShortText | None = None


class CheckRequest(Request):
    """A dry run of the gate over one to many candidates, each a native manifest document."""

    candidates: list[JSONObject] = Field(min_length=1)
    fail_on: Literal["risky", "breaking"] | None = None
    """The mildest verdict that blocks whatever the number says."""
    transitive: bool = True
    """Compare with the whole line instead of the baseline alone."""
    reason: Text | None = None
    provenance: CheckProvenance | None = None


class CheckResult(Answer):
    """A stored check: the worst of its decisions, which follow the order of the candidates."""

    id: str
    decision: str
    """``allow``, ``warn`` or ``block``."""
    decisions: list[JSONObject]
    """``GateDecision`` documents."""
    created_at: datetime
    created_by: str
    reason: str | None = None
    provenance: Provenance = Provenance()
