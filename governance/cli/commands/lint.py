"""What makes a skill hard to route, to call or to trust. Errors fail the run, warnings do not.

--profile adds what a client refuses: openai, anthropic, gemini, mcp.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches

from governance.cli.cases import lint_cases
from governance.cli.present import TONES
from governance.cli.report import Block, Change, Fact, Heading, Report, Verdict
from governance.cli.run import Call
from governance.cli.sources import existing
from governance.cli.terminal import counted
from governance.core.lint import CLIENTS, LINTS, LintFinding, Severity, findings_of, lint_catalogue
from governance.errors import InvalidContract, UsageError
from governance.importers import ImportResult, Refused, import_paths

JUDGES = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files, or folders to walk")
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    parser.add_argument("--profile", action="append", default=[], choices=tuple(CLIENTS), help="a client; repeatable")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="these lints alone; repeatable")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "never"), default="error", help="the mildest that fails"
    )


def run(call: Call) -> int:
    """0 when nothing of the severity that fails was found, else 1."""
    wanted = call.arguments
    for unknown in set(wanted.only) - LINTS.keys():
        near = get_close_matches(unknown, LINTS, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(f"There is no lint {unknown!r}.", fix=f"{hint}`govctl explain` lists all.")
    result = import_paths(existing(wanted.paths), namespace=wanted.namespace)
    if not result.imported and not result.refused:
        raise UsageError("There is no skill in what was given.", fix="`govctl import PATH` says what was passed over.")
    findings = [
        *(finding for refused in result.refused for finding in _refused(refused)),
        *lint_catalogue(result.accepted, profiles=wanted.profile),
    ]
    if wanted.only:
        findings = [finding for finding in findings if finding.id in wanted.only]
    failing = {"error": {Severity.ERROR}, "warning": set(Severity), "never": set()}[wanted.fail_on]
    return call.output.emit(_report(result, findings, failing))


def _refused(refused: Refused) -> Iterable[LintFinding]:
    name = refused.name or str(refused.origin)
    if isinstance(refused.error, InvalidContract):
        return findings_of(refused.error, skill=name)
    found = findings_of(InvalidContract(refused.error.message, faults=refused.error.faults), skill=name)
    return [replace(one, fix=refused.error.fix or one.fix) for one in found]


def _report(result: ImportResult, findings: list[LintFinding], failing: set[Severity]) -> Report:
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    skills = len(result.imported) + len(result.refused)
    told = ", ".join(f"{count} {severity.value}{'' if count == 1 else 's'}" for severity, count in counts.items())
    worst = next((severity.value for severity in Severity if counts[severity]), "clean")
    verdict = Verdict(word=worst, sentence=f"{told} in {counted(skills, 'skill')}.", tone=TONES.get(worst, "good"))
    origins = {item.manifest.name: item for item in result.imported}
    documents = []
    for finding in findings:
        document = finding.to_document()
        place = origins[finding.skill].locate(finding.pointer) if finding.skill in origins else None
        if place is not None:
            document |= {"file": place.file, "line": place.line}
        documents.append(document)
    return Report(
        document={"errors": counts[Severity.ERROR], "warnings": counts[Severity.WARNING], "findings": documents},
        blocks=(verdict, *_blocks(findings, documents)),
        records=documents,
        exit_code=1 if any(finding.severity in failing for finding in findings) else 0,
        cases=tuple(lint_cases(documents, result.imported, fails={severity.value for severity in failing})),
    )


def _blocks(findings: list[LintFinding], documents: list[dict[str, object]]) -> Iterator[Block]:
    by_skill: dict[str, list[Change]] = {}
    for finding, document in zip(findings, documents, strict=True):
        facts = []
        if document.get("file"):
            facts.append(Fact(label="where", value=f"{document['file']}:{document['line']}"))
        facts.append(Fact(label="do", value=finding.fix))
        client = f" ({finding.client})" if finding.client else ""
        change = Change(
            code=finding.id,
            place=(finding.pointer or "/") + client,
            tone=TONES[finding.severity.value],
            message=finding.message,
            facts=tuple(facts),
        )
        by_skill.setdefault(finding.skill, []).append(change)
    for skill, changes in by_skill.items():
        yield Heading(text=skill)
        yield from changes
