"""String constraints have a shortest, readable string, or provably none: within a budget and never past it."""

from __future__ import annotations

import inspect
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_regex import PATTERNS, SHORT, in_python

from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.regex import compile_pattern, matches
from governance.core.schema.strings import find_string

BUDGET = 200_000
ELSEWHERE_NO_LINE_END = {"\r", "\u2028", "\u2029"}
SMALL_ALPHABET = compile_pattern(r"^[ab1\n-]*$")


def find(
    *required: str,
    forbidden: tuple[str, ...] = (),
    low: int = 0,
    high: int | None = None,
    excluded: frozenset[str] = frozenset(),
    count: int = 1,
    budget: Budget | None = None,
) -> list[str]:
    return find_string(
        required=[compile_pattern(pattern) for pattern in required],
        forbidden=[compile_pattern(pattern) for pattern in forbidden],
        min_length=low,
        max_length=high,
        excluded=excluded,
        budget=budget or Budget(BUDGET),
        count=count,
    )


@settings(max_examples=150, deadline=None)
@given(PATTERNS, PATTERNS, st.integers(0, 3), st.integers(0, 4), st.sets(st.sampled_from(SHORT[:60]), max_size=4))
def test_what_is_found_is_what_a_search_of_all_short_strings_finds(
    wanted: str, unwanted: str, low: int, high: int, excluded: set[str]
) -> None:
    found = find_string(
        required=[compile_pattern(wanted), SMALL_ALPHABET],
        forbidden=[compile_pattern(unwanted)],
        min_length=low,
        max_length=high,
        excluded=frozenset(excluded),
        budget=Budget(10 * BUDGET),
        count=len(SHORT),
    )
    accepts, refuses = in_python(wanted), in_python(unwanted)
    expected = [
        text
        for text in SHORT
        if low <= len(text) <= high and text not in excluded and accepts.search(text) and not refuses.search(text)
    ]
    assert sorted(found) == sorted(expected)
    assert [len(text) for text in found] == sorted(len(text) for text in expected)


@settings(max_examples=150, deadline=None)
@given(PATTERNS, PATTERNS, st.integers(0, 6))
def test_a_single_string_is_a_shortest_one(wanted: str, unwanted: str, low: int) -> None:
    found = find(wanted, forbidden=(unwanted,), low=low, budget=Budget(10 * BUDGET))
    accepts, refuses = in_python(wanted), in_python(unwanted)
    shorter = [text for text in SHORT if low <= len(text) and accepts.search(text) and not refuses.search(text)]
    for text in found:
        assert len(text) >= low
        assert accepts.search(text) or not ELSEWHERE_NO_LINE_END.isdisjoint(text)
        assert matches(compile_pattern(wanted), text)
        assert not matches(compile_pattern(unwanted), text)
        assert all(len(text) <= len(other) for other in shorter)
    assert found or not shorter


@pytest.mark.parametrize(
    ("wanted", "unwanted"),
    [
        ("^[a-z0-9-]{1,64}$", "^[a-z0-9_-]{1,64}$"),
        (r"^\d{4}-\d{2}-\d{2}$", r"^\d{4}-\d\d-\d{2}$"),
        (r"^\d{4}-\d{2}-\d{2}$", "^[0-9]+-[0-9]+"),
        ("^https://", "^https?://"),
        ("^(?:foo|bar)$", "^(?:bar|foo|baz)$"),
        ("^(?!-)[a-z-]{1,63}$", "^[a-z][a-z-]{0,62}$"),
        ("^[a-z][a-z-]{0,62}$", "^(?!-)[a-z-]{1,63}$"),
        ("^(?:(?!--)[a-z-])*$", "^(?!.*--)[a-z-]*$"),
        (r"^\bfoo\b$", "^foo$"),
        ("(a+)+$", "a$"),
        ("^a*$", "^(a|aa)*$"),
        ("^a{1,1000000}$", "^(a{1,1000}){1,1000}$"),
        ("(.*a){25}", "(.*a){24}"),
        ("^[0-9a-f]{8}-[0-9a-f]{4}$", "^[0-9a-fA-F-]{13}$"),
        ("^(a{7})*$", "^(a{14})*$|^a{7}(a{14})*$"),
        ("^[^a]$", "^[^]$"),
    ],
)
def test_a_language_within_another_is_proved_to_be(wanted: str, unwanted: str) -> None:
    assert find(wanted, forbidden=(unwanted,)) == []


