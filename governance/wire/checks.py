"""Checks, the dry runs of the gate."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from governance.wire.base import Answer, JSONObject, Request, ShortText, Text
from governance.wire.catalogues import CatalogueCandidate
from governance.wire.skills import Provenance


class CheckProvenance(Request):
    """Where the candidates come from, as CI tells it."""

    repository: ShortText | None = None
    commit: ShortText | None = None
    run: ShortText | None = None


class CheckRequest(Request):
    """A dry run of the gate over one to many candidates, each a native manifest document.

    With ``catalogue`` they are judged as one release of it: all the tools there are.
    """

    candidates: list[JSONObject] = Field(min_length=1)
    catalogue: CatalogueCandidate | None = None
    fail_on: Literal["risky", "breaking"] | None = None
    """The mildest verdict that blocks whatever the number says."""
    transitive: bool = True
    """Compare with the whole line instead of the baseline alone."""
    reason: Text | None = None
    provenance: CheckProvenance | None = None


class CheckResult(Answer):
    """A stored check: the worst of its decisions, which follow the order of the candidates.

    Of a release, ``decisions`` are those on members whose versions are not there yet, by name.
    """

    id: str
    decision: str
    """``allow``, ``warn`` or ``block``."""
    decisions: list[JSONObject]
    """``GateDecision`` documents."""
    release: JSONObject | None = None
    """``decision``, ``members`` and ``withdrawn`` of the release that was checked."""
    created_at: datetime
    created_by: str
    reason: str | None = None
    provenance: Provenance = Provenance()
