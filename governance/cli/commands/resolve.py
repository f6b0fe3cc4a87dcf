"""Which version serves a caller, in which line, and what newer version it is held back from.

Write NAME, NAME@RANGE or NAME RANGE. Several skills at once: NAME@RANGE each.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from governance.cli.arguments import plain
from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.present import finding_change
from governance.cli.report import Block, Bullets, Change, Fact, Report, Verdict
from governance.cli.run import Call
from governance.cli.terminal import Style
from governance.cli.text import render_text
from governance.client import error_from_problem
from governance.core.consent import SHELL, spelled
from governance.errors import UsageError
from governance.wire import Problem, Resolution, ResolveQuestion

VALUES_MAY_BEGIN_WITH_DASH = True
_MOST_TOLD = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skills", metavar="NAME[@RANGE]", nargs="+", type=plain, help="what the caller asks for")
    parser.add_argument("--consumer", help="the name of the calling agent; without it each call is a first contact")
    parser.add_argument("--environment", help="such as prod")
    parser.add_argument("--accept-breaking-change", action="store_true", help="take the newest line; recorded")
    parser.add_argument("--accept-line", metavar="VERSION", help="accept the line this version opened, from now on")


def run(call: Call) -> int:
    """0 when every skill is served; one alone ends with its problem's own code, of several 7."""
    wanted = call.arguments
    if wanted.accept_line is not None and wanted.consumer is None:
        raise UsageError("--accept-line goes on record for somebody.", fix="Add --consumer NAME.")
    with well_formed():
        questions = [
            ResolveQuestion(
                skill=name,
                range=admitted,
                accept_breaking_change=wanted.accept_breaking_change,
                accept_line=wanted.accept_line,
            )
            for name, admitted in _asked(wanted.skills)
        ]
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        answer = plane.resolve_many(questions, consumer=wanted.consumer, environment=wanted.environment)
    problems = [result.problem for result in answer.results if result.problem is not None]
    if problems and len(answer.results) == 1:
        call.output.note(render_text(list(_in_the_way(problems[0])), Style()).rstrip())
        error = error_from_problem(problems[0])
        error.fix = _fix(problems[0], wanted.consumer)
        raise error
    blocks: list[Block] = []
    for result in answer.results:
        if result.resolution is not None:
            blocks += _served(result.resolution, wanted.consumer)
        elif result.problem is not None:
            blocks += _refused(result.skill, result.problem, wanted.consumer)
    documents = [document(result) for result in answer.results]
    return call.output.emit(
        Report(
            document={"results": documents},
            blocks=tuple(blocks),
            records=documents,
            exit_code=7 if problems else 0,
        )
    )


def _asked(words: list[str]) -> list[tuple[str, str | None]]:
    if len(words) == 2 and "@" not in words[0] and not words[1][:1].isalpha():
        return [(words[0], words[1])]
    asked = []
    for word in words:
        name, at, admitted = word.partition("@")
        if at and not admitted:
            raise UsageError(f"{word!r} has no range after the @.", fix="Write NAME@^1.2, or NAME alone.")
        asked.append((name, admitted or None))
    return asked


def _served(resolution: Resolution, consumer: str | None) -> list[Block]:
    sentence = f"{resolution.skill} {resolution.version}, in the line of {resolution.line} ({resolution.basis})"
    blocks: list[Block] = [Verdict(word=resolution.state.value, sentence=f"{sentence}.", tone="good")]
    if resolution.held_back is not None:
        held = resolution.held_back
        message = f"Held back from {held.version}: {held.why}"
        ways = tuple(Fact(label="do", value=do) for do in _ways(held.ways, resolution.skill, consumer))
        blocks.append(Change(code="held-back", place="", tone="warn", message=message, facts=ways))
        blocks += [finding_change(finding) for finding in held.opened_by]
    if resolution.warnings:
        blocks.append(Bullets(items=tuple(str(warning.get("message")) for warning in resolution.warnings)))
    return blocks


def _refused(skill: str, problem: Problem, consumer: str | None) -> list[Block]:
    sentence = f"{skill}: {problem.detail} {_fix(problem, consumer)}".strip()
    return [Verdict(word="refused", sentence=sentence, tone="bad"), *_in_the_way(problem)]


def _in_the_way(problem: Problem) -> Iterator[Change]:
    """The breaks between the caller and the newest version: those that matter to it where that is known."""
    details = problem.details
    matters = details.get("matters")
    found = matters.get("findings") if isinstance(matters, dict) else details.get("opened_by")
    for finding in found[:_MOST_TOLD] if isinstance(found, list) else ():
        yield finding_change(finding)


def _fix(problem: Problem, consumer: str | None) -> str:
    """The problem's own, but the ways to accept a line in the words of the command line."""
    details = problem.details or {}
    ways = details.get("ways")
    if not isinstance(ways, list) or not all(isinstance(way, dict) for way in ways):
        return problem.fix
    return "Accept a line: " + "; ".join(_ways(ways, str(details.get("skill", "")), consumer)) + "."


def _ways(ways: Sequence[Mapping[str, Any]], skill: str, consumer: str | None) -> list[str]:
    return [spelled(way, SHELL, skill=skill, consumer=consumer) for way in ways]