@pytest.mark.parametrize(
    ("wanted", "unwanted", "witness"),
    [
        ("^[a-z0-9_-]{1,64}$", "^[a-z0-9-]{1,64}$", "_"),
        ("^[a-z]{1,1000}$", "^[a-z]{1,999}$", "a" * 1000),
        ("^.{1,4000}$", "^.{1,3000}$", "a" * 3001),
        ("^[a-z][a-z0-9]{0,4999}$", "^[a-z][a-z0-9-]{0,3999}$", "a" * 4001),
        ("^[ab]{5000}$", "^.{4999}b$", "a" * 5000),
        ("^a{3000}b$", "^a{3000}c", "a" * 3000 + "b"),
        ("^a*$", "^(a{2}|a{3})*$", "a"),
        ("(.*a){24}", "(.*a){25}", "a" * 24),
        ("^(a|b)*a(a|b){20}$", "x", "a" * 21),
        (r"foo", r"\bfoo\b", "afoo"),
        ("^.$", "^[ -~]$", "À"),
        ("^[^a]$", "^[^\\n]$", "\n"),
        ("^[\\0-\\x08]$", "^\\x01$", "\x02"),
        ("x", "y", "x"),
    ],
)
def test_a_language_not_within_another_is_shown_by_a_readable_string(wanted: str, unwanted: str, witness: str) -> None:
    assert find(wanted, forbidden=(unwanted,)) == [witness]


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[st.integers(0, 9)] * 4), st.integers(0, 12), st.integers(0, 12) | st.none(), st.booleans())
def test_counting_down_in_one_go_changes_no_answer(
    counts: tuple[int, int, int, int], low: int, high: int | None, tail: bool
) -> None:
    a, b, c, d = counts
    end = "b{2,7}c?$" if tail else "$"
    wanted, unwanted = f"^[ab]{{{a},{a + b}}}{end}", f"^a{{{c},{c + d}}}{end}"
    found = find(wanted, forbidden=(unwanted,), low=low, high=high)
    every = find(wanted, forbidden=(unwanted,), low=low, high=high, count=3)  # derives step by step
    assert [len(text) for text in found] == [len(text) for text in every[:1]]
    for text in found:
        assert in_python(wanted).search(text)
        assert not in_python(unwanted).search(text)


def test_no_constraint_gives_the_empty_string_and_a_length_gives_letters() -> None:
    assert find() == [""]
    assert find(low=3) == ["aaa"]
    assert find(excluded=frozenset({""})) == ["a"]
    assert find(low=1, high=1, excluded=frozenset({"a", "b"})) == ["c"]
    assert find(count=4) == ["", "a", "b", "c"]
    assert find(high=0, count=3) == [""]
    assert find(high=0, excluded=frozenset({""})) == []
    assert find(low=-5, high=-1) == []
    assert find(count=0) == []


def test_lengths_that_exclude_each_other_are_refuted_whatever_their_size() -> None:
    assert find(low=2, high=1) == []
    assert find(low=10**30, high=10**9, budget=Budget(0)) == []
    assert find("^[a-z]{1,100}$", low=101) == []
    assert find("^[a-z]{1,100}$", low=10**9) == []
    assert find("^a{5,}$", high=4) == []
    assert find("^(?:a|bb)*$", forbidden=("^a*b*$",), high=2) == []


def test_a_string_too_long_to_write_is_given_up() -> None:
    for low in (10**9, 10**40):
        with pytest.raises(BudgetExceeded):
            find(low=low)
        with pytest.raises(BudgetExceeded):
            find("^[a-z]*$", low=low)


def test_long_strings_come_without_walking_each_character() -> None:
    (text,) = find("^[a-z]*$", forbidden=("b",), low=1_000_000)
    assert text == "a" * 1_000_000
    (text,) = find("^(?:ab)*c$", low=100_000)
    assert text == "ab" * 50_000 + "c"
    (text,) = find("^(?:aa|aaa)*b{3}$", low=100_001, high=100_001)
    assert text == "a" * 99_998 + "bbb"
    assert find("^(?:ab)*$", low=100_001, high=100_001) == []
    assert find("^(?:ab)*$", forbidden=("^(?:abab)*$",), low=100_000)[0] == "ab" * 50_001


@pytest.mark.parametrize("low", range(12))
def test_a_repeating_level_is_left_at_the_right_length(low: int) -> None:
    for pattern, period, rest in (("^(?:a{3})*bb$", 3, 2), ("^(?:ab)*$", 2, 0), ("^(?:a{4})*$", 4, 0)):
        (text,) = find(pattern, low=low)
        assert len(text) == min(n for n in range(low, low + 9) if n >= rest and (n - rest) % period == 0)
        assert matches(compile_pattern(pattern), text)
        several = find(pattern, low=low, count=3)
        assert several[0] == text
        assert len(set(several)) == 3
        assert all(matches(compile_pattern(pattern), one) and len(one) >= low for one in several)


