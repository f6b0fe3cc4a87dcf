"""What real sources come to: read, linted, exported and read again, as the table of ``docs/sources.md``.

``python -m tests.importers.real_sources`` writes the page; a test fails until it is the one that is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from governance.cli.markdown import row
from governance.core.contract import SkillManifest
from governance.core.lint import CLIENTS, LINTS, lint_catalogue
from governance.importers import ImportResult, import_paths, import_text
from governance.importers.export import export_catalogue, export_native, export_skill_md
from governance.importers.export_a2a import export_a2a
from governance.importers.export_functions import export_anthropic, export_openai

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT / "tests" / "data"
PAGE: Final = ROOT / "docs" / "sources.md"

SOURCES: Final = {
    "github-mcp-server": "catalogues/github-mcp-server.json",
    "kubernetes-mcp-server": "catalogues/kubernetes-mcp-server.json",
    "@playwright/mcp": "catalogues/playwright-mcp.json",
    "@notionhq/notion-mcp-server": "catalogues/notion-mcp-server.json",
    "mcp-server-git": "catalogues/mcp-server-git.json",
    "tool versions of 16 servers": "transitions.jsonl",
    "A2A agent cards": "catalogues/a2a_agent_cards.json",
    "SKILL.md front matters": "skill_front_matters.json",
}
FORMS: Final[dict[str, Callable[[SkillManifest], str]]] = {
    "native YAML": export_native,
    "native JSON": lambda skill: export_native(skill, format="json"),
    "MCP": lambda skill: json.dumps(export_catalogue([skill])),
    "OpenAI (chat)": lambda skill: json.dumps(export_openai([skill]).document),
    "OpenAI (responses)": lambda skill: json.dumps(export_openai([skill], flat=True).document),
    "Anthropic": lambda skill: json.dumps(export_anthropic([skill]).document),
    "A2A": lambda skill: json.dumps(export_a2a([skill]).document),
    "SKILL.md": export_skill_md,
}
TOOL_LISTS: Final = ("MCP", "OpenAI (chat)", "OpenAI (responses)", "Anthropic")
"""What can hold only skills that have an input schema."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One source: its parts as they were read, and what the lints say of them together."""

    results: Sequence[ImportResult]
    lints: Counter[str]
    clients: Counter[str]

    @property
    def skills(self) -> list[SkillManifest]:
        return [skill for result in self.results for skill in result.accepted]

    @property
    def refused(self) -> Counter[str]:
        """Reasons, and how often each."""
        return Counter(
            f"{one.error.faults[0].pointer} {one.error.faults[0].message}".strip()
            if one.error.faults
            else one.error.message
            for result in self.results
            for one in result.refused
        )

    @property
    def warned(self) -> Counter[str]:
        return Counter(warning.message for result in self.results for warning in result.warnings)


@cache
def outcome(file: str) -> Outcome:
    """A source of the test data, read as its users have it."""
    if file == "transitions.jsonl":
        results = list(_versions())
    elif file == "skill_front_matters.json":
        results = [import_text(text, version="1.0.0") for text in _front_matters()]
    else:
        results = [import_paths([DATA / file], version="1.0.0")]
    found = [
        finding for result in results for finding in lint_catalogue(result.accepted, profiles=list(CLIENTS), most=1000)
    ]
    return Outcome(
        results=results,
        lints=Counter(finding.id for finding in found if not finding.client),
        clients=Counter(finding.client for finding in found if finding.client),
    )


def _versions() -> Iterator[ImportResult]:
    """Each side of each step by itself: the two are versions of one tool."""
    for line in (DATA / "transitions.jsonl").read_text(encoding="utf-8").splitlines():
        step = json.loads(line)
        for side in ("old", "new"):
            if step[side] is not None:
                yield import_text(json.dumps([{"name": step["tool"], **step[side]}]), version="1.0.0")


def _front_matters() -> Iterator[str]:
    entries = json.loads((DATA / "skill_front_matters.json").read_text(encoding="utf-8"))
    yield from (f"---\n{entry['front_matter']}\n---\n# Do it\n" for entry in entries)


def fits(skill: SkillManifest, form: str) -> bool:
    """Can the dialect hold this skill at all?"""
    if form == "SKILL.md":
        return "skill_md" in skill.extensions
    return form not in TOOL_LISTS or skill.input_schema is not None


def comes_back(skill: SkillManifest, form: str) -> bool:
    """Is it the same contract, after it was written in the dialect and read again?"""
    result = import_text(FORMS[form](skill), version="1.0.0")
    return [again.contract_digest for again in result.accepted] == [skill.contract_digest] and not result.refused


_INTRODUCTION: Final = """\
# What real sources come to

Counted by `python -m tests.importers.real_sources` over the tool lists, cards and skill files of `tests/data`, which
other projects published (`tests/data/LICENSES.md`); a test fails until this page says what is counted.

## Read
"""
_LINTED: Final = """
A refused skill hides no other. What is not valid YAML in a front matter is read as text where that is what was meant,
with a warning.

## Linted

Errors block, and there is none. Warnings by rule, in skills offered together:
"""
_CLIENTS: Final = """
No tool list says who owns a tool or shows a call, and few say what comes out, so three rules speak of every tool.
Output, effects and examples may stand in a tool's `_meta`, under `skill-governance/contract`, but its owner may not:
that is not for a server to say. `govctl lint --write-baseline` holds what is left.

What a client would refuse, with `--profile`:
"""
_WRITTEN: Final = """
## Written and read again

Contracts that came back with the same digest, of those the dialect can hold.
"""


@cache
def lost(file: str, form: str) -> tuple[str, ...]:
    """The skills of a source whose contract does not come back from a dialect that can hold it."""
    return tuple(skill.name for skill in outcome(file).skills if fits(skill, form) and not comes_back(skill, form))


def page() -> str:
    """The whole page."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    outcomes = {name: outcome(file) for name, file in SOURCES.items()}
    yield from _INTRODUCTION.split("\n")
    yield row(("source", "accepted", "refused", "warnings"))
    yield row(("---",) * 4)
    for name, one in outcomes.items():
        yield row((name, str(len(one.skills)), _with_reasons(one.refused), _with_reasons(one.warned)))
    yield from _LINTED.split("\n")
    yield from _counts(outcomes, lambda one: one.lints, [lint for lint in LINTS if not lint.startswith("client.")])
    yield from _CLIENTS.split("\n")
    yield from _counts(outcomes, lambda one: one.clients, list(CLIENTS))
    yield from _WRITTEN.split("\n")
    yield row(("source", *FORMS))
    yield row(("---",) * (1 + len(FORMS)))
    for name, file in SOURCES.items():
        yield row((name, *(_round_trip(file, form) for form in FORMS)))


def _round_trip(file: str, form: str) -> str:
    held = sum(fits(skill, form) for skill in outcome(file).skills)
    return f"{held - len(lost(file, form))} of {held}" if held else "-"


def _counts(
    outcomes: dict[str, Outcome], count: Callable[[Outcome], Counter[str]], order: Iterable[str]
) -> Iterator[str]:
    yield row(("", *outcomes))
    yield row(("---",) * (1 + len(outcomes)))
    for key in order:
        numbers = [count(one)[key] for one in outcomes.values()]
        if any(numbers):
            yield row((f"`{key}`", *(str(number) if number else "-" for number in numbers)))


def _with_reasons(reasons: Counter[str]) -> str:
    told = "; ".join(f"{count} × {reason}" for reason, count in sorted(reasons.items()))
    return f"{reasons.total()}: {told.replace('|', chr(92) + '|')}" if reasons else "0"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
