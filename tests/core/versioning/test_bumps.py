"""A number promises something; the bump says how much it must move to keep the promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.compat.model import Bump, Comparison, Level, Verdict
from governance.core.versioning import (
    Version,
    bump_between,
    next_version,
    required_bump,
    satisfies_bump,
    smallest_version,
)

V = Version.parse

small = st.integers(min_value=0, max_value=4)
versions = st.builds(Version, major=small, minor=small, patch=small, prerelease=st.sampled_from([(), ("rc", 1), (0,)]))
bumps = st.sampled_from(list(Bump))


@pytest.mark.parametrize(
    ("verdict", "level", "identical", "from_one", "below_one"),
    [
        (Verdict.COMPATIBLE, Level.BACKWARD_COMPATIBLE, True, Bump.NONE, Bump.NONE),
        (Verdict.COMPATIBLE, Level.BACKWARD_COMPATIBLE, False, Bump.PATCH, Bump.PATCH),
        (Verdict.COMPATIBLE, Level.INPUT_COMPATIBLE, False, Bump.MINOR, Bump.PATCH),
        (Verdict.RISKY, Level.INPUT_COMPATIBLE, False, Bump.MINOR, Bump.PATCH),
        (Verdict.UNDECIDED, Level.UNDECIDED, False, Bump.MAJOR, Bump.MINOR),
        (Verdict.BREAKING, Level.BREAKING_CHANGE, False, Bump.MAJOR, Bump.MINOR),
    ],
)
def test_below_one_a_break_needs_a_minor_and_anything_else_a_patch(
    verdict: Verdict, level: Level, identical: bool, from_one: Bump, below_one: Bump
) -> None:
    comparison = Comparison(verdict=verdict, level=level, identical=identical)
    assert required_bump(comparison, V("1.4.2")) is from_one
    assert required_bump(comparison, V("0.4.2")) is below_one


@pytest.mark.parametrize(
    ("baseline", "bump", "following"),
    [
        ("1.4.2", Bump.NONE, "1.4.2"),
        ("1.4.2", Bump.PATCH, "1.4.3"),
        ("1.4.2", Bump.MINOR, "1.5.0"),
        ("1.4.2", Bump.MAJOR, "2.0.0"),
        ("2.0.0-rc.1", Bump.MAJOR, "2.0.0"),
        ("2.1.0-rc.1", Bump.MAJOR, "3.0.0"),
        ("2.1.0-rc.1", Bump.MINOR, "2.1.0"),
        ("2.1.1-rc.1", Bump.MINOR, "2.2.0"),
        ("2.1.1-rc.1", Bump.PATCH, "2.1.1"),
        ("9007199254740992.0.0", Bump.MAJOR, "9007199254740993.0.0"),
    ],
)
def test_the_next_version_is_the_first_that_far_above(baseline: str, bump: Bump, following: str) -> None:
    assert next_version(V(baseline), bump) == V(following)


@given(versions, bumps)
def test_the_next_version_satisfies_its_bump_and_nothing_smaller_does(baseline: Version, bump: Bump) -> None:
    following = next_version(baseline, bump)
    assert satisfies_bump(baseline, following, bump)
    if bump is not Bump.NONE and not baseline.is_prerelease:
        assert bump_between(baseline, following) is bump
        assert following > baseline


@given(versions, versions, bumps)
def test_a_number_high_enough_for_a_bump_is_high_enough_for_a_smaller_one(
    baseline: Version, candidate: Version, bump: Bump
) -> None:
    if satisfies_bump(baseline, candidate, bump):
        for smaller in list(Bump)[: bump.rank]:
            assert satisfies_bump(baseline, candidate, smaller)


@given(versions, versions, bumps)
def test_the_smallest_version_would_do_and_is_of_the_candidates_kind(
    baseline: Version, candidate: Version, bump: Bump
) -> None:
    if not baseline.is_prerelease:
        smallest = smallest_version(baseline, candidate, bump)
        assert satisfies_bump(baseline, smallest, bump)
        assert smallest.prerelease == candidate.prerelease
        assert smallest > baseline


def test_a_prerelease_is_judged_as_its_release() -> None:
    assert satisfies_bump(V("1.4.0"), V("2.0.0-rc.1"), Bump.MAJOR)
    assert not satisfies_bump(V("1.4.0"), V("1.5.0-rc.1"), Bump.MAJOR)
    assert smallest_version(V("1.4.0"), V("1.5.0-rc.1"), Bump.MAJOR) == V("2.0.0-rc.1")
    assert bump_between(V("1.0.0-rc.1"), V("1.0.0")) is Bump.NONE


@given(versions, versions)
def test_the_step_between_two_versions_has_one_size_both_ways(one: Version, other: Version) -> None:
    assert bump_between(one, other) is bump_between(other, one)
    assert (bump_between(one, other) is Bump.NONE) == (one.release == other.release)
