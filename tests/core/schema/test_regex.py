"""A pattern is the set of the strings it finds a match in, exactly as ECMA-262 reads it."""

from __future__ import annotations

import contextlib
import itertools
import re

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.regex import (
    ALL,
    NONE,
    Regex,
    UnsupportedPattern,
    classes,
    compile_pattern,
    complement,
    derivative,
    intersection,
    length_between,
    literal,
    matches,
    union,
)

_LETTERS = "ab1-\n"
SHORT = ["".join(letters) for length in range(5) for letters in itertools.product(_LETTERS, repeat=length)]
"""Every string of up to four characters over a small alphabet."""

_ATOMS = ["a", "b", "1", "-", r"\n", "[ab]", "[^a]", r"\d", r"\D", r"\w", r"\W", ".", "[a-b1]"]


def _repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "*?", "+?"])
    return st.tuples(inner, counts).map(lambda parts: f"(?:{parts[0]}){parts[1]}")


PATTERNS = st.recursive(
    st.sampled_from(_ATOMS) | st.sampled_from(["^", "$", r"\b", r"\B", "(?<=a)", r"(?<!\w)", "(?<![1-])"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda branches: f"(?:{'|'.join(branches)})"),
        _repeated(inner),
        st.tuples(st.sampled_from(["(?=", "(?!"]), inner).map(lambda parts: f"{parts[0]}{parts[1]})"),
    ),
    max_leaves=7,
)
"""Patterns that Python's ``re`` reads the same way after ``in_python``."""


def in_python(pattern: str) -> re.Pattern[str]:
    """``$`` is the very end, ``\\d`` and ``\\w`` are ASCII, ``\\B`` holds in the empty string too."""
    return re.compile(pattern.replace("$", r"\Z").replace(r"\B", r"(?!\b)"), re.ASCII)


@settings(max_examples=150, deadline=None)
@given(PATTERNS)
def test_a_pattern_holds_the_strings_that_another_engine_finds_it_in(pattern: str) -> None:
    ours, theirs = compile_pattern(pattern), in_python(pattern)
    assert [text for text in SHORT if matches(ours, text)] == [text for text in SHORT if theirs.search(text)]


