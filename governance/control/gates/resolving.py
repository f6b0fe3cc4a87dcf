"""Resolve: read what is published and on record, and let the core choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

import psycopg

from governance.control.auth.roles import Caller, Right
from governance.control.consumers.tables import registered_in_time
from governance.control.gates import mattering
from governance.control.gates.recording import ToRecord
from governance.control.policies.reading import policies_of
from governance.control.rollouts.reading import STEERED, steered_from
from governance.control.skills import reading
from governance.control.skills.announcing import deprecation_headers
from governance.control.skills.judging import Judge
from governance.core import consent
from governance.core.policy import Policy
from governance.core.rollout import Steering
from governance.core.versioning import Version
from governance.errors import BreakingChangeNotAccepted, GovernanceError, NotFound
from governance.telemetry import Telemetry, event
from governance.wire import ResolveQuestion, ResolveRequest

_ON_RECORD: Final = f"""
SELECT skill, NULL AS line, false AS lasting FROM consumer_contact
WHERE consumer = %(consumer)s AND skill = ANY(%(skills)s)
UNION ALL
SELECT DISTINCT n.skill, '' AS line, false FROM consumer_need n
WHERE n.consumer = %(consumer)s AND n.skill = ANY(%(skills)s)
  AND {registered_in_time("n")}
