"""Everything ``govctl explain`` knows: finding codes, lints, gate reasons and errors, as one table."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from governance.cli.topics import CONTRACT, RESOLVE
from governance.core.compat.codes import CODES, Code
from governance.errors import all_errors

Sample = Mapping[str, Any]
"""Fragments by what they are: ``old`` and ``new`` of a comparison, a ``manifest``, a ``catalogue`` or a ``comment``."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One code. ``kind`` says which table it stands in; ``facts`` are labelled sentences in reading order."""

    code: str
    kind: str
    title: str
    facts: tuple[tuple[str, str], ...]
    example: Sample | None = None
    """What produces the code."""
    near_miss: Sample | None = None
    """What looks alike and does not."""


FINDING: Final = "finding"
LINT: Final = "lint"
REASON: Final = "gate reason"
ERROR: Final = "error"
TOPIC: Final = "topic"


def explanations() -> dict[str, Explanation]:
    """Every code there is; one that stands in two tables is told by the first of them."""
    found: dict[str, Explanation] = {}
    for explanation in (*_topics(), *_findings(), *_lints(), *_reasons(), *_errors()):
        found.setdefault(explanation.code, explanation)
    return found


def near(code: str, known: Mapping[str, Explanation]) -> list[str]:
    """Codes that look like ``code``, best first."""
    return get_close_matches(code, known, n=3, cutoff=0.4) or [other for other in known if code in other][:3]


def _topics() -> Iterator[Explanation]:
    title = "the fields of a native manifest"
    yield Explanation(code="contract", kind=TOPIC, title=title, facts=tuple(CONTRACT.items()))
    for word, (what, why, do) in RESOLVE.items():
        facts = (("means", why), *((("do", do),) if do else ()))
        yield Explanation(code=word, kind=TOPIC, title=what, facts=facts)


def _findings() -> Iterator[Explanation]:
    for code in CODES.values():
        yield _finding(code)


def _finding(code: Code) -> Explanation:
    return Explanation(
        code=code.id,
        kind=FINDING,
        title=code.title,
        facts=(
            ("level", code.level.value),
            ("sides", ", ".join(side.value for side in code.sides)),
            ("means", code.means),
            ("hits", code.hits),
            ("do", code.fix),
        ),
        example=_pair(code.example),
        near_miss=_pair(code.near_miss),
    )


def _pair(pair: tuple[Any, Any] | None) -> Sample | None:
    return None if pair is None else {"old": pair[0], "new": pair[1]}


def _lints() -> Iterator[Explanation]:
    lints = importlib.import_module("governance.core.lint").LINTS
    for explained in _table("governance.core.lint", "LINTS", LINT):
        row = lints[explained.code]
        word = "catalogue" if row.check_catalogue else "comment" if row.check_comment else "manifest"
        yield replace(explained, example={word: row.example}, near_miss={word: row.near_miss})


def _reasons() -> Iterator[Explanation]:
    yield from _table("governance.core.gate", "REASONS", REASON)


def _table(module: str, name: str, kind: str) -> Iterator[Explanation]:
    table = getattr(importlib.import_module(module), name)
    for row in table.values() if isinstance(table, Mapping) else table:
        labels = (("severity", "severity"), ("outcome", "outcome"), ("means", "means"), ("do", "fix"))
        facts = tuple((label, _plain(getattr(row, field))) for label, field in labels if getattr(row, field, None))
        yield Explanation(code=getattr(row, "id", None) or row.code, kind=kind, title=row.title, facts=facts)


def _plain(text: object) -> str:
    """A fix with what its places stand for, instead of the places."""
    meanings = {
        "{smallest}": "the smallest version that would do",
        "{level}": "the computed level",
        "{version}": "the version",
        "{baseline}": "the baseline",
        "{skill}": "the skill",
    }
    plain = str(text)
    for place, meaning in meanings.items():
        plain = plain.replace(place, meaning)
    return plain


def _errors() -> Iterator[Explanation]:
    for error in all_errors():
        facts = [("http status", str(error.status)), ("exit code", str(error.exit_code))]
        if error.__doc__ and "__doc__" in vars(error):
            facts.insert(0, ("means", inspect.cleandoc(error.__doc__).split("\n\n")[0].replace("\n", " ")))
        yield Explanation(code=error.code, kind=ERROR, title=error.title, facts=tuple(facts))
