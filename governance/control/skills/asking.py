"""Questions about a published version: may it be deployed, may it be retired, whom would each version serve?

What is on record is read in one transaction, in as many queries for any number of consumers; comparisons are made
when it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.control.consumers import environments, standing
from governance.control.database import Database
from governance.control.skills import leading_here
from governance.control.skills.judging import Judge
from governance.control.skills.reading import Found, history, no_such_skill, published
from governance.control.skills.surroundings import surroundings_of
from governance.core.consent.serving import obstacle
from governance.core.consumers import Change, Need, matrix
from governance.core.dependents import references_to
from governance.core.gate import (
    REASONS,
    Answer,
    HistoryItem,
    Outcome,
    Question,
    Reason,
    Surroundings,
    answer,
    readiness,
)
from governance.core.lines import SERVABLE, line_containing, lines_of
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import NotFound

MAX_COLUMNS: Final = 20
MAX_ROWS: Final = 200
_NAMED: Final = 5


@dataclass(frozen=True, kw_only=True)
class OnRecord:
    """A skill and all that is known around it."""

    skill: str
    history: Sequence[HistoryItem]
    around: Surroundings

    def item(self, version: Version) -> HistoryItem:
        """Raises NotFound."""
        found = next((one for one in self.history if one.version == version), None)
        if found is None:
            highest = ", ".join(str(one.version) for one in list(self.history)[-5:])
            raise NotFound(f"{self.skill} has no version {version}.", fix=f"There are {highest}.")
        return found


def on_record(session: Session, skill: str, *, by: Caller, judge: Judge) -> OnRecord:
    """What is on record of ``skill``, for a caller who may read it. Raises NotFound and Forbidden."""
    by.need(Right.READ, skill.rpartition(".")[0])
    rows: list[Found] = history(session, skill)
    if not rows:
        raise no_such_skill(skill)
    items = [HistoryItem(published=published(row), manifest=judge.manifest(row)) for row in rows]
    return OnRecord(skill=skill, history=items, around=surroundings_of(session, [skill])[skill])


def may_retire(session: Session, skill: str, version: Version, *, by: Caller, judge: Judge) -> Answer:
    """May ``version`` go? Asked in the transaction that retires it too, so that nothing changes in between."""
    known = on_record(session, skill, by=by, judge=judge)
    item = known.item(version)
    version = item.version
    further = [
        *_still_deployed(session, skill, version),
        *_still_rolling(session, skill, version),
        *_still_named(session, known, version, by=by),
        *_silent(session, known, version),
    ]
    judged = answer(
        Question.RETIRE,
        Change.retire(version, known.history),
        version,
        known.around.needs,
        compare=judge.compare,
        policy=known.around.policy,
        further=further,
    )
    if judged.outcome is Outcome.BLOCK:
        return judged
    return replace(judged, reasons=(*judged.reasons, *_before_sunset(item)))


def may_deploy(
    database: Database,
    skill: str,
    version: Version,
    environment: str,
    *,
    beside: bool,
    by: Caller,
    judge: Judge,
) -> Answer:
    """May ``version`` run in ``environment``, in the place of what runs there or ``beside`` it?

    Raises NotFound, also for an environment that nobody made: a name misspelt would be allowed for want of consumers.
    """
    with database.transaction() as current:
        by.need(Right.READ, skill.rpartition(".")[0])
        environments.load(current, environment)
        ask = deployment(current, skill, version, environment, beside=beside, by=by, judge=judge)
    return ask()


def deployment(
    session: Session, skill: str, version: Version, environment: str, *, beside: bool, by: Caller, judge: Judge
) -> Callable[[], Answer]:
    """What is on record for :func:`may_deploy`, read; its answer needs the session no more."""
    known = on_record(session, skill, by=by, judge=judge)
    item = known.item(version)
    version = item.version
    further = list(_not_served(skill, item))
    if standing.is_protected(session, environment):
        further += readiness(item.manifest, known.around.policy, known.around.tested, protected=True)
    there = {Version.parse(one) for one in standing.deployed(session, skill, environment)}
    change = Change.deploy(item, known.history, [one for one in known.history if one.version in there], beside=beside)
    needs = [one for one in known.around.needs if one.environment in (None, environment)]
    return partial(
        answer,
        Question.DEPLOY,
        change,
        version,
        needs,
        compare=judge.compare,
        policy=known.around.policy,
        environment=environment,
        exceptions=known.around.exceptions,
        further=further,
    )


def matrix_of(
    database: Database,
    skill: str,
    *,
    versions: Sequence[Version],
    consumer: str | None,
    environment: str | None,
    by: Caller,
    judge: Judge,
) -> Mapping[str, Any]:
    """Consumers by versions as plain values: those asked for, else the highest that may serve somebody."""
    with database.transaction() as current:
        known = on_record(current, skill, by=by, judge=judge)
    columns = [known.item(version).version for version in versions] or [
        one.version for one in known.history if one.published.state in SERVABLE
    ][-MAX_COLUMNS:]
    needs = [one for one in known.around.needs if _asked(one, consumer, environment)]
    rows = matrix(skill, needs[:MAX_ROWS], known.history, columns, compare=judge.compare)
    return {
        "skill": skill,
        "versions": [str(one) for one in columns],
        "rows": [row.to_document() for row in rows],
        "left_out": max(0, len(needs) - MAX_ROWS),
    }


def _asked(need: Need, consumer: str | None, environment: str | None) -> bool:
    return consumer in (None, need.consumer) and (environment is None or need.environment in (None, environment))


def _not_served(skill: str, item: HistoryItem) -> Iterator[Reason]:
    disabled = item.published.disabled
    if item.published.state is Status.RETIRED:
        yield _reason("not-served", f"{skill} {item.version} is retired.")
    elif disabled is not None:
        yield _reason("not-served", f"{skill} {item.version} is switched off: {disabled.rstrip('.')}.")


def _before_sunset(item: HistoryItem) -> Iterator[Reason]:
    """What `govctl retire` says of a version that nobody needs any more."""
    state, day = item.published.state, item.published.sunset
    if state not in (Status.SUNSET, Status.RETIRED):
        ends = f"its sunset is on {day}" if day else "no sunset of it is announced"
        yield _reason("before-sunset", f"{item.version} is {state.value}, and {ends}.")


def _still_deployed(session: Session, skill: str, version: Version) -> list[Reason]:
    places = standing.runs_in(session, skill, str(version))
    return [_reason("still-deployed", f"{skill} {version} runs in {', '.join(places)}.")] if places else []


def _still_rolling(session: Session, skill: str, version: Version) -> list[Reason]:
    serving = leading_here.rollouts_serving(session, skill, version)
    return [_reason("still-rolling", f"The rollout {one} serves {skill} {version}.") for one in serving]


def _still_named(session: Session, known: OnRecord, version: Version, *, by: Caller) -> list[Reason]:
    references = leading_here.references(session, known.skill, by=by)
    found = references_to(known.skill, version, [one.published for one in known.history], references)
    return [_reason("still-named", one) for one in found]


def _silent(session: Session, known: OnRecord, version: Version) -> list[Reason]:
    """Who was served this line and never said what they need: cut off, if this is the last that serves it."""
    line = line_containing(lines_of(one.published for one in known.history), version)
    inside = line.versions if line else ()
    names = standing.silent(session, known.skill, [str(one.version) for one in inside], limit=_NAMED + 1)
    if not names:
        return []
    shown = ", ".join(names[:_NAMED]) + (" and others" if len(names) > _NAMED else "")
    if any(one.version != version and obstacle(one, on_record=True) is None for one in inside):
        return [_reason("consumer-unknown", f"{shown}: served before, and nothing declared of what is needed.")]
    return [_reason("consumer-silent", f"{shown}: served this line before, and nothing of it would be left.")]


def _reason(code: str, message: str) -> Reason:
    row = REASONS[code]
    return Reason(code=code, outcome=row.outcome, message=message, fix=row.fix)
