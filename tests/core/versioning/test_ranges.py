"""Ranges are npm's: its grammar, its desugaring, its rule for prereleases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.versioning import Range, Version
from governance.errors import InvalidRange

V = Version.parse

small = st.integers(min_value=0, max_value=3)
stable = st.builds(Version, major=small, minor=small, patch=small)
any_version = st.builds(
    Version,
    major=small,
    minor=small,
    patch=small,
    prerelease=st.lists(st.sampled_from([0, 1, "a", "rc"]), max_size=2).map(tuple),
)


@pytest.mark.parametrize(
    ("text", "bounds", "with_prereleases"),
    [
        ("*", "*", "*"),
        ("", "*", "*"),
        ("  ", "*", "*"),
        ("||", "*", "*"),
        ("x", "*", "*"),
        (">=*", "*", "*"),
        (">=0.0.0", "*", ">=0.0.0"),
        ("1.2.3", "1.2.3", "1.2.3"),
        ("=1.2.3", "1.2.3", "1.2.3"),
        ("v1.2.3", "1.2.3", "1.2.3"),
        ("= v1.2.3", "1.2.3", "1.2.3"),
        ("1.2.3+build.5", "1.2.3", "1.2.3"),
        (">1.2.3", ">1.2.3", ">1.2.3"),
        (">= 1.2", ">=1.2.0", ">=1.2.0-0"),
        (">=\t 1.2", ">=1.2.0", ">=1.2.0-0"),
        (">1", ">=2.0.0", ">=2.0.0-0"),
        (">1.2", ">=1.3.0", ">=1.3.0-0"),
        ("<1", "<1.0.0-0", "<1.0.0-0"),
        ("<1.2", "<1.2.0-0", "<1.2.0-0"),
        ("<=0.7.x", "<0.8.0-0", "<0.8.0-0"),
        ("<=2", "<3.0.0-0", "<3.0.0-0"),
        ("=0.7.x", ">=0.7.0 <0.8.0-0", ">=0.7.0-0 <0.8.0-0"),
        ("1", ">=1.0.0 <2.0.0-0", ">=1.0.0-0 <2.0.0-0"),
        ("2.X.*", ">=2.0.0 <3.0.0-0", ">=2.0.0-0 <3.0.0-0"),
        ("1.2.x", ">=1.2.0 <1.3.0-0", ">=1.2.0-0 <1.3.0-0"),
        ("1.x.3", ">=1.0.0 <2.0.0-0", ">=1.0.0-0 <2.0.0-0"),
        ("~1.2.3", ">=1.2.3 <1.3.0-0", ">=1.2.3 <1.3.0-0"),
        ("~> 1.2", ">=1.2.0 <1.3.0-0", ">=1.2.0 <1.3.0-0"),
        ("~ 1", ">=1.0.0 <2.0.0-0", ">=1.0.0 <2.0.0-0"),
        ("~v0.5.4-pre", ">=0.5.4-pre <0.6.0-0", ">=0.5.4-pre <0.6.0-0"),
        ("~x", "*", "*"),
        ("^1.2.3", ">=1.2.3 <2.0.0-0", ">=1.2.3 <2.0.0-0"),
        ("^ 1.2", ">=1.2.0 <2.0.0-0", ">=1.2.0-0 <2.0.0-0"),
        ("^0.2.3", ">=0.2.3 <0.3.0-0", ">=0.2.3-0 <0.3.0-0"),
        ("^0.0.3", ">=0.0.3 <0.0.4-0", ">=0.0.3-0 <0.0.4-0"),
        ("^0.1", ">=0.1.0 <0.2.0-0", ">=0.1.0-0 <0.2.0-0"),
        ("^0.0", "<0.1.0-0", "<0.1.0-0"),
        ("^0", "<1.0.0-0", "<1.0.0-0"),
        ("^0.0.1-beta", ">=0.0.1-beta <0.0.2-0", ">=0.0.1-beta <0.0.2-0"),
        ("^1.2.3-beta.4", ">=1.2.3-beta.4 <2.0.0-0", ">=1.2.3-beta.4 <2.0.0-0"),
        ("1.0.0 - 2.0.0", ">=1.0.0 <=2.0.0", ">=1.0.0-0 <2.0.1-0"),
        ("1 - 2", ">=1.0.0 <3.0.0-0", ">=1.0.0-0 <3.0.0-0"),
        ("1.2 - 3.4.5", ">=1.2.0 <=3.4.5", ">=1.2.0-0 <3.4.6-0"),
        ("1.2.3 - 3.4", ">=1.2.3 <3.5.0-0", ">=1.2.3-0 <3.5.0-0"),
        ("1.2.3-pre+asdf - 2.4.3-pre+asdf", ">=1.2.3-pre <=2.4.3-pre", ">=1.2.3-pre <=2.4.3-pre"),
        ("x - 1.x", "<2.0.0-0", "<2.0.0-0"),
        ("1.x - x", ">=1.0.0", ">=1.0.0-0"),
        ("^ 1.2 ^ 1", ">=1.2.0 <2.0.0-0 >=1.0.0", ">=1.2.0-0 <2.0.0-0 >=1.0.0-0"),
        (">=1.2.9 <2.0.0", ">=1.2.9 <2.0.0", ">=1.2.9 <2.0.0"),
        ("> =1.2.3", ">=1.2.3", ">=1.2.3"),
        ("0.1.20 || 1.2.4", "0.1.20 || 1.2.4", "0.1.20 || 1.2.4"),
        ("1.2.3||", "*", "*"),
        (">x", "<0.0.0-0", "<0.0.0-0"),
        ("<x <* || >* 2.x", "<0.0.0-0", "<0.0.0-0"),
        (">x 2.x || * || <x", "*", "*"),
        ("^9007199254740993", ">=9007199254740993.0.0 <9007199254740994.0.0-0",
         ">=9007199254740993.0.0-0 <9007199254740994.0.0-0"),
    ],
)  # fmt: skip
def test_sugar_means_what_npm_says(text: str, bounds: str, with_prereleases: str) -> None:
    range_ = Range.parse(text)
    assert range_.desugared() == bounds
    assert range_.desugared(include_prerelease=True) == with_prereleases
    assert str(range_) == text


@pytest.mark.parametrize(
    "text",
    [
        "latest", "1.2.3.4", "~1.2.3beta", ">01.02.03", "1.2-beta", "== 1.2", "==1.2.3", "> = 1.2.3", "vv1.2.3",
        "v 1.2", ">", "^", "~", ">=<1", "1.2.3 - ", "- 2", "1 -2", "1.2.3 | 2", "&&", "^>=1", "1..2", "١",
        "1.2.3-", "^1.2.3-..", "1.2.3-01", "1.2.3\x00",
    ],
)  # fmt: skip
def test_what_npm_refuses_is_refused(text: str) -> None:
    with pytest.raises(InvalidRange) as caught:
        Range.parse(text)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("range_", "version", "admitted", "with_prereleases"),
    [
        ("^1.2.3", "1.2.3-pre", False, False),
        ("^1.2", "1.2.0-pre", False, True),
        ("^1.2.3-alpha", "1.2.3-pre", True, True),
        ("^1.2.3-alpha", "1.2.4-pre", False, True),
        ("^1.2.3-rc.2", "2.0.0", False, False),
        ("^1.0.0", "2.0.0-rc.1", False, False),
        (">1.2", "1.3.0-beta", False, True),
        ("<=1.2.3", "1.2.3-beta", False, True),
        ("<1.2.3", "1.2.3-beta", False, True),
        ("<1", "1.0.0-beta", False, False),
        ("*", "1.0.0-rc.1", False, True),
        ("2.x", "2.0.0-pre.0", False, True),
        ("2.x", "3.0.0-pre.0", False, False),
        ("1.0.0 - 2.0.0", "2.0.0-rc.1", False, True),
        ("1.2.3", "1.2.3+linux", True, True),
        (">=1.2.3-a <1.2.3-c || 2", "1.2.3-b", True, True),
    ],
)
def test_prereleases_are_admitted_by_npms_rule(
    range_: str, version: str, admitted: bool, with_prereleases: bool
) -> None:
    parsed = Range.parse(range_)
    assert parsed.admits(V(version)) is admitted
    assert parsed.admits(V(version), include_prerelease=True) is with_prereleases


def test_a_prerelease_of_the_next_major_never_matches() -> None:
    versions = [V("2.1.0-pre.0"), V("2.0.0"), V("3.0.0-pre.0")]
    assert Range.parse("^2").best(versions, include_prerelease=True) == V("2.1.0-pre.0")
    assert Range.parse("^2").best(versions) == V("2.0.0")


def test_matches_come_ascending_and_none_has_no_best() -> None:
    versions = [V("1.10.0"), V("1.9.0"), V("2.0.0"), V("1.2.0")]
    assert Range.parse("1").matches(versions) == [V("1.2.0"), V("1.9.0"), V("1.10.0")]
    assert Range.parse("^3").best(versions) is None


@given(stable, any_version)
def test_caret_and_tilde_are_their_bounds(floor: Version, version: Version) -> None:
    tilde = Range.parse(f">={floor} <{floor.major}.{floor.minor + 1}.0-0")
    assert Range.parse(f"~{floor}").admits(version) == tilde.admits(version)
    major, minor, patch = floor.triple
    ceiling = f"{major + 1}.0.0-0" if major else f"0.{minor + 1}.0-0" if minor else f"0.0.{patch + 1}-0"
    assert Range.parse(f"^{floor}").admits(version) == Range.parse(f">={floor} <{ceiling}").admits(version)


@given(small, small, any_version, st.booleans())
def test_x_ranges_have_many_spellings(major: int, minor: int, version: Version, include: bool) -> None:
    for spellings in (
        (f"{major}", f"{major}.x", f"{major}.*", f"{major}.X.x", f"={major}", f"v{major}.x.x"),
        (f"{major}.{minor}", f"{major}.{minor}.x", f"={major}.{minor}.*", f"{major}.{minor} - {major}.{minor}"),
    ):
        answers = {Range.parse(text).admits(version, include_prerelease=include) for text in spellings}
        assert len(answers) == 1


@given(st.lists(stable, max_size=4), any_version)
def test_alternatives_are_a_union_and_order_does_not_count(pins: list[Version], version: Version) -> None:
    text = " || ".join(f"^{pin}" for pin in pins) or ">x"
    union = any(Range.parse(f"^{pin}").admits(version) for pin in pins)
    assert Range.parse(text).admits(version) == union
    backwards = " || ".join(f"^{pin}" for pin in reversed(pins)) or ">x"
    assert Range.parse(backwards).admits(version) == union


@given(any_version)
def test_including_prereleases_only_ever_adds_versions(version: Version) -> None:
    for text in ("^1.2", "~1.1.1", "1 - 2", ">1", "<=2.1", "*", "^0.0.1", ">=1.1.1-a <2"):
        if Range.parse(text).admits(version):
            assert Range.parse(text).admits(version, include_prerelease=True)


@pytest.mark.parametrize(
    ("text", "anchored"),
    [
        ("^2", True), ("~1.2", True), (">=2", True), (">=0.2 <1", True), ("1.2.3", True), ("0.0.x", True),
        ("^0.2", True), (">1", True), ("*", False), ("", False), ("<3", False), ("0.x", False), (">=0", False),
        (">x", False),
    ],
)  # fmt: skip
def test_an_alternative_with_a_floor_or_in_one_line_of_numbers_is_anchored(text: str, anchored: bool) -> None:
    assert [one.anchored for one in Range.parse(text).alternatives] == [anchored]


@pytest.mark.parametrize(
    ("text", "pin"),
    [("1.2.3", "1.2.3"), ("=v1.2.3", "1.2.3"), ("= 1.2.3-rc.1", "1.2.3-rc.1"), ("^1", None), ("1.2", None),
     ("1.2.3 || 1.2.4", None), ("1.2.3 || 1.2.3", "1.2.3"), ("*", None)],
)  # fmt: skip
def test_only_a_whole_version_is_an_exact_pin(text: str, pin: str | None) -> None:
    assert Range.parse(text).exact == (V(pin) if pin else None)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "1" * 100_000, "^1 || " * 100_000, " " * 100_000, "||" * 50_000, "1.2.3-" + "a." * 50_000,
        ">=" * 50_000, "x." * 50_000, "~" * 100_000, "v=" * 2_000, "9" * 4_000, "1 " * 1_900, "<1||" * 1_000,
    ],
)  # fmt: skip
def test_hostile_ranges_are_answered_at_once(text: str) -> None:
    message = ""
    try:
        Range.parse(text)
    except InvalidRange as error:
        message = str(error)
    assert len(message) < 400