UNION ALL
SELECT skill, line, expires_at IS NULL FROM line_acceptance
WHERE consumer = %(consumer)s AND skill = ANY(%(skills)s) AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > now())
"""


@dataclass
class OnRecord:
    """What is known of one consumer and one skill."""

    contacted: bool = False
    """It was served the skill before."""
    registered: bool = False
    """It said what it needs before any sunset of the skill."""
    lines: set[Version] = field(default_factory=set)
    lasting: set[Version] = field(default_factory=set)
    """Those of ``lines`` that do not expire."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question with what is on record of its skill and its caller."""

    question: ResolveQuestion
    request: ResolveRequest
    skill: str
    published: Sequence[consent.Published]
    rollouts: Sequence[Steering]
    known: OnRecord


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One question answered: the resolution or the error, and what to record."""

    question: ResolveQuestion
    resolution: consent.Resolution | None = None
    error: GovernanceError | None = None
    to_record: ToRecord | None = None

    @property
    def turns_on_policy(self) -> bool:
        """Were another policy in force, it might be answered differently: a line is crossed, or would have to be."""
        if self.resolution is None:
            return isinstance(self.error, BreakingChangeNotAccepted)
        blanket = any(acceptance.expires for acceptance in self.resolution.acceptances)
        return blanket or self.resolution.held_back is not None


async def answer(
    connection: reading.Connection, request: ResolveRequest, caller: Caller, judge: Judge
) -> list[Answered]:
    """Answers in the order of the questions. Costs one round trip, and one more for bare names.

    One more where the policy has a say: where a line is crossed, or would have to be. Two more, and comparisons that
    are remembered, where a break stands between a caller and what it knew.
    """
    names = await reading.locate(connection, (question.skill for question in request.questions), caller)
    skills = sorted({name for name in names.values() if isinstance(name, str)})
    published, rollouts, known = await _read(connection, skills, request)
    cases: list[Asked | GovernanceError] = []
    for question in request.questions:
        skill = names[question.skill]
        if isinstance(skill, NotFound) or (isinstance(skill, str) and not published[skill]):
            # of a batch, none costs a query of its own
            alone = len(request.questions) == 1
            asked = question.skill
            cases.append(await reading.missing(connection, asked, caller) if alone else reading.no_such_skill(asked))
        elif isinstance(skill, GovernanceError):
            cases.append(skill)
        elif isinstance(skill, Exception):
            raise skill
        else:
            case = Asked(
                question=question,
                request=request,
                skill=skill,
                published=published[skill],
                rollouts=rollouts.get(skill, ()),
                known=known.get(skill, OnRecord()),
            )
            cases.append(case)
    answered = [
        _answer(case, caller, Policy()) if isinstance(case, Asked) else Answered(question=question, error=case)
        for question, case in zip(request.questions, cases, strict=True)
    ]
    if any(one.turns_on_policy for one in answered):
        policies = await policies_of(connection, skills)
        answered = [
            _answer(case, caller, policies[case.skill]) if one.turns_on_policy and isinstance(case, Asked) else one
            for one, case in zip(answered, cases, strict=True)
        ]
    refused = [one.error for one in answered if isinstance(one.error, BreakingChangeNotAccepted)]
    await mattering.tell(connection, refused, consumer=request.consumer, judge=judge)
    return answered


async def _read(
    connection: reading.Connection, skills: list[str], request: ResolveRequest
) -> tuple[dict[str, list[consent.Published]], Mapping[str, list[Steering]], dict[str, OnRecord]]:
    if request.consumer is None:
        versions = await connection.execute(STEERED, (skills, skills))
        return *steered_from(await versions.fetchall(), skills, request.environment), {}
    async with connection.pipeline():  # one round trip for both
        versions = await connection.execute(STEERED, (skills, skills))
        record = await connection.execute(_ON_RECORD, {"consumer": request.consumer, "skills": skills})
        return *steered_from(await versions.fetchall(), skills, request.environment), await _on_record(record)


def _answer(case: Asked, caller: Caller, policy: Policy) -> Answered:
    try:
        return _resolved(case, caller, policy)
    except GovernanceError as error:
        return Answered(question=case.question, error=error)


def _resolved(case: Asked, caller: Caller, policy: Policy) -> Answered:
    question, request, known, skill = case.question, case.request, case.known, case.skill
    if request.consumer is not None or question.accept_breaking_change:
        caller.need(Right.RESOLVE, skill.rpartition(".")[0])
    resolution = consent.resolve(
        skill,
        question.range,
        case.published,
        consumer=request.consumer,
        on_record=known.contacted or known.registered,
        accepted=known.lines,
        accept_line=None if question.accept_line is None else Version.parse(question.accept_line),
        accept_breaking=question.accept_breaking_change,
        blanket_allowed=policy.blanket_allowed,
        rollouts=case.rollouts,
    )
    fresh = tuple(
        acceptance
        for acceptance in resolution.acceptances
        if acceptance.expires or acceptance.line not in known.lasting
    )
    contact = request.consumer is not None and not known.contacted
    to_record = ToRecord(
        skill=skill,
        version=str(resolution.version),
        consumer=request.consumer,
        range=question.range,
        contact=contact,
        acceptances=fresh,
        blanket_days=policy.blanket_days,
    )
    return Answered(question=question, resolution=resolution, to_record=to_record if contact or fresh else None)


async def _on_record(cursor: psycopg.AsyncCursor[tuple[Any, ...]]) -> dict[str, OnRecord]:
    found: dict[str, OnRecord] = {}
    for skill, line, lasting in await cursor.fetchall():
        record = found.setdefault(skill, OnRecord())
        if line is None:
            record.contacted = True
        elif not line:
            record.registered = True
        else:
            record.lines.add(Version.parse(line))
            if lasting:
                record.lasting.add(Version.parse(line))
    return found


def headers(answered: Answered) -> dict[str, str]:
    """What HTTP says of the one version that serves."""
    if answered.resolution is None or not answered.resolution.ending:
        return {}
    published = answered.resolution.published
    return deprecation_headers(
        deprecated_on=_day(published.deprecated_on),
        sunset=_day(published.sunset),
        replacement=published.replacement,
        migration_guide=published.migration_guide,
    )


def _day(text_: str | None) -> date | None:
    return None if text_ is None else date.fromisoformat(text_)


def note_ending(resolution: consent.Resolution, consumer: str | None, telemetry: Telemetry) -> None:
    """Count that a version whose end is announced was served, and name the caller on the span."""
    state = resolution.published.state.value
    telemetry.count("governance_deprecated_resolves_total", state=state, named="no" if consumer is None else "yes")
    event(
        "governance.deprecated_use",
        skill=resolution.skill,
        version=str(resolution.version),
        state=state,
        consumer=consumer or "",
    )
