"""The lints' report: what counts by skill, what many skills share told once, and what was silenced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.cli.cases import Subject, fingerprint_of, sources_by_skill
from governance.cli.linting import Linted
from governance.cli.present import TONES
from governance.cli.report import (
    Block,
    Bullets,
    Case,
    Change,
    Fact,
    Heading,
    Paragraph,
    Remark,
    Report,
    Suppression,
    Verdict,
    Weight,
)
from governance.cli.terminal import counted
from governance.core.lint import LintFinding, Severity
from governance.core.lint.baseline import Baseline
from governance.core.lint.model import Ignore, Located
from governance.errors import Place
from governance.importers import ImportResult

LINT: Final = "lint"

SHARED: Final = 4
"""From so many skills on the same warning is told once for all of them."""
_NAMED: Final = 5
_LISTED: Final = 20


@dataclass(frozen=True, kw_only=True)
class Book:
    """The baseline of a run, as its user named it."""

    file: str
    written: bool = False
    """By this run."""
    pruned: bool = False
    """This run took out what is stale."""


def lint_report(linted: Linted, result: ImportResult, *, failing: Collection[Severity], book: Book | None) -> Report:
    """The whole report; it fails where a finding of a ``failing`` severity counts."""
    findings = [one.finding for one in linted.counting]
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    documents = [_document(one) for one in linted.counting]
    silenced = [*_silenced_documents(linted, book)]
    document: dict[str, Any] = {
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "findings": documents,
        "suppressed": silenced,
    }
    if book is not None:
        document["baseline"] = {
            "file": book.file,
            "held": len(linted.held),
            "stale": [entry.to_document(count) for entry, count in sorted(linted.stale.items())],
            "not_looked_for": linted.unseen,
        }
    return Report(
        document=document,
        blocks=tuple(_blocks(linted, result, counts, book)),
        records=[*documents, *silenced],
        exit_code=1 if any(finding.severity in failing for finding in findings) else 0,
        cases=tuple(_cases(linted, result, failing, book)),
    )


def _document(one: Located) -> dict[str, Any]:
    return one.finding.to_document() | _at(one.place)


def _at(place: Place | None) -> dict[str, Any]:
    if place is None or place.file is None:
        return {}
    return {"file": place.file, "line": place.line} | ({"column": place.column} if place.column else {})


def _silenced_documents(linted: Linted, book: Book | None) -> Iterator[dict[str, Any]]:
    for one, ignore in linted.commented:
        yield _document(one) | {"suppressed": {"by": "comment", "reason": ignore.reason, **_at(ignore.place)}}
    for one in linted.held:
        yield _document(one) | {"suppressed": {"by": "baseline", "file": book.file if book else ""}}


def _blocks(linted: Linted, result: ImportResult, counts: dict[Severity, int], book: Book | None) -> Iterator[Block]:
    told = ", ".join(f"{count} {severity.value}{'' if count == 1 else 's'}" for severity, count in counts.items())
    worst = next((severity.value for severity in Severity if counts[severity]), "clean")
    skills = counted(len(result.imported) + len(result.refused), "skill")
    yield Verdict(word=worst, sentence=f"{told} in {skills}{_aside(linted, book)}.", tone=TONES.get(worst, "good"))
    shared = _shared(linted.counting)
    by_skill: dict[str, list[Change]] = {}
    for one in linted.counting:
        if _sameness(one.finding) not in shared:
            by_skill.setdefault(one.finding.skill, []).append(_change(one))
    for skill, changes in by_skill.items():
        yield Heading(text=skill)
        yield from changes
    if shared:
        yield Heading(text="In many skills")
        yield from (_shared_change(members) for members in shared.values())
    if linted.stale:
        yield from _stale(linted.stale, book)


def _aside(linted: Linted, book: Book | None) -> str:
    """What does not count, as the end of the first sentence."""
    silenced = f"; {len(linted.commented)} silenced by comments" if linted.commented else ""
    if book is None:
        return silenced
    done = "recorded in" if book.written else "held by"
    unseen = f" ({linted.unseen} of its entries were not looked for)" if linted.unseen else ""
    return f"{silenced}; {len(linted.held)} {done} {book.file}{unseen}"


def _stale(stale: Baseline, book: Book | None) -> Iterator[Block]:
    entries = sorted(stale.items())
    file = book.file if book else ""
    yield Heading(text="No longer found")
    told = "1 entry" if stale.total() == 1 else f"{stale.total()} entries"
    do = "taken out" if book and book.pruned else "--prune takes out what is found no longer"
    yield Paragraph(text=f"{told} of {file}: {do}.")
    lines = [f"{entry.skill}: {entry.lint} at {entry.pointer or '/'}" for entry, _ in entries[:_LISTED]]
    more = [f"…and {len(entries) - _LISTED} more"] if len(entries) > _LISTED else []
    yield Bullets(items=(*lines, *more))


_Sameness = tuple[str, str, str, str | None]


def _sameness(finding: LintFinding) -> _Sameness:
    return finding.id, finding.pointer, finding.message, finding.client


def _shared(counting: Sequence[Located]) -> dict[_Sameness, list[Located]]:
    """Warnings that many skills share, the most frequent first."""
    warnings = [one for one in counting if one.finding.severity is not Severity.ERROR]
    often = Counter(_sameness(one.finding) for one in warnings)
    shared: dict[_Sameness, list[Located]] = {key: [] for key, count in often.most_common() if count >= SHARED}
    for one in warnings:
        if _sameness(one.finding) in shared:
            shared[_sameness(one.finding)].append(one)
    return shared


def _change(one: Located) -> Change:
    finding = one.finding
    where = (Fact(label="where", value=str(one.place)),) if one.place and one.place.file else ()
    return _told(finding, (*where, Fact(label="do", value=finding.fix)))


def _shared_change(members: Sequence[Located]) -> Change:
    names = list(dict.fromkeys(one.finding.skill for one in members))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    facts = (
        Fact(label="skills", value=f"{len(names)}: {', '.join(names[:_NAMED])}{more}"),
        Fact(label="do", value=members[0].finding.fix),
    )
    return _told(members[0].finding, facts)


def _told(finding: LintFinding, facts: tuple[Fact, ...]) -> Change:
    client = f" ({finding.client})" if finding.client else ""
    return Change(
        code=finding.id,
        place=(finding.pointer or "/") + client,
        tone=TONES[finding.severity.value],
        message=finding.message,
        facts=facts,
    )


def _cases(linted: Linted, result: ImportResult, failing: Collection[Severity], book: Book | None) -> Iterator[Case]:
    """One case a skill."""
    counting: dict[str, list[Remark]] = {item.manifest.name: [] for item in result.imported}
    suppressed: dict[str, list[Remark]] = {}
    find = sources_by_skill(result.imported)

    def remark(one: Located, suppression: Suppression | None = None) -> Remark:
        finding = one.finding
        subject = Subject.of(finding.skill, find(finding.skill, finding.version))
        fails = finding.severity in failing and suppression is None
        said = subject.remark(
            _told(finding, (Fact(label="do", value=finding.fix),)),
            Weight.ERROR if fails else Weight.WARNING,
            fingerprint=fingerprint_of(finding.skill, finding.id, finding.pointer, finding.client or "", finding.found),
            pointer=finding.pointer,
        )
        return replace(said, place=one.place or said.place, suppression=suppression)

    for one in linted.counting:
        counting.setdefault(one.finding.skill, []).append(remark(one))
    for one, why in _suppressions(linted, book):
        suppressed.setdefault(one.finding.skill, []).append(remark(one, why))
    for skill, remarks in counting.items():
        origin = Subject.of(skill, find(skill, "")).origin
        silent = tuple(suppressed.get(skill, ()))
        yield Case(skill=skill, part=LINT, remarks=tuple(remarks), place=origin, suppressed=silent)


def _suppressions(linted: Linted, book: Book | None) -> Iterable[tuple[Located, Suppression]]:
    yield from ((one, _by_comment(ignore)) for one, ignore in linted.commented)
    known = Suppression(reason=f"held by {book.file}" if book else "", in_source=False)
    yield from ((one, known) for one in linted.held)


def _by_comment(ignore: Ignore) -> Suppression:
    return Suppression(reason=ignore.reason, in_source=True, place=ignore.place)
