"""Versions are strict SemVer 2.0.0 in one total order."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.versioning import Version
from governance.errors import InvalidVersion

numbers = st.integers(min_value=0, max_value=10**20)
identifiers = st.one_of(
    st.integers(min_value=0, max_value=10**18),
    st.from_regex(r"[0-9]{0,3}[A-Za-z-][0-9A-Za-z-]{0,4}", fullmatch=True),
)
versions = st.builds(
    Version,
    major=numbers,
    minor=numbers,
    patch=numbers,
    prerelease=st.lists(identifiers, max_size=4).map(tuple),
    build=st.lists(st.from_regex(r"[0-9A-Za-z-]{1,5}", fullmatch=True), max_size=3).map(tuple),
)
near = st.builds(
    Version,
    major=st.integers(0, 2),
    minor=st.integers(0, 1),
    patch=st.integers(0, 1),
    prerelease=st.lists(st.sampled_from([0, 1, 10, "a", "b", "rc", "-"]), max_size=2).map(tuple),
    build=st.sampled_from([(), ("1",)]),
)

IN_ORDER = """
0.0.0-0 0.0.0 0.0.1-alpha 0.0.1 0.9.9 1.0.0-0.dev.3 1.0.0-1 1.0.0-9 1.0.0-10 1.0.0-- 1.0.0-alpha 1.0.0-alpha.1
1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2.0 1.10.0 2.0.0
9007199254740991.0.0 9007199254740992.0.0 9007199254740993.0.0 99999999999999999999999.0.0
"""


@given(versions)
def test_parse_and_str_are_inverse(version: Version) -> None:
    if len(str(version)) <= 256:
        again = Version.parse(str(version))
        assert (again, again.build, str(again)) == (version, version.build, str(version))


def test_precedence_is_that_of_the_specification() -> None:
    for low, high in itertools.combinations(IN_ORDER.split(), 2):
        assert Version.parse(low) < Version.parse(high), f"{low} < {high}"


@given(near, near, near)
def test_the_order_is_total_antisymmetric_and_transitive(a: Version, b: Version, c: Version) -> None:
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a <= b and b <= a) == (a == b)
    assert not (a <= b and b <= c) or a <= c


@given(near)
def test_build_metadata_makes_no_other_version(version: Version) -> None:
    built = Version.parse(f"{version}{'.' if version.build else '+'}x")
    assert built == version
    assert hash(built) == hash(version)
    assert str(built) != str(version)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it is empty"),
        ("1.2", "it has 2 of the three numbers"),
        ("1", "it has 1 of the three numbers"),
        ("1.2.3.4", "it has 4 numbers, not three"),
        ("v1.2.3", "it starts with 'v'"),
        ("=1.2.3", "it starts with '='"),
        (" 1.2.3", "white space"),
        ("1.2.3\n", "white space"),
        ("01.2.3", "the number 01 has a leading zero"),
        ("1.2.3-01", "prerelease number 01 has a leading zero"),
        ("1.2.3-", "prerelease identifier is empty"),
        ("1.2.3-a..b", "prerelease identifier is empty"),
        ("1.2.3+", "build identifier is empty"),
        ("1.2.3+a+b", "build identifier"),
        ("1.2.x", "must be three numbers"),
        ("1.2.-3", "must be three numbers"),
        ("١.٢.٣", "must be three numbers"),
        ("1.2.3-é", "other than letters"),
        ("1.2.3\x00", "must be three numbers"),
        ("latest", "must be three numbers"),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(InvalidVersion, match=complaint) as caught:
        Version.parse(text)
    assert caught.value.fix


def test_length_is_capped_at_256_characters() -> None:
    longest = "1.0.0-" + "a" * 250
    assert str(Version.parse(longest)) == longest
    for text in (longest + "a", "9" * 100_000 + ".0.0", "1.0.0-" + "a." * 50_000):
        with pytest.raises(InvalidVersion, match="longer than 256 characters"):
            Version.parse(text)


def test_parts_beyond_a_double_stay_exact() -> None:
    assert Version.parse("9007199254740993.0.0").major == 9007199254740993
    assert Version.parse(f"1.{'9' * 200}.0").minor == int("9" * 200)
