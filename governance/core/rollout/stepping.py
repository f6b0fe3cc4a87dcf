"""The life of a rollout as a pure step: running ⇄ held → completed | fallen back → cancelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, TypeAlias

from governance.core.rollout.evidence import Evidence, Seen
from governance.core.rollout.plan import AT_ONCE, DEFAULT_PLAN, Plan
from governance.errors import Conflict


class RolloutState(StrEnum):
    """Where a rollout stands."""

    RUNNING = "running"
    HELD = "held"
    """Its share stays as it is; it still falls back by itself."""
    COMPLETED = "completed"
    FALLEN_BACK = "fallen_back"
    CANCELLED = "cancelled"
    """It steers nobody: the highest match serves as if there had been none."""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """``backward``: the candidate is the older of the two, so that this is a way back."""

    plan: Plan
    backward: bool
    state: RolloutState = RolloutState.RUNNING
    step: int = 0
    """The index of the present step, or of the last one it was in."""
    step_since: datetime

    @property
    def open(self) -> bool:
        return self.state in (RolloutState.RUNNING, RolloutState.HELD)

    @property
    def weight(self) -> int:
        """The share of the candidate in per cent."""
        match self.state:
            case RolloutState.COMPLETED:
                return 100
            case RolloutState.FALLEN_BACK:
                return 0
            case RolloutState.RUNNING | RolloutState.HELD | RolloutState.CANCELLED:
                return self.plan.weights[self.step]

    @property
    def in_force(self) -> bool:
        """Does it still keep somebody from a version? An ended one does where the older version won."""
        match self.state:
            case RolloutState.COMPLETED:
                return self.backward
            case RolloutState.FALLEN_BACK:
                return not self.backward
            case RolloutState.CANCELLED:
                return False
            case RolloutState.RUNNING | RolloutState.HELD:
                return True

    @classmethod
    def started(cls, plan: Plan | None, *, backward: bool, now: datetime) -> Rollout:
        """A new rollout. Without a plan a way back is gone at once, and a way forward by the default plan."""
        if plan is None and backward:
            return cls(plan=AT_ONCE, backward=True, state=RolloutState.COMPLETED, step_since=now)
        return cls(plan=plan or DEFAULT_PLAN, backward=backward, step_since=now)


class Standing(StrEnum):
    """What a side of a rollout is at the moment, beside its calls."""

    SERVES = "serves"
    DRAFT = "draft"
    GONE = "gone"
    """Yanked, switched off, past its sunset or retired."""


class Verdict(StrEnum):
    """What a rollout does next by itself."""

    WAIT = "wait"
    ADVANCE = "advance"
    COMPLETE = "complete"
    FALL_BACK = "fall_back"


@dataclass(frozen=True, kw_only=True)
class Look:
    """What is seen of a rollout at one moment."""

    seen: Seen
    candidate: Standing = Standing.SERVES
    incumbent: Standing = Standing.SERVES


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What comes next, and why: a permanent code and a sentence."""

    verdict: Verdict
    code: str
    why: str

    def to_document(self) -> dict[str, str]:
        return {"verdict": self.verdict.value, "code": self.code, "why": self.why}


@dataclass(frozen=True, kw_only=True)
class Hold:
    pass


@dataclass(frozen=True, kw_only=True)
class Resume:
    pass


@dataclass(frozen=True, kw_only=True)
class Advance:
    """Take the next step now, whatever was seen; out of the last one the rollout is complete."""


@dataclass(frozen=True, kw_only=True)
class FallBack:
    pass


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """Steer nobody any more."""


Event: TypeAlias = Look | Hold | Resume | Advance | FallBack | Cancel


class Kind(StrEnum):
    """What a transition is."""

    HOLD = "hold"
    RESUME = "resume"
    ADVANCE = "advance"
    COMPLETE = "complete"
    FALL_BACK = "fall_back"
    CANCEL = "cancel"


@dataclass(frozen=True, kw_only=True)
class Transition:
    """What changed, for the audit log, metrics and messages. ``outlook`` is there where nobody asked for it."""

    kind: Kind
    before: Rollout
    after: Rollout
    outlook: Outlook | None = None

    def to_document(self) -> dict[str, Any]:
        return {"weight": self.after.weight} | ({"why": self.outlook.code} if self.outlook else {})


def step(rollout: Rollout, event: Event, *, now: datetime) -> tuple[Rollout, Transition | None]:
    """The rollout after ``event``; the transition is None where nothing changed.

    Raises Conflict where its state does not allow the event; ``fix`` names what does.
    """
    if isinstance(event, Look):
        return _look(rollout, event, now)
    kind, after = _ASKED[type(event)](rollout, now)
    if after == rollout:
        return rollout, None
    return after, Transition(kind=kind, before=rollout, after=after)


def _look(rollout: Rollout, look: Look, now: datetime) -> tuple[Rollout, Transition | None]:
    seen = outlook(rollout, look, now=now)
    match seen.verdict:
        case Verdict.WAIT:
            return rollout, None
        case Verdict.FALL_BACK:
            kind, after = _fall_back(rollout, now)
        case Verdict.ADVANCE | Verdict.COMPLETE:
            kind, after = _advance(rollout, now)
    return after, Transition(kind=kind, before=rollout, after=after, outlook=seen)