READINGS = [
    # pattern, strings it finds a match in, strings it does not
    ("", ["", "x"], []),
    ("a", ["a", "xax"], ["", "b"]),
    ("^a$", ["a"], ["a\n", "\na", "b\na"]),
    ("^.$", ["\x85", "\U0001f600", "\x00"], ["\n", "\r", "\u2028", "\u2029", "ab"]),
    (r"^\d$", ["0", "9"], ["\u0663", "x"]),
    (r"^\w$", ["_", "Z", "z", "0"], ["é", "-"]),
    (r"^\W$", ["é", "-"], ["_", "a"]),
    (r"^\s$", [" ", "\xa0", "\ufeff", "\u2028", "\u3000", "\v", "\u1680"], ["\u180e", "\x85", "\x1c", "\u200b"]),
    (r"^\S$", ["\x85", "\u180e"], [" ", "\ufeff"]),
    (r"^\u00e9$", ["é"], ["e"]),
    (r"^\uD83D\uDE00$", ["\U0001f600"], ["\U0001f601"]),
    (r"^[\uD83D\uDE00-\uD83D\uDE0f]$", ["\U0001f60a"], ["\U0001f610"]),
    (r"^\u{1F600}$", ["\U0001f600"], []),
    (r"^\x41\cJ\0$", ["A\n\x00"], ["A\nx"]),
    (r"^[\b]$", ["\b"], ["b"]),
    ("[^]", ["a", "\n"], [""]),
    ("[]", [], ["", "a"]),
    ("^[^]$", ["\n", "\u2028"], ["", "ab"]),
    ("^[[a]$", ["[", "a"], ["b"]),
    ("^[a&&b]$", ["a", "&", "b"], ["c"]),
    (r"^[\w-.]$", ["-", ".", "a"], [",", "/"]),
    (r"^[.\-A-C]$", [".", "-", "B"], [",", "D"]),
    (r"^\-\_\@\'\/$", ["-_@'/"], ["\\-_@'/"]),
    (r"^\<$", ["<"], ["", "a"]),
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{2,}$", ["aa", "a" * 50], ["a"]),
    ("^a{,2}$", None, None),
    ("^{a}$", ["{a}"], ["a"]),
    ("a{x}]", ["a{x}]"], ["a"]),
    ("^(?<year>a)(?:b)$", ["ab"], ["a"]),
    ("(^a|b)$", ["a", "xb"], ["xa"]),
    ("a^b", [], ["ab", "a^b"]),
    ("(?:^|,)x(?:,|$)", ["x", "a,x", "x,b", "a,x,b"], ["ax", "xb", "a,xb"]),
    (r"\bfoo\b", ["foo", "a foo.", "éfoo"], ["foobar", "_foo"]),
    (r"a\Bb", ["ab"], ["a", "a b"]),
    (r"^(\b\w+\b ?)+$", ["ab c", "a "], [" a", "a  b"]),
    ("^(?!.*--)[a-z-]+$", ["a-b", "-"], ["a--b", ""]),
    ("^(?:(?!--)[a-z-])+$", ["a-b", "-"], ["a--b", ""]),
    (r"^(?=.*\d)(?=.*[A-Z]).{4,}$", ["a1Bc"], ["abcd", "1B"]),
    ("a(?=b)", ["ab"], ["a", "ac"]),
    ("a(?!b)", ["a", "ac", "aba"], ["ab"]),
    ("^(?:a(?=b)|b(?!b))*$", ["", "ab", "abab", "b"], ["a", "bb", "aab"]),
    ("^(?:$|a)+$", ["", "a", "aa"], ["b"]),
    ("^(?:(?=a)|b)*a$", ["a", "bba"], ["b", "aa"]),
    ("^(?:(?=a)){3}a$", ["a"], ["aa"]),
    ("(?<=a)b", ["ab", "bab"], ["b", "bb"]),
    ("(?<!a)b", ["b", "cb", "abb"], ["ab"]),
    ("^(?!-)[a-z-]{1,63}(?<!-)$", ["a", "a-b"], ["-a", "a-", "-", ""]),
    ("(?<=^|,)x", ["x", "a,x"], ["ax", ""]),
    ("(?<!^)x", ["ax"], ["x"]),
    (r"(?<=[\w.])-(?<!a-|_)", None, None),
    (r"^(?:a(?<=a)|b(?<!c))+$", ["ab"], ["", "c"]),
    (r"^(?:-|(?<=-)a)+$", ["-a", "--a-"], ["a", "-aa"]),
    (r"\b(?<![.])a(?<!b)", ["a", "-a"], [".a", "ba"]),
    (r"^\p{ASCII}\P{ASCII}$", ["aé"], ["aa"]),
]


@pytest.mark.parametrize(("pattern", "inside", "outside"), READINGS)
def test_a_pattern_is_read_as_ecma_262_reads_it(
    pattern: str, inside: list[str] | None, outside: list[str] | None
) -> None:
    if inside is None or outside is None:
        with pytest.raises(UnsupportedPattern):
            compile_pattern(pattern)
        return
    language = compile_pattern(pattern)
    assert [text for text in inside if not matches(language, text)] == []
    assert [text for text in outside if matches(language, text)] == []


