"""What the validator is given in another spelling means to it what ECMA-262 means."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from governance.core.schema.regex import UnsupportedPattern, compile_pattern, matches
from governance.core.schema.regex_portable import portable, spoken

_ATOMS = [
    *("a", "b", "0", "_", "-", " ", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", "^", "$", "é", "😀", "#", "&"),
    *("[^]", "[]", "[a-b]", "[^a]", r"[\w-.]", r"[\d\-]", r"[^\s\w]", "[a&&b]", "[a^]", "[[a]", r"[\b]"),
    *(r"\b", r"\B", r"\n", r"\u2028", r"\uD83D\uDE00", r"\u{1F600}", r"\x41", r"\.", r"\-", r"\<", r"\>", r"\0"),
    *("{", "}", "]", "(?<=a)", "(?<!b)", "(?<=^)", "(?<!^|a)", r"\p{ASCII}", r"\cJ"),
]
PATTERNS = st.recursive(
    st.sampled_from(_ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{2,}", "*?"])).map(
            lambda parts: f"(?:{parts[0]}){parts[1]}"
        ),
        st.tuples(st.sampled_from(["(?=", "(?!", "(?<n>"]), inner).map(lambda parts: f"{parts[0]}{parts[1]})"),
    ),
    max_leaves=8,
)
TEXTS = st.text(st.sampled_from("ab0A_- .&#{}[]<>é😀٣\n\r\u2028\u0085\b\0"), max_size=6)


def finds(pattern: str, text: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern}, offline=True).is_valid(text)


@settings(max_examples=400)
@given(pattern=PATTERNS, texts=st.lists(TEXTS, min_size=1, max_size=12))
@example(pattern=r"^(?!.*\.\.).*$", texts=["a\r..", "..", "a", "\r"])
@example(pattern="()+?", texts=["", "a"])
@example(pattern="(?:)*(?<=a)b", texts=["ab", "b"])
def test_the_validator_reads_a_portable_pattern_as_ecma_262_reads_the_original(pattern: str, texts: list[str]) -> None:
    meant = compile_pattern(pattern)
    for text in texts:
        assert finds(portable(pattern), text) == matches(meant, text), (portable(pattern), text)


@settings(max_examples=400)
@given(pattern=PATTERNS, texts=st.lists(TEXTS, min_size=1, max_size=12))
def test_what_is_left_as_written_is_read_alike(pattern: str, texts: list[str]) -> None:
    meant = compile_pattern(pattern)
    for text in texts:
        assert finds(spoken(pattern), text) == matches(meant, text), (spoken(pattern), text)


@pytest.mark.parametrize(
    "pattern",
    ["^[a-z][a-z0-9_-]*$", r"^\d{4}-\d{2}-\d{2}$", r"^https?://[^\s/$.?#].[^\s]*$", "^(a|b)+?$", "[^/]+", r"\.json$"],
)
def test_everyday_patterns_stay_as_they_are_written(pattern: str) -> None:
    assert spoken(pattern) == pattern


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?i)a", r"\p{Lu}", "(?<=ab)c", "a{", "("])
def test_what_cannot_be_read_here_stays_as_it_is_written(pattern: str) -> None:
    if pattern == "a{":
        assert finds(spoken(pattern), "a{")
        return
    with pytest.raises(UnsupportedPattern):
        portable(pattern)
    assert spoken(pattern) == pattern


def test_a_long_class_or_deep_groups_take_no_time_to_tell_apart() -> None:
    for pattern in ("[" + "a-" * 1900, "(" * 3000, "[" + "ab" * 1900 + "&", "(?:a|" * 30 + "b" + ")*" * 30):
        assert spoken(pattern)
