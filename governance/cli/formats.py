"""FORMATS: how a report is written, one row each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from governance.cli.exact import dumps
from governance.cli.markdown import MARKER, markdown_row, render_markdown
from governance.cli.problem import problem
from governance.cli.report import Report
from governance.cli.terminal import Style, escaped_json, one_line
from governance.cli.text import render_text
from governance.errors import GovernanceError


@dataclass(frozen=True, kw_only=True)
class Format:
    """One output format: how a whole report is rendered."""

    id: str
    suffixes: tuple[str, ...]
    """File endings that mean this format when ``--out`` comes without ``-o``."""
    title: str
    render: Callable[[Report, Style], str]
    rows: Rows | None = None
    """The same for answers that come one by one; None where only a whole report makes sense."""
    problem: Callable[[GovernanceError], str] | None = None
    """How an error that ended the run is told; None: on standard error alone."""
    judges: bool = False
    """It tells what was judged, so a command that judges nothing has nothing for it."""
    beside: Callable[[Report], str] | None = None
    """What it writes elsewhere too; gives back what went wrong, or nothing."""
    quotes: Callable[[str], str] | None = None
    """It may share standard output with one other report, which goes through this function."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """How a stream of answers is written: before, between and after them, and one of them."""

    head: str = ""
    between: str = ""
    tail: str = ""
    row: Callable[[Any, Line], str]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One answer of a stream for people: a word with its tone, then cells."""

    word: str
    tone: str
    cells: tuple[str, ...]


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Exact JSON that is harmless on a terminal."""
    return escaped_json(dumps(value, indent=indent))


FORMATS: Final[dict[str, Format]] = {
    row.id: row
    for row in (
        Format(
            id="text",
            suffixes=(".txt",),
            title="for people: the verdict line first, then each change",
            render=lambda report, style: render_text(report.blocks, style),
            rows=Rows(row=lambda document, line: f"{line.word.upper():<10}  {_joined(line.cells)}\n"),
        ),
        Format(
            id="json",
            suffixes=(".json",),
            title="one document",
            render=lambda report, style: json_text(report.document, indent=2) + "\n",
            rows=Rows(head="[\n", between=",\n", tail="\n]\n", row=lambda document, line: json_text(document)),
            problem=lambda error: json_text(problem(error), indent=2) + "\n",
        ),
        Format(
            id="jsonl",
            suffixes=(".jsonl", ".ndjson"),
            title="one JSON document a line",
            render=lambda report, style: "".join(json_text(record) + "\n" for record in report.lines),
            rows=Rows(row=lambda document, line: json_text(document) + "\n"),
            problem=lambda error: json_text(problem(error)) + "\n",
        ),
        Format(
            id="markdown",
            suffixes=(".md", ".markdown"),
            title="for a pull request: one comment that the next run replaces",
            render=lambda report, style: _comment(report),
            rows=Rows(row=lambda document, line: markdown_row(line.word, line.cells) + "\n"),
        ),
        Format(
            id="sarif",
            suffixes=(".sarif",),
            title="SARIF 2.1.0, for code scanning (check, diff, drift, lint, publish, catalogue, can-i-…)",
            render=lambda report, style: _sarif().render_sarif(report),
            problem=lambda error: _sarif().sarif_problem(error),
            judges=True,
        ),
        Format(
            id="junit",
            suffixes=(".xml",),
            title="JUnit XML, a case for each part of each skill (the same commands)",
            render=lambda report, style: _junit().render_junit(report),
            problem=lambda error: _junit().junit_problem(error),
            judges=True,
        ),
        Format(
            id="github",
            suffixes=(),
            title="annotations in GitHub Actions, the rest in the job's summary (the same commands)",
            render=lambda report, style: _github().render_github(report),
            problem=lambda error: _github().github_problem(error),
            judges=True,
            beside=lambda report: _github().write_summary(report),
            quotes=lambda text: _github().quoted(text),
        ),
    )
}


def _comment(report: Report) -> str:
    judged = report.cases is not None
    return render_markdown(report.blocks, fold=judged, marker=MARKER if judged else "")


# Imported when they are used: no other run pays for them.
def _sarif() -> ModuleType:
    return importlib.import_module("governance.cli.reports.sarif")


def _junit() -> ModuleType:
    return importlib.import_module("governance.cli.reports.junit")


def _github() -> ModuleType:
    return importlib.import_module("governance.cli.reports.github")


def _joined(cells: Sequence[str]) -> str:
    return "  ".join(one_line(cell) for cell in cells if cell)