REFUSALS = [
    *(
        (pattern, "syntax")
        for pattern in ("(", ")", "a)", "*", "a|*", "a**", "a++", "^*", "(?=a)*", "a{3,2}", "a{2}{3}")
    ),
    *(
        (pattern, "syntax")
        for pattern in ("[a", "[z-a]", "a\\", r"\x4", r"\u00", r"\u{110000}", r"\u{}", r"\c", r"\c1")
    ),
    *(
        (pattern, "syntax")
        for pattern in (r"\a", r"\z", r"\Z", r"\A", r"\é", r"\00", r"\07", r"[\1]", r"[\B]", "(?<1>a)")
    ),
    *(
        (pattern, "syntax")
        for pattern in ("(?P<n>a)", "(?>a)", "(?#c)", "(?", "(?<n", "(?<=a", "(?<=a)*", "a{,3}", r"\p", r"\p{", r"\u{1")
    ),
    *((pattern, "back-reference") for pattern in (r"(a)\1", r"\1", r"(?<n>a)\k<n>")),
    *((pattern, "look-behind") for pattern in ("(?<=ab)c", "(?<!a*)b", "(?<=a|bc)d", "(?<=)a", r"(?<=\b)a")),
    *((pattern, "property-escape") for pattern in (r"\p{L}", r"\p{Script=Greek}", r"[\P{Lu}]")),
    *((pattern, "case-insensitive") for pattern in ("(?i)a", "(?i:a)", "(?si:a)", "(?i-s:a)")),
    *((pattern, "flags") for pattern in ("(?s).", "(?m:^a)", "(?-i:a)")),
    *((pattern, "too-large") for pattern in ("a" * 5000, "(" * 100 + ")" * 100, "a{" + "9" * 30 + "}")),
    *((pattern, "too-large") for pattern in ("(?!a)b?" * 500, "(?:(?!a)b)*" * 300, "(?:(?=a)b){1,99999}")),
    ("".join(f"(?<={letter})" for letter in "abcdefghij"), "too-large"),
]


@pytest.mark.parametrize(("pattern", "reason"), REFUSALS, ids=lambda value: value[:20])
def test_what_is_not_decided_is_refused_with_its_reason_each_time(pattern: str, reason: str) -> None:
    for _ in range(2):
        with pytest.raises(UnsupportedPattern) as refused:
            compile_pattern(pattern)
        assert refused.value.reason == reason
        assert str(refused.value)


@given(st.text(alphabet=r"ab01\^$.|?*+()[]{}-,=!<>:bBdDwWsSpPuxck" + "é\U0001f600\ud800\x00", max_size=30))
def test_any_text_is_a_pattern_or_is_refused(pattern: str) -> None:
    with contextlib.suppress(UnsupportedPattern):
        language = compile_pattern(pattern)
        assert matches(language, "") is language.nullable


VALIDATOR_DISAGREES = [
    # pattern, a string, and whether ECMA-262 finds it there; the validator says otherwise or knows no such pattern
    ("^[^]$", "a", True),
    (r"^\<$", "<", True),
    (r"a\b", "aé", True),
    (r"^[\w-.]$", "-", True),
    (r"^\uD83D\uDE00$", "\U0001f600", True),
]


@pytest.mark.parametrize(("pattern", "text", "found"), VALIDATOR_DISAGREES)
def test_where_the_validator_leaves_ecma_262_we_stay(pattern: str, text: str, found: bool) -> None:
    assert matches(compile_pattern(pattern), text) is found
    try:
        validator = jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except jsonschema_rs.ValidationError:
        return
    assert validator.is_valid(text) is not found, "they agree now: take the row away"


def test_the_validator_agrees_on_the_rest() -> None:
    disagreements = {pattern for pattern, _, _ in VALIDATOR_DISAGREES}
    for pattern, inside, outside in READINGS:
        if pattern in disagreements or inside is None or outside is None:
            continue
        try:
            validator = jsonschema_rs.Draft202012Validator({"pattern": pattern})
        except jsonschema_rs.ValidationError:
            continue
        theirs = [text for text in (*inside, *outside) if validator.is_valid(text)]
        ours = [text for text in (*inside, *outside) if matches(compile_pattern(pattern), text)]
        known = {r"\bfoo\b": ["éfoo"]}.get(pattern, [])
        assert [text for text in ours if text not in known] == [text for text in theirs if text not in known], pattern


LANGUAGES = st.recursive(
    st.sampled_from(["a", "b", "[ab1]", "[^a]", "^$", "^a*$", "^(ab)+$", "1$"]).map(compile_pattern)
    | st.sampled_from(["", "a", "ab", "\n-"]).map(literal)
    | st.tuples(st.integers(0, 2), st.integers(2, 4) | st.none()).map(lambda lengths: length_between(*lengths))
    | st.sampled_from([ALL, NONE]),
    lambda inner: (
        inner.map(complement)
        | st.lists(inner, min_size=2, max_size=3).map(lambda several: union(*several))
        | st.lists(inner, min_size=2, max_size=3).map(lambda several: intersection(*several))
    ),
    max_leaves=6,
)
TEXTS = st.text(alphabet=_LETTERS, max_size=6)


