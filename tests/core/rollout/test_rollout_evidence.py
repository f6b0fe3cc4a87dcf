"""What calls show of a candidate, and what they do not show."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.rollout import FIRST_LOOK, Finding, Margin, compare_rates

MARGIN = Margin(absolute=0.02)
LOOK_EVERY = 25
"""Calls of the candidate between two looks of the job."""


def looks(rate: float, usual: float, calls: int, chance: random.Random) -> Iterator[tuple[tuple[int, int], ...]]:
    """Both sides after every few calls; the incumbent gets four times as many."""
    bad = usually = 0
    for seen in range(LOOK_EVERY, calls + 1, LOOK_EVERY):
        bad += _failures(LOOK_EVERY, rate, chance)
        usually += _failures(4 * LOOK_EVERY, usual, chance)
        yield (bad, seen), (usually, 4 * seen)


def _failures(calls: int, rate: float, chance: random.Random) -> int:
    """How many of ``calls`` fail: the gaps between failures are geometric, which is quicker than asking each call."""
    failed, at = 0, 0
    while (at := at + 1 + int(math.log(1 - chance.random()) / math.log(1 - rate))) <= calls:
        failed += 1
    return failed


def ever(finding: Finding, *, rate: float, usual: float, calls: int = 2_500, runs: int = 150) -> float:
    """In which share of simulated steps some look, of all of them, comes to ``finding``."""
    chance = random.Random(2026)
    found = 0
    for _ in range(runs):
        found += any(
            compare_rates(candidate, incumbent, MARGIN, first=200) is finding
            for candidate, incumbent in looks(rate, usual, calls, chance)
        )
    return found / runs


def test_looking_again_and_again_never_lets_a_candidate_at_its_margin_through_more_often_than_allowed() -> None:
    assert ever(Finding.WITHIN, rate=0.07, usual=0.05) <= 0.05


def test_looking_again_and_again_never_holds_chance_against_a_candidate_more_often_than_allowed() -> None:
    assert ever(Finding.BEYOND, rate=0.05, usual=0.05) <= 0.05


def test_a_candidate_as_good_as_the_incumbent_is_shown_to_be() -> None:
    assert ever(Finding.WITHIN, rate=0.01, usual=0.01) >= 0.95


def test_a_candidate_that_fails_one_call_in_five_is_shown_to() -> None:
    assert ever(Finding.BEYOND, rate=0.2, usual=0.01, calls=500) >= 0.99


@pytest.mark.parametrize("failures", range(FIRST_LOOK))
def test_nothing_is_held_against_fewer_calls_than_the_first_look_takes(failures: int) -> None:
    assert compare_rates((failures, FIRST_LOOK - 1), (0, 10_000), MARGIN, first=1) is Finding.UNSURE
    assert compare_rates((failures, 10_000), (0, FIRST_LOOK - 1), MARGIN, first=1) is Finding.UNSURE


def test_no_failure_in_few_calls_shows_nothing() -> None:
    assert compare_rates((0, 100), (0, 100_000), MARGIN, first=10) is Finding.UNSURE
    assert compare_rates((0, 2_000), (0, 100_000), MARGIN, first=10) is Finding.WITHIN


counts = st.integers(FIRST_LOOK, 10**9).flatmap(lambda calls: st.tuples(st.integers(0, calls), st.just(calls)))
margins = st.builds(Margin, absolute=st.floats(0, 1), relative=st.floats(0, 1))


@given(candidate=counts, incumbent=counts, margin=margins, first=st.integers(1, 10**7))
def test_what_is_measured_beyond_the_margin_is_never_within_and_the_other_way_round(
    candidate: tuple[int, int], incumbent: tuple[int, int], margin: Margin, first: int
) -> None:
    finding = compare_rates(candidate, incumbent, margin, first=first)
    measured = candidate[0] / candidate[1]
    allowed = incumbent[0] / incumbent[1] * (1 + margin.relative) + margin.absolute
    if measured > allowed + 1e-9:
        assert finding is not Finding.WITHIN
    if measured < allowed - 1e-9:
        assert finding is not Finding.BEYOND
    if candidate[1] < first:
        assert finding is not Finding.WITHIN


@given(calls=st.integers(FIRST_LOOK, 10**6), incumbent=counts, margin=margins, data=st.data())
def test_more_failures_never_speak_for_a_candidate(
    calls: int, incumbent: tuple[int, int], margin: Margin, data: st.DataObject
) -> None:
    fewer, more = sorted((data.draw(st.integers(0, calls)), data.draw(st.integers(0, calls))))
    order = (Finding.WITHIN, Finding.UNSURE, Finding.BEYOND)
    better, worse = (
        order.index(compare_rates((failures, calls), incumbent, margin, first=10)) for failures in (fewer, more)
    )
    assert better <= worse
