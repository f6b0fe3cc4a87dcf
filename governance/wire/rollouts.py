"""Rollouts: a version takes over from another in steps."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from governance.core.rollout.stepping import RolloutState
from governance.wire.base import Answer, EnvironmentName, JSONObject, Label, Request, ShortText, Whole, Why

MOST_BUCKETS = 1_000
VersionText = Annotated[str, Field(min_length=1, max_length=256)]
Fraction = Annotated[float, BeforeValidator(lambda value: float(value) if type(value) is int else value)]


def _moment(value: Any) -> Any:
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return moment.astimezone(UTC).replace(second=0, microsecond=0)
    raise ValueError("is not a time with its offset such as 2026-11-30T12:05:00Z")


Minute = Annotated[datetime, BeforeValidator(_moment)]
"""The minute a time lies in."""


class MarginRequest(Request):
    """A rate of the candidate may be ``incumbent × (1 + relative) + absolute``; both from 0 to 1."""

    absolute: Fraction = Field(ge=0, le=1)
    relative: Fraction = Field(default=0.0, ge=0, le=1)


class PlanRequest(Request):
    """In which steps a rollout grows, and what must be seen before it goes on. What is left out is by default."""

    weights: list[Whole] | None = Field(default=None, min_length=1, max_length=20)
    """Shares of the named consumers in whole per cents, ascending, the last one 100."""
    min_calls: Whole | None = Field(default=None, ge=1, le=10_000_000)
    """Calls of each side before a step is left."""
    dwell_sec: Whole | None = Field(default=None, ge=0, le=2_592_000)
    """How long each step stands at the least."""
    max_silence_sec: Whole | None = Field(default=None, ge=60, le=2_592_000)
    """How old the candidate's newest call may be."""
    failures: MarginRequest | None = None
    violations: MarginRequest | None = None


class RolloutRequest(Request):
    """Roll a version out, or back."""

    skill: ShortText
    candidate: VersionText
    incumbent: VersionText | None = None
    """What it takes over from, in the same line; None: the version that serves there without the candidate."""
    environment: EnvironmentName | None = None
    """Only for callers that name this environment; None: for all."""
    plan: PlanRequest | None = None
    """None: the default steps; for a way back to an older version, at once."""
    reason: Why | None = None


class SteeringRequest(Request):
    """A word of the operator to a rollout."""

    reason: Why


class OutcomeBucket(Request):
    """All that calls of one side came to within one minute, as far as this sender knows it."""

    side: Literal["candidate", "incumbent"]
    minute: Minute
    calls: Whole = Field(ge=0, le=1_000_000_000)
    failures: Whole = Field(default=0, ge=0)
    """Outputs that broke the contract, failed dependencies and failures of the skill itself; no business errors."""
    violations: Whole = Field(default=0, ge=0)
    """Those of ``failures`` that were outputs breaking the contract."""

    @model_validator(mode="after")
    def _counted(self) -> OutcomeBucket:
        if not self.violations <= self.failures <= self.calls:
            raise ValueError("violations are failures, and failures are calls")
        return self


class OutcomesRequest(Request):
    """Outcomes of some minutes. Sent again they count once: a sender's latest word on a minute stands."""

    sender: Label
    """Names the process that counts; two of one token must not share a name."""
    buckets: list[OutcomeBucket] = Field(min_length=1, max_length=MOST_BUCKETS)


class OutcomesTaken(Answer):
    """What became of reported outcomes; a rollout that has ended takes none."""

    rollout: str
    state: RolloutState
    weight: int
    taken: int
    """Buckets that count now, whether they were new or known."""


class TallyView(Answer):
    """Calls and what became of them."""

    calls: int
    failures: int
    violations: int


class StepView(Answer):
    """One step with what was seen in it."""

    weight: int
    since: datetime
    until: datetime | None = None
    """None: it is the present one."""
    candidate: TallyView
    incumbent: TallyView


class OutlookView(Answer):
    """What the rollout does next by itself, and why."""

    verdict: Literal["wait", "advance", "complete", "fall_back"]
    code: str
    why: str


class RolloutView(Answer):
    """One rollout."""

    id: str
    skill: str
    environment: str | None = None
    candidate: str
    incumbent: str
    withholds: list[str]
    """The versions that the older side's callers do not get."""
    state: RolloutState
    weight: int
    """The candidate's share of the named consumers, in per cent."""
    in_force: bool
    """Does it keep anybody from a version? An ended one does where the older version won, until it is cancelled."""
    plan: JSONObject
    step: int
    step_since: datetime
    steps: list[StepView] = Field(default_factory=list)
    """In a list only those it has left."""
    outlook: OutlookView | None = None
    """Of an open one that was asked for alone."""
    reason: str | None = None
    started_at: datetime
    started_by: str
    ended_at: datetime | None = None
    revision: int


class RolloutPage(Answer):
    """Rollouts, the newest first."""

    items: list[RolloutView]
    next: str | None = None
