"""What silences a lint: a comment where it stands or a baseline from before; a hidden instruction never."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.lint import LINTS, LintFinding, Severity, lint_comments
from governance.core.lint.baseline import Baseline, Entry, hold, read_baseline, recorded, to_document
from governance.core.lint.ignoring import honour, read_comment
from governance.core.lint.model import Ignore, Located
from governance.errors import Place

WARNINGS = [row.id for row in LINTS.values() if row.severity is Severity.WARNING]
ERRORS = [row.id for row in LINTS.values() if row.severity is Severity.ERROR]


def located(
    lint: str = "text.url", *, line: int = 1, skill: str = "find", pointer: str = "/description", found: str = ""
) -> Located:
    finding = LintFinding(
        id=lint, severity=LINTS[lint].severity, pointer=pointer, message="m", fix="f.", skill=f"a.{skill}", found=found
    )
    return Located(finding=finding, skill=skill, place=Place(file="a.yaml", line=line, column=1))


def comment(text: str, *, begins: int = 1, ends: int = 9) -> Ignore:
    return read_comment(text, Place(file="a.yaml", line=begins, column=1), begins=(begins, 0), ends=(ends, 0))


def test_a_comment_silences_the_warnings_it_names_where_it_speaks() -> None:
    here, there, other = located(line=3), located(line=12), located("name.vague", line=3)
    heard = honour([here, there, other], [comment("ignore[text.url] the docs")])
    assert heard.kept == (there, other)
    assert [(one, by.reason) for one, by in heard.silenced] == [(here, "the docs")]
    assert lint_comments(heard.ignores) == []


@pytest.mark.parametrize("lint", ERRORS)
def test_no_comment_silences_an_error(lint: str) -> None:
    heard = honour([located(lint)], [comment(f"ignore[{lint}] it is meant well")])
    assert heard.silenced == ()
    ((_, complaint),) = lint_comments(heard.ignores)
    assert (complaint.id, complaint.severity) == ("ignore.invalid", Severity.ERROR)
    assert "no comment silences" in complaint.message


@pytest.mark.parametrize(
    ("text", "lint", "words"),
    [
        ("ignore[text.url]", "ignore.invalid", "no reason"),
        ("ignore[text.ulr] the docs", "ignore.invalid", "did you mean text.url?"),
        ("ignore[text.url, name.vague] the docs", "ignore.unused", "ignore[name.vague]"),
        ("disable all", "ignore.invalid", "asks for nothing"),
    ],
)
def test_a_comment_that_is_wrong_or_not_needed_is_a_finding_itself(text: str, lint: str, words: str) -> None:
    heard = honour([located()], [comment(text)])
    ((_, found),) = lint_comments(heard.ignores)
    assert found.id == lint
    assert words in found.message


def look(found: list[Located], baseline: Baseline, **wider: Any) -> Any:
    everything = {"skills": frozenset({"find", "move"}), "lints": frozenset(LINTS), "clients": frozenset({"openai"})}
    return hold(found, baseline, **(everything | wider))


FOUND = st.lists(
    st.builds(
        located,
        st.sampled_from([*WARNINGS[:4], *ERRORS[:2]]),
        line=st.integers(1, 99),
        skill=st.sampled_from(["find", "move"]),
        pointer=st.sampled_from(["/description", "/name"]),
        found=st.sampled_from(["", "a", "b"]),
    ),
    max_size=12,
)


@given(FOUND)
def test_what_was_recorded_is_held_and_only_errors_count(found: list[Located]) -> None:
    held = look(found, recorded(found))
    assert list(held.new) == [one for one in found if one.finding.severity is Severity.ERROR]
    assert not held.stale
    assert held.unseen == 0


@given(FOUND, FOUND)
def test_what_came_is_new_and_what_went_is_stale(before: list[Located], after: list[Located]) -> None:
    old, new = recorded(before), recorded(after)
    held = look(after, old)
    assert recorded(held.new) == new - old
    assert recorded(held.held) == new & old
    assert held.stale == old - new


@given(FOUND)
def test_a_baseline_comes_back_as_it_was_written(found: list[Located]) -> None:
    baseline = recorded(found)
    assert read_baseline(to_document(baseline), LINTS) == (baseline, [])


def test_lines_and_sentences_are_no_part_of_what_is_held() -> None:
    assert look([located(line=70)], recorded([located(line=3)])).new == ()
    assert len(look([located(found="evil.io")], recorded([located(found="good.io")])).new) == 1


def test_what_a_run_did_not_look_at_is_not_stale() -> None:
    baseline: Baseline = Counter(
        [
            Entry("gone", "text.url", "/description"),
            Entry("find", "client.name", "/name", "gemini"),
            Entry("find", "owner.missing", "/owner"),
            Entry("find", "text.url", "/description"),
        ]
    )
    held = look([], baseline, lints=frozenset(LINTS) - {"owner.missing"})
    assert list(held.stale) == [Entry("find", "text.url", "/description")]
    assert held.unseen == 3


@pytest.mark.parametrize(
    ("entry", "pointer", "words"),
    [
        (3, "", "an object"),
        ({"skill": "a", "lint": "text.url"}, "", "pointer is a string"),
        ({"skill": "a", "lint": "no.such", "pointer": ""}, "/lint", "no lint"),
        ({"skill": "a", "lint": "text.order", "pointer": ""}, "/lint", "no baseline holds one"),
        ({"skill": "a", "lint": "text.url", "pointer": "", "count": 0}, "/count", "whole number"),
        ({"skill": "a", "lint": "text.url", "pointer": "", "count": True}, "/count", "whole number"),
        ({"skill": "a", "lint": "text.url", "pointer": "", "line": 3}, "/line", "nobody knows"),
        ({"skill": ["a"], "lint": "text.url", "pointer": ""}, "/skill", "skill is a string"),
    ],
)
def test_every_fault_of_a_baseline_is_told_at_its_place(entry: Any, pointer: str, words: str) -> None:
    good = {"skill": "a", "lint": "text.url", "pointer": "/description"}
    baseline, faults = read_baseline({"lint_baseline": 1, "entries": [good, entry]}, LINTS)
    assert [fault.pointer for fault in faults] == [f"/entries/1{pointer}"]
    assert words in faults[0].message
    assert baseline.total() == 1


@pytest.mark.parametrize("value", [None, [], {}, {"lint_baseline": 2, "entries": []}, {"lint_baseline": 1}])
def test_what_is_no_baseline_is_not_read_as_an_empty_one(value: Any) -> None:
    assert read_baseline(value, LINTS)[1]
