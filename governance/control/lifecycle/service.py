"""Changes of live records: each under the skill's lock, each with its audit entry, the card along with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.control.consumers.service import needs_of
from governance.control.edge import check_match
from governance.control.lifecycle.holding import Changed, Held, HeldVersion, attempt_on, hold
from governance.control.lifecycle.replacing import DropIn, drop_ins, one_at_a_time, replacing_version
from governance.control.policies.service import policies_of
from governance.control.skills.asking import may_retire
from governance.control.skills.judging import Judge
from governance.core.dependents import Served, served_by
from governance.core.gate import Answer, Outcome, Reason, check_replacement
from governance.core.lifecycle import Deprecate, Event, Retire, Revert
from governance.core.skill import NO_REPLACEMENT, Status
from governance.core.versioning import Range, Version
from governance.errors import Conflict, GovernanceError, InvalidRequest, StillNeeded

MOST_SERVED: Final = 100


@dataclass(frozen=True, kw_only=True)
class Told:
    """What became of some versions of a skill, and whom that reaches."""

    skill: str
    versions: Sequence[Changed]
    left_alone: Sequence[tuple[Version, str]] = ()
    drop_in: Sequence[DropIn] = ()
    serves: Sequence[Served] = ()
    forced: Sequence[str] = ()

    def to_document(self, *, dry_run: bool) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "dry_run": dry_run,
            "versions": [one.to_document() for one in self.versions],
            "left_alone": [{"version": str(version), "why": why} for version, why in self.left_alone],
            "drop_in": [one.to_document() for one in self.drop_in],
            "serves": [one.to_document() for one in self.serves[:MOST_SERVED]],
            "more_served": max(0, len(self.serves) - MOST_SERVED),
            "forced": list(self.forced),
        }


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What a deprecation announces; ``replacement`` is ``name@range`` or NO_REPLACEMENT."""

    sunset: date
    replacement: str
    migration_guide: str | None = None
    reason: str | None = None


def deprecate(
    session: Session, skill: str, version: Version, ending: Ending, *, match: str | None, by: Caller, judge: Judge
) -> Told:
    """Announce the end of one version, or amend the announcement.

    Raises:
        NotFound: no such skill or version.
        PreconditionRequired, PreconditionFailed: ``match`` is not the ETag of the version as it stands.
        Conflict: its state does not allow it, or the replacement cannot stand.
        InvalidRequest: the date leaves too little notice, or moves earlier.
    """
    held = _hold_with(session, skill, ending.replacement)
    one = held.version(version)
    check_match(match, one.etag)
    return _deprecate(held, [one], ending, str(version), by=by, judge=judge)


def deprecate_range(
    session: Session, skill: str, wanted: Range | None, ending: Ending, *, by: Caller, judge: Judge
) -> Told:
    """The same for every version that ``wanted`` admits, prereleases too; None is the whole skill. All or none."""
    held = _hold_with(session, skill, ending.replacement)
    admitted = [
        one for one in held.versions.values() if wanted is None or wanted.admits(one.version, include_prerelease=True)
    ]
    if not admitted:
        raise Conflict(f"No version of {skill} is {wanted}.", fix=f"`govctl versions {skill}` lists all.")
    able = [one for one in admitted if one.published.state in (Status.ACTIVE, Status.DEPRECATED)]
    left = [(one.version, f"it is {one.published.state.value}") for one in admitted if one not in able]
    told = _deprecate(held, able, ending, str(wanted or "*"), by=by, judge=judge)
    return Told(skill=skill, versions=told.versions, left_alone=left, drop_in=told.drop_in, serves=told.serves)


def _hold_with(session: Session, skill: str, replacement: str) -> Held:
    check_replacement(replacement)
    if replacement == NO_REPLACEMENT:
        return hold(session, skill)
    one_at_a_time(session)
    return hold(session, skill, beside=[replacement.partition("@")[0]])


def _deprecate(
    held: Held, targets: Sequence[HeldVersion], ending: Ending, what: str, *, by: Caller, judge: Judge
) -> Told:
    replacing = replacing_version(held, targets, ending.replacement, by=by)
    notice = policies_of(held.session, [held.skill])[held.skill].notice
    event = Deprecate(sunset=ending.sunset, replacement=ending.replacement, migration_guide=ending.migration_guide)
    attempt = attempt_on("version.deprecate", held.skill, what, ending.reason)
    changed = []
    for one in targets:
        with _of_version(one, told=len(targets) > 1):
            changed.append(held.apply(one, event, attempt, by=by, notice=notice))
    drop_in = [] if replacing is None else list(drop_ins(held, targets, ending.replacement, replacing, judge=judge))
    held.done()
    return Told(skill=held.skill, versions=changed, drop_in=drop_in, serves=_serves(held, targets))