def outlook(rollout: Rollout, look: Look, *, now: datetime) -> Outlook:
    """What the rollout does now by itself. Where anything is missing or unsure it waits."""
    if not rollout.open:
        return _wait("ended", "It has ended.")
    plan, seen = rollout.plan, look.seen
    if look.candidate is Standing.GONE:
        return Outlook(verdict=Verdict.FALL_BACK, code="candidate-gone", why="The candidate cannot serve any more.")
    if look.candidate is Standing.DRAFT:
        return _wait("candidate-draft", "The candidate is a draft: activate it, and its share gets it.")
    if look.incumbent is not Standing.SERVES:
        return _wait("incumbent-gone", "The incumbent cannot serve any more: there is nothing to fall back to.")
    evidence = Evidence.of(seen, plan)
    if evidence.beyond:
        what = " and ".join(evidence.beyond)
        return Outlook(
            verdict=Verdict.FALL_BACK,
            code="beyond-margin",
            why=f"The candidate's {what} lie beyond the margin: {_told(seen, plan)}.",
        )
    if rollout.state is RolloutState.HELD:
        return _wait("held", "It is held: resume it, and it goes on by itself.")
    if seen.candidate.calls < plan.min_calls:
        return _wait("few-calls", f"{seen.candidate.calls} of {plan.min_calls} calls of the candidate in this step.")
    if seen.beside(plan).calls < plan.min_calls:
        return _wait("no-comparison", f"{seen.beside(plan).calls} of {plan.min_calls} calls of the incumbent.")
    if seen.newest is None or now - seen.newest > timedelta(seconds=plan.max_silence_sec):
        return _wait("silent", f"No call of the candidate was reported for {plan.max_silence_sec} s.")
    if now - rollout.step_since < timedelta(seconds=plan.dwell_sec):
        return _wait("dwell", f"The step stands until {_after(rollout):%Y-%m-%d %H:%M:%S} UTC.")
    if evidence.unsure:
        what = " and ".join(evidence.unsure)
        return _wait("unsure", f"Too few calls show that {what} lie within the margin: {_told(seen, plan)}.")
    verdict = Verdict.COMPLETE if rollout.step == plan.last else Verdict.ADVANCE
    return Outlook(verdict=verdict, code="within-margin", why=f"Both rates lie within the margin: {_told(seen, plan)}.")


def _wait(code: str, why: str) -> Outlook:
    return Outlook(verdict=Verdict.WAIT, code=code, why=why)


def _after(rollout: Rollout) -> datetime:
    return rollout.step_since + timedelta(seconds=rollout.plan.dwell_sec)


def _told(seen: Seen, plan: Plan) -> str:
    def tell(name: str, of: Any) -> str:
        return f"{name} {of.failures} failures, {of.violations} violations in {of.calls} calls"

    return f"{tell('candidate', seen.candidate)}; {tell('incumbent', seen.beside(plan))}"


def _hold(now: Rollout, _at: datetime) -> tuple[Kind, Rollout]:
    _demand_open(now)
    return Kind.HOLD, replace(now, state=RolloutState.HELD)


def _resume(now: Rollout, _at: datetime) -> tuple[Kind, Rollout]:
    _demand_open(now)
    return Kind.RESUME, replace(now, state=RolloutState.RUNNING)


def _advance(now: Rollout, at: datetime) -> tuple[Kind, Rollout]:
    _demand_open(now)
    if now.step == now.plan.last:
        return Kind.COMPLETE, replace(now, state=RolloutState.COMPLETED)
    return Kind.ADVANCE, replace(now, state=RolloutState.RUNNING, step=now.step + 1, step_since=at)


def _fall_back(now: Rollout, _at: datetime) -> tuple[Kind, Rollout]:
    if now.state is RolloutState.FALLEN_BACK:
        return Kind.FALL_BACK, now
    _demand_open(now)
    return Kind.FALL_BACK, replace(now, state=RolloutState.FALLEN_BACK)


def _cancel(now: Rollout, _at: datetime) -> tuple[Kind, Rollout]:
    if now.state is not RolloutState.CANCELLED and not now.in_force:
        raise Conflict(
            f"The rollout is {_word(now)} and keeps nobody from anything.", fix="There is nothing to cancel."
        )
    return Kind.CANCEL, replace(now, state=RolloutState.CANCELLED)


def _demand_open(now: Rollout) -> None:
    if not now.open:
        raise Conflict(f"The rollout is {_word(now)}.", fix="Start a new one; a way back is a rollout too.")


def _word(now: Rollout) -> str:
    return now.state.value.replace("_", " ")


_ASKED: Final[dict[type, Callable[[Rollout, datetime], tuple[Kind, Rollout]]]] = {
    Hold: _hold,
    Resume: _resume,
    Advance: _advance,
    FallBack: _fall_back,
    Cancel: _cancel,
}
