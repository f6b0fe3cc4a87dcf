"""Draft, active, deprecated, sunset, retired: every step can be taken back but the last."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.lifecycle import (
    Activate,
    Deprecate,
    Disable,
    Enable,
    EnterSunset,
    Event,
    Lifecycle,
    NoticePeriod,
    Retire,
    Revert,
    Unyank,
    Yank,
    step,
)
from governance.core.skill import NO_REPLACEMENT, Status
from governance.core.versioning import Version
from governance.errors import Conflict, GovernanceError, InvalidRequest

TODAY = date(2026, 11, 30)
STABLE, UNSTABLE = Version.parse("1.4.0"), Version.parse("0.9.0")


def after(now: Lifecycle, event: Event, *, today: date = TODAY, version: Version = STABLE, **how: Any) -> Lifecycle:
    return step(now, event, today=today, version=version, **how)[0]


def in_days(days: int) -> date:
    return TODAY + timedelta(days=days)


def deprecated() -> Lifecycle:
    return after(Lifecycle(), Deprecate(sunset=in_days(365), replacement="git.history@^1"))


def test_a_version_lives_through_all_its_states() -> None:
    life = Lifecycle(state=Status.DRAFT)
    life = after(life, Activate())
    assert life.state is Status.ACTIVE
    life = after(life, Deprecate(sunset=in_days(365), replacement="b@^1", migration_guide="https://docs.acme.dev"))
    assert (life.state, life.deprecated_on, life.sunset) == (Status.DEPRECATED, TODAY, in_days(365))
    life = after(life, EnterSunset(), today=in_days(365))
    assert life.state is Status.SUNSET
    life = after(life, Retire(), today=in_days(400))
    assert (life.state, life.retired_since, life.replacement) == (Status.RETIRED, in_days(400), "b@^1")


@pytest.mark.parametrize(("version", "days"), [("1.4.0", 365), ("0.9.0", 90), ("2.0.0-rc.1", 90), ("99.0.0", 365)])
def test_a_sunset_comes_no_sooner_than_the_notice_period(version: str, days: int) -> None:
    parsed = Version.parse(version)
    with pytest.raises(InvalidRequest) as caught:
        after(Lifecycle(), Deprecate(sunset=in_days(days - 1), replacement=NO_REPLACEMENT), version=parsed)
    assert str(in_days(days)) in caught.value.fix
    assert ("notice_days_stable" if days == 365 else "notice_days_unstable") in caught.value.fix
    assert after(Lifecycle(), Deprecate(sunset=in_days(days), replacement=NO_REPLACEMENT), version=parsed).sunset
    notice = NoticePeriod(stable=10, unstable=5)
    assert after(Lifecycle(), Deprecate(sunset=in_days(10), replacement=NO_REPLACEMENT), notice=notice).sunset


def test_a_deprecation_names_its_replacement_or_says_there_is_none() -> None:
    with pytest.raises(InvalidRequest):
        after(Lifecycle(), Deprecate(sunset=in_days(400)))
    silent = after(Lifecycle(), Deprecate(sunset=in_days(400), replacement=NO_REPLACEMENT))
    assert silent.replacement == NO_REPLACEMENT


def test_an_announced_date_may_move_later_and_never_earlier() -> None:
    later = after(deprecated(), Deprecate(sunset=in_days(500), replacement="b@^1"), today=in_days(300))
    assert (later.sunset, later.deprecated_on, later.replacement) == (in_days(500), TODAY, "b@^1")
    with pytest.raises(InvalidRequest, match="never earlier"):
        after(later, Deprecate(sunset=in_days(499), replacement="b@^1"))


def test_sunset_comes_with_its_day_and_not_before() -> None:
    with pytest.raises(Conflict):
        after(deprecated(), EnterSunset(), today=in_days(364))
    assert after(deprecated(), EnterSunset(), today=in_days(365)).state is Status.SUNSET


@pytest.mark.parametrize(
    ("state", "event"),
    [
        (Status.DRAFT, Deprecate(sunset=in_days(400), replacement=NO_REPLACEMENT)),
        (Status.DRAFT, Retire()),
        (Status.ACTIVE, Retire()),
        (Status.ACTIVE, EnterSunset()),
        (Status.DEPRECATED, Retire()),
        (Status.DEPRECATED, Activate()),
        (Status.SUNSET, Activate()),
        (Status.RETIRED, Activate()),
        (Status.RETIRED, Revert()),
        (Status.DRAFT, Revert()),
    ],
)
def test_a_step_out_of_turn_is_refused_and_names_the_one_before(state: Status, event: Event) -> None:
    with pytest.raises(Conflict) as caught:
        after(Lifecycle(state=state), event)
    assert caught.value.fix


def test_steps_are_taken_back_one_by_one() -> None:
    life = after(deprecated(), EnterSunset(), today=in_days(365))
    with pytest.raises(InvalidRequest):
        after(life, Revert(), today=in_days(366))
    life = after(life, Revert(sunset=in_days(500)), today=in_days(366))
    assert (life.state, life.sunset) == (Status.DEPRECATED, in_days(500))
    life = after(life, Revert())
    assert life == Lifecycle()
    assert after(life, Revert()).state is Status.DRAFT


def test_switches_stand_beside_the_state_and_say_why() -> None:
    life = after(after(deprecated(), Disable(reason="incident 42")), Yank(reason="leaks"))
    assert (life.state, life.disabled, life.yanked) == (Status.DEPRECATED, "incident 42", "leaks")
    assert after(after(life, Enable()), Unyank()) == deprecated()
    for event in (Disable(reason=" "), Yank(reason="")):
        with pytest.raises(InvalidRequest):
            after(Lifecycle(), event)


def test_what_changes_nothing_is_no_transition() -> None:
    again = Deprecate(sunset=in_days(365), replacement="git.history@^1")
    for now, event in ((Lifecycle(), Activate()), (Lifecycle(), Enable()), (deprecated(), again)):
        assert step(now, event, today=TODAY, version=STABLE) == (now, None)
    now, transition = step(Lifecycle(), Yank(reason="bad"), today=TODAY, version=STABLE)
    assert transition is not None
    assert (transition.before, transition.after) == (Lifecycle(), now)


events = st.one_of(
    st.just(Activate()),
    st.builds(
        Deprecate, sunset=st.integers(0, 800).map(in_days), replacement=st.just("b@^1"), migration_guide=st.none()
    ),
    st.just(EnterSunset()),
    st.just(Retire()),
    st.builds(Revert, sunset=st.none() | st.integers(0, 800).map(in_days)),
    st.builds(Disable, reason=st.sampled_from(["", "why"])),
    st.just(Enable()),
    st.builds(Yank, reason=st.just("why")),
    st.just(Unyank()),
)


@given(st.lists(st.tuples(events, st.integers(0, 400)), max_size=12))
def test_no_order_of_events_leads_to_a_record_that_contradicts_itself(happened: list[tuple[Event, int]]) -> None:
    life, today = Lifecycle(state=Status.DRAFT), TODAY
    for event, days in happened:
        today += timedelta(days=days)
        try:
            following = after(life, event, today=today, version=UNSTABLE)
        except GovernanceError:
            continue
        assert life.state is not Status.RETIRED or following.state is Status.RETIRED
        announced = following.state in (Status.DEPRECATED, Status.SUNSET, Status.RETIRED)
        assert announced == (following.deprecated_on is not None) == (following.sunset is not None)
        assert (following.state is Status.RETIRED) == (following.retired_since is not None)
        if following.state in (Status.SUNSET, Status.RETIRED):
            assert following.sunset is not None
            assert following.sunset <= today
        life = following
