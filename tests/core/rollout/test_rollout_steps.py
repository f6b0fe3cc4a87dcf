"""A rollout goes on, waits, falls back and ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.rollout import (
    Advance,
    Cancel,
    FallBack,
    Hold,
    Look,
    Margin,
    Plan,
    Resume,
    Rollout,
    RolloutState,
    Seen,
    Standing,
    Tally,
    step,
)
from governance.core.rollout.stepping import Event, outlook
from governance.errors import Conflict, InvalidRequest

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
PLAN = Plan(weights=(10, 50, 100), min_calls=100, dwell_sec=600, max_silence_sec=300)
LATER = START + timedelta(minutes=20)
GOOD = Seen(candidate=Tally(calls=5_000, failures=50), incumbent=Tally(calls=50_000, failures=500), newest=LATER)


def running(**fields: Any) -> Rollout:
    return replace(Rollout.started(PLAN, backward=False, now=START), **fields)


def code(seen: Seen, *, at: datetime = LATER, rollout: Rollout | None = None, **look: Standing) -> str:
    return outlook(rollout or running(), Look(seen=seen, **look), now=at).code


def test_a_healthy_candidate_takes_every_step_and_completes() -> None:
    rollout, weights = running(), []
    while rollout.open:
        weights.append(rollout.weight)
        now = rollout.step_since + timedelta(minutes=20)
        rollout, transition = step(rollout, Look(seen=replace(GOOD, newest=now)), now=now)
        assert transition is not None
    assert weights == [10, 50, 100]
    assert (rollout.state, rollout.in_force) == (RolloutState.COMPLETED, False)


def test_a_bad_candidate_falls_back_before_its_time_and_stays_withheld() -> None:
    bad = Seen(candidate=Tally(calls=30, failures=20), incumbent=Tally(calls=500, failures=5), newest=START)
    rollout, transition = step(running(), Look(seen=bad), now=START + timedelta(seconds=30))
    assert transition is not None
    assert transition.outlook is not None
    assert transition.outlook.code == "beyond-margin"
    assert (rollout.state, rollout.weight, rollout.in_force) == (RolloutState.FALLEN_BACK, 0, True)


def test_violations_alone_are_enough_to_fall_back() -> None:
    lax = replace(PLAN, failures=Margin(absolute=1))
    bad = Seen(candidate=Tally(calls=500, failures=100, violations=100), incumbent=Tally(calls=500), newest=LATER)
    assert code(bad, rollout=running(plan=lax)) == "beyond-margin"


def test_what_is_missing_or_unsure_is_waited_for() -> None:
    assert code(Seen()) == "few-calls"
    assert code(replace(GOOD, candidate=Tally(calls=99))) == "few-calls"
    assert code(replace(GOOD, incumbent=Tally(calls=3))) == "no-comparison"
    assert code(replace(GOOD, newest=LATER - timedelta(seconds=301))) == "silent"
    assert code(replace(GOOD, newest=None)) == "silent"
    assert code(GOOD, at=START + timedelta(seconds=599)) == "dwell"
    assert code(replace(GOOD, candidate=Tally(calls=120, failures=2))) == "unsure"
    assert code(GOOD) == "within-margin"


def test_a_side_that_cannot_serve_ends_or_stops_it() -> None:
    assert code(GOOD, candidate=Standing.GONE) == "candidate-gone"
    assert code(GOOD, candidate=Standing.DRAFT) == "candidate-draft"
    assert code(GOOD, incumbent=Standing.GONE) == "incumbent-gone"


def test_at_the_last_step_the_incumbent_s_earlier_calls_are_what_there_is_to_compare_with() -> None:
    last = replace(GOOD, incumbent=Tally(calls=3), incumbent_before=Tally(calls=50_000, failures=500))
    assert code(last, rollout=running(step=2)) == "within-margin"


def test_what_is_held_goes_nowhere_but_back() -> None:
    held, _ = step(running(), Hold(), now=LATER)
    assert code(GOOD, rollout=held) == "held"
    bad = replace(GOOD, candidate=Tally(calls=5_000, failures=2_500))
    assert code(bad, rollout=held) == "beyond-margin"
    assert step(held, Hold(), now=LATER) == (held, None)
    assert step(held, Resume(), now=LATER)[0] == running()


def test_a_way_back_without_a_plan_is_gone_at_once_and_stays_in_force() -> None:
    back = Rollout.started(None, backward=True, now=START)
    assert (back.state, back.weight, back.in_force) == (RolloutState.COMPLETED, 100, True)
    lifted, transition = step(back, Cancel(), now=START)
    assert transition is not None
    assert not lifted.in_force


def test_what_has_ended_does_not_move() -> None:
    for event in (Hold(), Resume(), Advance(), FallBack(), Cancel()):
        with pytest.raises(Conflict):
            step(running(state=RolloutState.COMPLETED), event, now=LATER)
    cancelled = running(state=RolloutState.CANCELLED)
    assert step(cancelled, Cancel(), now=LATER) == (cancelled, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"weights": ()},
        {"weights": (50,)},
        {"weights": (50, 25, 100)},
        {"weights": (0, 100)},
        {"weights": (100, 100)},
        {"weights": tuple(range(80, 101))},
        {"min_calls": 0},
        {"dwell_sec": -1},
        {"max_silence_sec": 1},
        {"failures": Margin(absolute=float("nan"))},
        {"violations": Margin(absolute=0, relative=2)},
    ],
    ids=str,
)
def test_a_plan_that_cannot_be_followed_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        Plan(**fields)
    assert refused.value.faults[0].pointer.startswith(f"/plan/{next(iter(fields))}")


tallies = st.integers(0, 10**6).flatmap(
    lambda calls: st.integers(0, calls).flatmap(
        lambda failures: st.builds(
            Tally, calls=st.just(calls), failures=st.just(failures), violations=st.integers(0, failures)
        )
    )
)
minutes = st.integers(0, 10_000).map(lambda minutes: START + timedelta(minutes=minutes))
looks = st.builds(
    Look,
    seen=st.builds(Seen, candidate=tallies, incumbent=tallies, incumbent_before=tallies, newest=st.none() | minutes),
    candidate=st.sampled_from(Standing),
    incumbent=st.sampled_from(Standing),
)
events: st.SearchStrategy[Event] = st.one_of(
    looks, st.sampled_from([Hold(), Resume(), Advance(), FallBack(), Cancel()])
)


@given(story=st.lists(st.tuples(events, minutes), max_size=6), backward=st.booleans())
def test_whatever_happens_the_weight_never_shrinks_but_to_nothing(
    story: list[tuple[Event, datetime]], backward: bool
) -> None:
    rollout = Rollout.started(PLAN, backward=backward, now=START)
    for event, now in story:
        before = rollout
        try:
            rollout, transition = step(rollout, event, now=now)
        except Conflict:
            continue
        assert (transition is None) == (rollout == before)
        if rollout.open:
            assert before.open
            assert rollout.weight >= before.weight
            assert rollout.step - before.step in (0, 1)


@given(look=looks, now=minutes, state=st.sampled_from(RolloutState))
def test_by_itself_it_goes_on_only_past_its_calls_its_time_and_its_margins(
    look: Look, now: datetime, state: RolloutState
) -> None:
    before = running(state=state)
    after, transition = step(before, look, now=now)
    if transition is not None and after.state is RolloutState.RUNNING:
        candidate, incumbent = look.seen.candidate, look.seen.beside(PLAN)
        assert state is RolloutState.RUNNING
        assert candidate.calls >= PLAN.min_calls
        assert incumbent.calls >= PLAN.min_calls
        assert now - START >= timedelta(seconds=PLAN.dwell_sec)
        assert look.seen.newest is not None
        assert now - look.seen.newest <= timedelta(seconds=PLAN.max_silence_sec)
        for name, margin in (("failures", PLAN.failures), ("violations", PLAN.violations)):
            allowed = getattr(incumbent, name) / incumbent.calls * (1 + margin.relative) + margin.absolute
            assert getattr(candidate, name) / candidate.calls <= allowed