@given(LANGUAGES, LANGUAGES, TEXTS)
def test_the_operations_are_those_of_sets(left: Regex, right: Regex, text: str) -> None:
    in_left, in_right = matches(left, text), matches(right, text)
    assert matches(union(left, right), text) is (in_left or in_right)
    assert matches(intersection(left, right), text) is (in_left and in_right)
    assert matches(complement(left), text) is not in_left
    assert matches(intersection(left, complement(left)), text) is False
    assert matches(union(left, complement(left)), text) is True
    de_morgan = complement(intersection(complement(left), complement(right)))
    assert matches(de_morgan, text) is matches(union(left, right), text)


@given(LANGUAGES, LANGUAGES, LANGUAGES)
def test_order_grouping_and_repetition_of_members_make_no_new_language(a: Regex, b: Regex, c: Regex) -> None:
    for operation in (union, intersection):
        assert operation(a, a) is a
        assert operation(a, b, c) is operation(c, a, b, a)
    assert complement(complement(a)) is a
    assert union(a, NONE) is a
    assert union(a, ALL) is ALL
    assert intersection(a, ALL) is a
    assert intersection(a, NONE) is NONE


@given(LANGUAGES, TEXTS)
def test_a_derivative_holds_what_may_follow(language: Regex, text: str) -> None:
    if text:
        assert matches(derivative(language, ord(text[0])), text[1:]) is matches(language, text)
    else:
        assert language.nullable is matches(language, "")
    assert language.shortest <= len(text) or not matches(language, text)
    assert language.longest is None or len(text) <= language.longest or not matches(language, text)


@given(LANGUAGES, st.integers(0, 0x10FFFF).filter(lambda point: not 0xD800 <= point <= 0xDFFF))
def test_classes_part_the_alphabet_and_one_character_speaks_for_its_class(language: Regex, point: int) -> None:
    blocks = classes(language)
    (mine,) = [block for block in blocks if point in block]
    sizes = sum(high - low + 1 for block in blocks for low, high in block.ranges)
    assert sizes == 0x110000 - 0x800
    assert derivative(language, point) is derivative(language, mine.best)


def test_repetition_counts_stay_numbers() -> None:
    assert compile_pattern("^(?:[a-z]{0,100000}){1,1000}$") is compile_pattern("^[a-z]{0,100000000}$")
    assert compile_pattern("^(?:(?:a{2}){1,3})$") is not compile_pattern("^a{2,6}$")
    assert matches(compile_pattern("^(?:a{2,3}){2,3}$"), "a" * 7)
    assert not matches(compile_pattern("^(?:a{3,4}){0,2}$"), "aa")
    assert matches(compile_pattern("^a{0,100000}$"), "a" * 1000)


@pytest.mark.parametrize("count", [(0, 2), (1, 2), (2, 2), (2, None), (0, None)])
@pytest.mark.parametrize("inner", [(0, 1), (1, 2), (2, 3), (3, 3), (2, None), (3, 4)])
def test_nested_counts_are_exact(inner: tuple[int, int | None], count: tuple[int, int | None]) -> None:
    def spelled(counts: tuple[int, int | None]) -> str:
        return f"{{{counts[0]},{'' if counts[1] is None else counts[1]}}}"

    pattern = f"^(?:a{spelled(inner)}){spelled(count)}$"
    language, reference = compile_pattern(pattern), re.compile(pattern)
    lengths = range(14)
    assert [n for n in lengths if matches(language, "a" * n)] == [n for n in lengths if reference.match("a" * n)]


def test_text_with_a_lone_surrogate_is_in_no_language() -> None:
    assert not matches(ALL, "\ud800")
    assert not matches(complement(compile_pattern("^a$")), "a\udfff")
    assert compile_pattern(r"^[\uD800-\uDFFF]$") is NONE


def test_a_match_spends_its_budget() -> None:
    with pytest.raises(BudgetExceeded):
        matches(compile_pattern("^(?:a|b)*a(?:a|b){12}$"), "abbab" * 200, Budget(500))