def undeprecate(
    session: Session,
    skill: str,
    version: Version,
    *,
    sunset: date | None,
    reason: str | None,
    match: str | None,
    by: Caller,
) -> Told:
    """Take a deprecation back. Past its sunset a version comes back as deprecated, with a later ``sunset``.

    Raises NotFound, PreconditionRequired, PreconditionFailed, InvalidRequest, and Conflict for what is retired.
    """
    held = hold(session, skill)
    one = held.version(version)
    check_match(match, one.etag)
    attempt = attempt_on("version.undeprecate", skill, version, reason)
    if one.published.state in (Status.DRAFT, Status.ACTIVE):
        now = one.lifecycle
        return Told(skill=skill, versions=[Changed(version=version, before=now, after=now, etag=one.etag)])
    changed = held.apply(one, Revert(sunset=sunset), attempt, by=by)
    held.done()
    return Told(skill=skill, versions=[changed], serves=_serves(held, [one]))


def switch(
    session: Session,
    skill: str,
    version: Version,
    event: Event,
    *,
    action: str,
    reason: str | None,
    match: str | None,
    by: Caller,
) -> Told:
    """Yank or unyank, disable or enable. Raises NotFound, PreconditionRequired, PreconditionFailed."""
    held = hold(session, skill)
    one = held.version(version)
    check_match(match, one.etag)
    serves = _serves(held, [one])
    changed = held.apply(one, event, attempt_on(action, skill, version, reason), by=by)
    held.done()
    return Told(skill=skill, versions=[changed], serves=serves)


def retire(
    session: Session,
    skill: str,
    version: Version,
    *,
    force: bool,
    reason: str | None,
    match: str | None,
    by: Caller,
    judge: Judge,
) -> Told:
    """Serve nobody from ``version`` any more, for good. ``can-i-retire`` is asked in the same transaction.

    Raises:
        NotFound, PreconditionRequired, PreconditionFailed.
        Conflict: it is not past its sunset; no force moves that.
        StillNeeded: something live depends on it; ``details["judgement"]`` is the answer of ``can-i-retire``.
        Forbidden, InvalidRequest: by force only who administers the namespace, and says why.
    """
    held = hold(session, skill)
    one = held.version(version)
    check_match(match, one.etag)
    blocks: list[Reason] = []
    if one.published.state is Status.SUNSET:
        judgement = may_retire(session, skill, version, by=by, judge=judge)
        blocks = [each for each in judgement.reasons if each.outcome is Outcome.BLOCK]
        if blocks and not force:
            raise still_needed(skill, version, judgement)
    if blocks:
        by.need(Right.ADMINISTER, skill.rpartition(".")[0])
        if not (reason or "").strip():
            raise InvalidRequest("What is forced says why; people will read it.", fix="Give a reason.")
    beside = {"forced": [each.code for each in blocks]} if blocks else None
    changed = held.apply(one, Retire(), attempt_on("version.retire", skill, version, reason), by=by, beside=beside)
    held.done()
    return Told(skill=skill, versions=[changed], forced=[each.message for each in blocks])


def _serves(held: Held, targets: Iterable[HeldVersion]) -> list[Served]:
    needs = needs_of(held.session, [held.skill]).get(held.skill, ())
    return list(served_by(held.skill, {one.version for one in targets}, held.published, needs))


def still_needed(skill: str, version: Version, judgement: Answer) -> StillNeeded:
    blocks = [each for each in judgement.reasons if each.outcome is Outcome.BLOCK]
    more = f" (and {len(blocks) - 1} more)" if len(blocks) > 1 else ""
    return StillNeeded(
        f"{skill} {version} is still needed: {blocks[0].message.rstrip('.')}{more}.",
        fix=blocks[0].fix,
        details={"judgement": judgement.to_document()},
    )


@contextmanager
def _of_version(one: HeldVersion, *, told: bool) -> Iterator[None]:
    """Where several are changed together, a refusal names the version it is about."""
    try:
        yield
    except GovernanceError as error:
        if not told:
            raise
        raise type(error)(f"{one.version}: {error.message}", fix=error.fix) from None
