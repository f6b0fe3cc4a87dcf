"""Bytes order as SemVer precedence does; search text folds alike on both sides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from governance.control.skills.ordering import sort_key
from governance.control.skills.searching import fold, like, words
from governance.core.versioning import Version

numbers = st.integers(min_value=0, max_value=12) | st.integers(min_value=0, max_value=10**40)
identifiers = st.one_of(
    numbers.map(str), st.from_regex(r"[0-9A-Za-z-]*[A-Za-z-][0-9A-Za-z-]*", fullmatch=True).filter(lambda s: len(s) < 9)
)
versions = st.builds(
    lambda triple, prerelease, build: Version.parse(
        ".".join(map(str, triple))
        + ("-" + ".".join(prerelease) if prerelease else "")
        + ("+" + ".".join(build) if build else "")
    ),
    st.tuples(numbers, numbers, numbers),
    st.lists(identifiers, max_size=3),
    st.lists(st.sampled_from(["a", "1", "x-y"]), max_size=2),
)


@given(versions, versions)
def test_keys_compare_as_versions_do(one: Version, other: Version) -> None:
    assert (sort_key(one) < sort_key(other)) == (one < other)
    assert (sort_key(one) == sort_key(other)) == (one == other)


def test_the_specifications_own_order_holds() -> None:
    prereleases = ["alpha", "alpha.1", "alpha.beta", "beta", "beta.2", "beta.11", "rc.1"]
    order = [*(f"1.0.0-{one}" for one in prereleases), "1.0.0", "1.0.1", "1.10.0", "9.0.0", "10.0.0"]
    keys = [sort_key(Version.parse(text)) for text in order]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@given(st.text(max_size=40))
def test_folding_twice_is_folding_once_and_case_never_counts(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert "\x00" not in fold(text)
    assert words(text) == [word for word in fold(text).split(" ") if word]


def test_a_word_is_looked_for_as_it_stands() -> None:
    assert like(r"50%_\x") == r"%50\%\_\\x%"