def test_several_strings_differ_and_stop_when_there_are_no_more() -> None:
    assert find("^(?:yes|no|maybe)$", count=9) == ["no", "yes", "maybe"]
    assert find("^(?:yes|no|maybe)$", excluded=frozenset({"no", "maybe"}), count=9) == ["yes"]
    assert find("^(?:yes|no)$", excluded=frozenset({"no", "yes"})) == []
    assert find("^[ab]$", high=1, count=5) == ["a", "b"]
    assert find("^[a-z]{1,3}$", count=1000)[:3] == ["a", "b", "c"]
    assert len(set(find("^[a-c]{1,3}$", count=1000))) == 3 + 9 + 27
    assert find("^x*$", forbidden=("^x{2,}$",), count=10) == ["", "x"]


def test_excluded_strings_cost_no_expression_each() -> None:
    words = frozenset(f"w{number}" for number in range(3000))
    (text,) = find("^w[0-9]{1,4}$", excluded=words)
    assert text not in words
    assert matches(compile_pattern("^w[0-9]{1,4}$"), text)


HOSTILE = [
    ("(a+)+$", "b"),
    ("^(a|a)*$", "^(a|b|ab)*c$"),
    ("^(?:a{1,1000}){1,1000}$", "^(?:a{1,999}){1,999}$"),
    ("(.*a){25}", "(.*b){25}"),
    ("^(a|b)*a(a|b){20}$", "^(a|b)*a(a|b){19}$"),
    ("^(a|b)*b(a|b){10}$", "^(a|b)*a(a|b){20}$"),
    ("^((a{0,100}){0,100}b){0,100}$", "^((a{0,100}){0,100}b){0,99}$"),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "^(?:[a-z]+[.])+$"),
    ("a?" * 300 + "a" * 300, "^b*$"),
    ("^(?:" + "|".join(f"w{n}" for n in range(600)) + ")$", "^(?:" + "|".join(f"w{n}" for n in range(599)) + ")$"),
    ("(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f)(?=.*g)", "(?=.*gfedcba)"),
    ("[^a]*" * 700, "(?:[^b]*c){40}"),
    ("(x+x+)+y", "(x+x+x+)+y"),
    ("(?:(?=a{1,50})(?:a|b)){1,900}", "(?:(?!b{1,50})(?:a|b)){1,900}"),
    ("(" * 39 + "a" + ")*" * 39, "b"),
    ("[" + "".join(chr(code) for code in range(0x200, 0x2000, 3)) + "]+", "^[^" + "é" * 1000 + "]{3,9}$"),
]


@pytest.mark.parametrize(("wanted", "unwanted"), HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.timeout(10)
def test_a_hostile_pair_is_decided_or_given_up_within_its_budget(wanted: str, unwanted: str) -> None:
    budget = Budget(BUDGET)
    try:
        found = find(wanted, forbidden=(unwanted,), budget=budget)
    except BudgetExceeded:
        assert budget.remaining < 0
    else:
        assert all(matches(compile_pattern(wanted), text) for text in found)
        assert not any(matches(compile_pattern(unwanted), text) for text in found)


def test_a_question_costs_the_same_cold_and_warm() -> None:
    costs = []
    for _ in range(2):
        budget = Budget(BUDGET)
        find("^(?:foo|bar|quux)+[a-z]*z{3,9}$", forbidden=("(?:foo|bar)", "zzzzz"), budget=budget, count=3)
        costs.append(budget.remaining)
    assert costs[0] == costs[1] < BUDGET


def test_a_caller_that_stands_deep_gets_an_answer_or_a_spent_budget() -> None:
    inside = compile_pattern("^" + "(?:" * 30 + "a" + "b?)*" * 30 + "c$")
    outside = compile_pattern("^c$")

    def dive(frames: int) -> str:
        if frames:
            return dive(frames - 1)
        outcomes = []
        for ask in (
            lambda: find_string(
                required=[inside],
                forbidden=[outside],
                min_length=0,
                max_length=None,
                excluded=frozenset(),
                budget=Budget(BUDGET),
            ),
            lambda: matches(inside, "ab" * 30 + "c"),
        ):
            try:
                ask()
            except BudgetExceeded:
                outcomes.append("spent")
            else:
                outcomes.append("answered")
        return " ".join(outcomes)

    here = len(inspect.stack(0))
    assert dive(sys.getrecursionlimit() - here - 40) == "spent spent"
    assert dive(0) == "answered answered"
