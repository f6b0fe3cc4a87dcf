"""Drafts begin to serve, through the gate once more; and what nobody uses becomes a draft again."""

from __future__ import annotations

from dataclasses import replace

from sqlmodel import Session

from governance.control.auth.roles import Caller
from governance.control.database import time_of
from governance.control.edge import check_match
from governance.control.exceptions.service import use
from governance.control.lifecycle.holding import Changed, Held, HeldVersion, attempt_on, hold
from governance.control.lifecycle.service import Told, still_needed
from governance.control.skills.asking import may_retire
from governance.control.skills.judging import Judge, Terms
from governance.control.skills.service import load_replacement, refused
from governance.control.skills.surroundings import surroundings_of
from governance.core.dependents import judged_against
from governance.core.gate import Outcome
from governance.core.lifecycle import Activate, Revert
from governance.core.lines import line_containing, lines_of
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import Conflict, StillNeeded


def activate(
    session: Session, skill: str, version: Version, *, reason: str | None, match: str | None, by: Caller, judge: Judge
) -> Told:
    """Let a draft serve. What was published since it was judged counts: the gate is asked again.

    Raises:
        NotFound, PreconditionRequired, PreconditionFailed.
        GateRefused: beside what is published now it may not in.
        Conflict: it is no draft, or it would stand in another line than the one it was published into.
    """
    held = hold(session, skill)
    one = held.version(version)
    check_match(match, one.etag)
    if one.published.state is Status.DRAFT:
        _judge_again(held, one, by=by, judge=judge)
    changed = held.apply(one, Activate(), attempt_on("version.activate", skill, version, reason), by=by)
    held.done()
    return Told(skill=skill, versions=[changed])


def _judge_again(held: Held, one: HeldVersion, *, by: Caller, judge: Judge) -> None:
    manifest = replace(judge.manifest(one.row), status=Status.ACTIVE.value)
    others = [other.row for other in held.versions.values() if other is not one]
    around = surroundings_of(held.session, [held.skill])[held.skill]
    decision = judge.decide(manifest, others, Terms(), load_replacement(held.session, manifest, by=by), around)
    if decision.outcome is Outcome.BLOCK:
        raise refused(decision)
    use(held.session, decision.exceptions_used, subject=f"{held.skill}@{one.version}", by=by, at=time_of(held.session))
    active = [replace(each, state=Status.ACTIVE) if each is one.published else each for each in held.published]
    line = line_containing(lines_of(active), one.version)
    if line is None or str(line.opens) != decision.line:
        raise Conflict(
            f"{held.skill} {one.version} was published into the line of {line.opens if line else one.version}; "
            f"beside what is published now it would stand in that of {decision.line}.",
            fix="Publish the same contract under the next number.",
        )


def draft_again(
    session: Session, skill: str, version: Version, *, reason: str | None, match: str | None, by: Caller, judge: Judge
) -> Told:
    """Make an active version a draft again: nobody is served by it, and no line hangs on it.

    Raises NotFound, PreconditionRequired, PreconditionFailed, Conflict and StillNeeded.
    """
    held = hold(session, skill)
    one = held.version(version)
    check_match(match, one.etag)
    attempt = attempt_on("version.draft", skill, version, reason)
    if one.published.state is Status.DRAFT:
        now = one.lifecycle
        return Told(skill=skill, versions=[Changed(version=version, before=now, after=now, etag=one.etag)])
    if one.published.state is not Status.ACTIVE:
        raise Conflict(f"{skill} {version} is {one.published.state.value}.", fix="Only what is active becomes a draft.")
    hanging = judged_against(version, held.published)
    if hanging:
        names = ", ".join(map(str, hanging))
        raise StillNeeded(
            f"{names} {'was' if len(hanging) == 1 else 'were'} judged against {skill} {version}.",
            fix="Deprecate it instead.",
        )
    judgement = may_retire(session, skill, version, by=by, judge=judge)
    if judgement.outcome is Outcome.BLOCK:
        raise still_needed(skill, version, judgement)
    changed = held.apply(one, Revert(), attempt, by=by)
    held.done()
    return Told(skill=skill, versions=[changed])
