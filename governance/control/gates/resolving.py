"""Resolve: read what is published and on record, let the core choose, put on record what it says."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.gates.tables import Contact, LineAcceptance
from governance.control.skills import reading
from governance.core import consent
from governance.core.consent import Acceptance, Basis
from governance.core.versioning import Version
from governance.errors import GovernanceError, NotFound
from governance.wire import ResolveQuestion, ResolveRequest

_ON_RECORD: Final = """
SELECT skill, NULL AS line FROM consumer_contact WHERE consumer = %(consumer)s AND skill = ANY(%(skills)s)
UNION ALL
SELECT skill, line FROM line_acceptance
WHERE consumer = %(consumer)s AND skill = ANY(%(skills)s) AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > now())
"""


@dataclass
class OnRecord:
    """What is known of one consumer and one skill."""

    contacted: bool = False
    lines: set[Version] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True)
class ToRecord:
    """What one resolution leaves behind; ``acceptances`` are those not on record yet."""

    skill: str
    version: str
    consumer: str | None
    range: str | None
    contact: bool
    acceptances: tuple[Acceptance, ...]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One question answered: the resolution or the error, and what to record."""

    question: ResolveQuestion
    resolution: consent.Resolution | None = None
    error: GovernanceError | None = None
    to_record: ToRecord | None = None


async def answer(connection: reading.Connection, request: ResolveRequest, caller: Caller) -> list[Answered]:
    """Answers in the order of the questions. Costs one query, one more each for bare names and a named consumer."""
    names = await reading.locate(connection, (question.skill for question in request.questions), caller)
    skills = sorted({name for name in names.values() if isinstance(name, str)})
    published = await reading.published_of(connection, skills)
    known = await _on_record(connection, request.consumer, skills) if request.consumer else {}
    answered = []
    for question in request.questions:
        skill = names[question.skill]
        try:
            if isinstance(skill, NotFound) or (isinstance(skill, str) and not published[skill]):
                # of a batch, none costs a query of its own
                alone = len(request.questions) == 1
                asked = question.skill
                raise await reading.missing(connection, asked, caller) if alone else reading.no_such_skill(asked)
            if isinstance(skill, Exception):
                raise skill
            answered.append(_answer(question, skill, published[skill], request, known.get(skill, OnRecord()), caller))
        except GovernanceError as error:
            answered.append(Answered(question=question, error=error))
    return answered


def _answer(
    question: ResolveQuestion,
    skill: str,
    published: Sequence[consent.Published],
    request: ResolveRequest,
    known: OnRecord,
    caller: Caller,
) -> Answered:
    if request.consumer is not None or question.accept_breaking_change:
        caller.need(Right.RESOLVE, skill.rpartition(".")[0])
    resolution = consent.resolve(
        skill,
        question.range,
        published,
        consumer=request.consumer,
        on_record=known.contacted,
        accepted=known.lines,
        accept_line=None if question.accept_line is None else Version.parse(question.accept_line),
        accept_breaking=question.accept_breaking_change,
    )
    fresh = tuple(
        acceptance for acceptance in resolution.acceptances if acceptance.expires or acceptance.line not in known.lines
    )
    contact = request.consumer is not None and not known.contacted
    to_record = ToRecord(
        skill=skill,
        version=str(resolution.version),
        consumer=request.consumer,
        range=question.range,
        contact=contact,
        acceptances=fresh,
    )
    return Answered(question=question, resolution=resolution, to_record=to_record if contact or fresh else None)


async def _on_record(connection: reading.Connection, consumer: str, skills: list[str]) -> dict[str, OnRecord]:
    found: dict[str, OnRecord] = {}
    cursor = await connection.execute(_ON_RECORD, {"consumer": consumer, "skills": skills})
    async for skill, line in cursor:
        record = found.setdefault(skill, OnRecord())
        if line is None:
            record.contacted = True
        else:
            record.lines.add(Version.parse(line))
    return found


def record(session: Session, marks: Iterable[ToRecord], *, by: Caller) -> None:
    """Put resolutions on record, each fact once however often and however concurrently it is told."""
    now = time_of(session)
    for mark in marks:
        if mark.contact and mark.consumer is not None:
            _record_contact(session, mark, mark.consumer, by=by, now=now)
        for acceptance in mark.acceptances:
            _record_acceptance(session, mark, acceptance, by=by, now=now)


def _record_contact(session: Session, mark: ToRecord, consumer: str, *, by: Caller, now: datetime) -> None:
    values = {"skill": mark.skill, "consumer": consumer, "first_at": now, "first_version": mark.version}
    inserted = session.execute(insert(Contact).values(**values).on_conflict_do_nothing().returning(col(Contact.skill)))
    if inserted.first() is not None:
        append(session, _attempt("consumer.contact", mark), by=by, after=_told(mark), at=now)


def _record_acceptance(session: Session, mark: ToRecord, acceptance: Acceptance, *, by: Caller, now: datetime) -> None:
    """A line that is named or met stays accepted; the flag holds for its call and is in the audit log alone."""
    if mark.consumer is not None and not acceptance.expires:
        values = {
            "skill": mark.skill,
            "id": "acc_" + secrets.token_hex(8),
            "consumer": mark.consumer,
            "line": str(acceptance.line),
            "basis": acceptance.basis.value,
            "accepted_at": now,
            "accepted_by": by.label,
        }
        inserted = session.execute(
            insert(LineAcceptance).values(**values).on_conflict_do_nothing().returning(col(LineAcceptance.skill))
        )
        if inserted.first() is None:
            return
    action = "line.bind" if acceptance.basis is Basis.FIRST_CONTACT else "line.accept"
    after = _told(mark) | {"line": str(acceptance.line), "basis": acceptance.basis.value}
    append(session, _attempt(action, mark), by=by, after=after, at=now)


def _attempt(action: str, mark: ToRecord) -> Attempt:
    return Attempt(action=action, subject=mark.skill, namespace=mark.skill.rpartition(".")[0])


def _told(mark: ToRecord) -> dict[str, Any]:
    return {"consumer": mark.consumer, "range": mark.range, "version": mark.version}
