"""One run of the lints over what was read: what counts, what a comment silences, what a baseline holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from governance.core.lint import LINTS, LintFinding, Severity, findings_of, lint_catalogue, lint_comments
from governance.core.lint.baseline import Baseline, hold, recorded
from governance.core.lint.ignoring import honour
from governance.core.lint.model import Ignore, Located
from governance.errors import InvalidContract, Place
from governance.importers import Imported, ImportResult, Refused
from governance.importers.skill_md import BODY

MOST: Final = 1_000
"""Findings of one lint in one skill; a baseline must see them all."""


@dataclass(frozen=True, kw_only=True)
class Linted:
    """What one run comes to."""

    counting: tuple[Located, ...]
    """Errors first."""
    commented: tuple[tuple[Located, Ignore], ...] = ()
    """Warnings that a comment silences."""
    held: tuple[Located, ...] = ()
    """Warnings that the baseline holds."""
    stale: Baseline
    unseen: int = 0
    """Entries of the baseline that this run could not look for."""
    recorded: Baseline
    """What a baseline written now would hold."""


def lint_sources(
    result: ImportResult,
    *,
    profiles: Sequence[str] = (),
    only: Collection[str] = (),
    baseline: Baseline | None = None,
    recording: bool = False,
) -> Linted:
    """Lint everything that was read.

    Args:
        result: what was read.
        profiles: clients whose limits count, too.
        only: the lints that count; empty: all.
        baseline: warnings that are known.
        recording: every warning becomes known now.
    """
    judged = frozenset(
        row.id for row in LINTS.values() if (not only or row.id in only) and (profiles or row.check_client is None)
    )
    found = [
        *_refusals(result.refused),
        *_located(lint_catalogue(result.accepted, profiles=profiles, most=MOST), result),
    ]
    heard = honour([one for one in found if one.finding.id in judged], result.ignores)
    about = (one for one in _about(heard.ignores, result, judged) if one.finding.id in judged)
    counting = sorted([*heard.kept, *about], key=lambda one: one.finding.severity is not Severity.ERROR)
    now = recorded(counting)
    looked = hold(
        counting,
        now if recording else baseline or Counter(),
        skills=frozenset(map(_spelled, result.imported)),
        lints=judged,
        clients=frozenset(profiles),
    )
    return Linted(
        counting=looked.new,
        commented=heard.silenced,
        held=looked.held,
        stale=looked.stale,
        unseen=looked.unseen,
        recorded=now,
    )


def _located(findings: Iterable[LintFinding], result: ImportResult) -> Iterator[Located]:
    sources = {(item.manifest.name, item.manifest.version): item for item in result.imported}
    for finding in findings:
        item = sources[finding.skill, finding.version]
        yield Located(finding=finding, skill=_spelled(item), place=finding_place(item, finding))


def finding_place(item: Imported, finding: LintFinding) -> Place:
    """The line a finding speaks of, inside the text of a SKILL.md too."""
    place = item.locate(finding.pointer) or item.origin
    if finding.pointer == BODY and item.importer == "skill_md" and place.line is not None:
        return replace(place, line=place.line + finding.line)
    return place


def _refusals(refused: Iterable[Refused]) -> Iterator[Located]:
    for one in refused:
        name = one.name or str(one.origin)
        error = one.error
        if not isinstance(error, InvalidContract):
            error = InvalidContract(error.message, fix=error.fix, faults=error.faults)
        places = [fault.place for fault in error.faults] or [None]
        for finding, place in zip(findings_of(error, skill=name), places, strict=False):
            fixed = (
                finding if isinstance(one.error, InvalidContract) else replace(finding, fix=error.fix or finding.fix)
            )
            yield Located(finding=fixed, skill=name, place=place or one.origin)


def _about(ignores: Iterable[Ignore], result: ImportResult, judged: Collection[str]) -> Iterator[Located]:
    """What is wrong with the comments. Beside a skill that could not be read nobody knows which were needed."""
    unread = {refused.origin.file for refused in result.refused}
    heard = (
        replace(ignore, idle=tuple(lint for lint in ignore.idle if lint in judged and ignore.place.file not in unread))
        for ignore in ignores
    )
    for ignore, finding in lint_comments(heard):
        item = _owner(ignore.place, result.imported)
        name = item.manifest.name if item else str(ignore.place.file or "")
        yield Located(finding=replace(finding, skill=name), skill=_spelled(item) if item else name, place=ignore.place)


def _owner(place: Place, imported: Iterable[Imported]) -> Imported | None:
    """The skill of the same file that begins last before the place, else its first."""
    here = [item for item in imported if item.origin.file == place.file]
    before = [item for item in here if (item.origin.line or 0) <= (place.line or 0)]
    return before[-1] if before else next(iter(here), None)


def _spelled(item: Imported) -> str:
    return item.manifest.external_name or item.manifest.name
