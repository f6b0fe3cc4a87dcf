"""Exceptions in force, and their lives: asked for, approved, used, revoked."""

from __future__ import annotations

import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.exceptions.tables import ExceptionRow
from governance.core.gate import GateException
from governance.errors import Conflict, Fault, Forbidden, InvalidRequest, NotFound
from governance.wire import ExceptedFinding, ExceptionRequest, ExceptionState, ExceptionView

MOST_PROPOSED: Final = 1_000
"""Exceptions of one skill that wait for approval."""

_IN_FORCE = text(
    """
    SELECT skill, id, reason, findings, environment, consumer FROM gate_exception
    WHERE skill = ANY(:skills) AND approved_at IS NOT NULL AND revoked_at IS NULL AND expires_at > now()
      AND (max_uses IS NULL OR uses < max_uses)
    ORDER BY skill, expires_at DESC, id
    """
)
_USE = text(
    """
    UPDATE gate_exception SET uses = uses + 1, last_used_at = :now
    WHERE id = ANY(:ids) AND approved_at IS NOT NULL AND revoked_at IS NULL AND expires_at > now()
      AND (max_uses IS NULL OR uses < max_uses)
    RETURNING id, skill, uses
    """
)


def in_force(session: Session, skills: Iterable[str]) -> Mapping[str, tuple[GateException, ...]]:
    """The exceptions that stand for some skills now, of every scope, in one query; the longest-lived first."""
    found: dict[str, list[GateException]] = defaultdict(list)
    rows = session.execute(_IN_FORCE, {"skills": sorted(set(skills))})
    for skill, id_, reason, findings, environment, consumer in rows:
        found[skill].extend(
            GateException(
                fingerprint=one["fingerprint"],
                id=id_,
                reason=reason,
                surroundings=one["surroundings"],
                environment=environment,
                consumer=consumer,
            )
            for one in findings
        )
    return {skill: tuple(some) for skill, some in found.items()}


def use(session: Session, ids: Iterable[str], *, subject: str, by: Caller, at: datetime) -> None:
    """Count one use of each, in the transaction of what needed them.

    Raises Conflict where one stands no more: it was revoked or used up since the gate was asked.
    """
    wanted = sorted(set(ids))
    if not wanted:
        return
    rows = session.execute(_USE, {"ids": wanted, "now": at}).all()
    gone = sorted(set(wanted) - {row.id for row in rows})
    if gone:
        raise Conflict(
            f"Exception {gone[0]} ended while this was decided.", fix="Send it again: the gate decides without it."
        )
    for row in rows:
        attempt = Attempt(action="exception.use", subject=row.id, namespace=_namespace(row.skill))
        append(session, attempt, by=by, after={"skill": row.skill, "for": subject, "uses": row.uses}, at=at)


def attempt_to_ask(request: ExceptionRequest) -> Attempt:
    subject = request.check or request.version or ""
    return Attempt(action="exception.ask", subject=subject, namespace="", reason=request.reason)


def ask(
    session: Session,
    skill: str,
    findings: Sequence[ExceptedFinding],
    request: ExceptionRequest,
    *,
    most_days: int,
    by: Caller,
) -> ExceptionView:
    """Propose an exception for findings of ``skill``. ``most_days``: the longest its policy lets one stand.

    Raises Forbidden, InvalidRequest, Conflict.
    """
    by.need(Right.PUBLISH, _namespace(skill))
    if request.expires_in_days > most_days:
        raise InvalidRequest(
            f"An exception for {skill} may stand {most_days} days.",
            fix="Ask for fewer days, or have the policy exception_days changed.",
            faults=[Fault(pointer="/expires_in_days", message=f"more than {most_days}", code="policy")],
        )
    waiting = select(ExceptionRow.id).where(
        col(ExceptionRow.skill) == skill,
        col(ExceptionRow.approved_at).is_(None),
        col(ExceptionRow.revoked_at).is_(None),
        col(ExceptionRow.expires_at) > time_of(session),
    )
    if len(session.exec(waiting.limit(MOST_PROPOSED)).all()) == MOST_PROPOSED:
        raise Conflict(
            f"{MOST_PROPOSED} exceptions for {skill} wait for approval.", fix="Have some approved or revoked first."
        )
    now = time_of(session)
    row = ExceptionRow(
        id="exc_" + secrets.token_hex(8),
        skill=skill,
        findings=[_stored(one) for one in findings],
        environment=request.environment,
        consumer=request.consumer,
        reason=request.reason,
        author_id=by.id,
        created_by=by.label,
        created_at=now,
        expires_at=now + timedelta(days=request.expires_in_days),
        max_uses=request.max_uses,
        uses=0,
    )
    session.add(row)
    attempt = Attempt(action="exception.ask", subject=row.id, namespace=_namespace(skill), reason=request.reason)
    append(session, attempt, by=by, after=recorded(row) | {"check": request.check, "version": request.version}, at=now)
    session.flush()
    return view(row, now)


def attempt_to_approve(id_: str, reason: str | None) -> Attempt:
    return Attempt(action="exception.approve", subject=id_, namespace="", reason=reason)


def approve(session: Session, id_: str, *, reason: str | None, by: Caller) -> ExceptionView:
    """Let an exception come into force. What is in force already stays as it is.

    Raises NotFound, Forbidden (also for whoever asked for it), Conflict (revoked, or over).
    """
    row, now = _locked(session, id_, by), time_of(session)
    by.need(Right.APPROVE, _namespace(row.skill))
    if by.id == row.author_id or _folded(by.name) == _folded(row.created_by.removesuffix(f" ({row.author_id})")):
        raise Forbidden(
            f"{by.label} asked for exception {id_} and cannot approve it.",
            fix="Have somebody else approve it, under a name of their own.",
        )
    state = state_of(row, now)
    if state not in (ExceptionState.PROPOSED, ExceptionState.IN_FORCE):
        raise Conflict(f"Exception {id_} is {state.value.replace('_', ' ')}.", fix="Ask for a new one.")
    if row.approved_at is None:
        before = recorded(row)
        row.approver_id, row.approved_by, row.approved_at = by.id, by.label, now
        session.add(row)
        attempt = Attempt(action="exception.approve", subject=id_, namespace=_namespace(row.skill), reason=reason)
        append(session, attempt, by=by, before=before, after=recorded(row), at=now)
        session.flush()
    return view(row, now)


def _folded(name: str) -> str:
    """A name as people read it: neither case nor blanks nor another form of its letters makes it somebody else's."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def attempt_to_revoke(id_: str, reason: str) -> Attempt:
    return Attempt(action="exception.revoke", subject=id_, namespace="", reason=reason)


def revoke(session: Session, id_: str, *, reason: str, by: Caller) -> ExceptionView:
    """End an exception, or withdraw a proposed one, at once. One that is revoked already stays as it is.

    Raises NotFound, Forbidden.
    """
    row, now = _locked(session, id_, by), time_of(session)
    if not by.may(Right.APPROVE, _namespace(row.skill)):
        by.need(Right.PUBLISH, _namespace(row.skill))
    if row.revoked_at is None:
        before = recorded(row)
        row.revoked_at, row.revoked_by, row.revoked_reason = now, by.label, reason
        session.add(row)
        attempt = Attempt(action="exception.revoke", subject=id_, namespace=_namespace(row.skill), reason=reason)
        append(session, attempt, by=by, before=before, after=recorded(row), at=now)
        session.flush()
    return view(row, now)


def load(session: Session, id_: str, *, by: Caller) -> ExceptionView:
    """One exception. Raises NotFound, also where the caller may not read its skill."""
    row = session.get(ExceptionRow, id_)
    if row is None or not by.may(Right.READ, _namespace(row.skill)):
        raise _missing(id_)
    return view(row, time_of(session))


def _locked(session: Session, id_: str, by: Caller) -> ExceptionRow:
    row = session.exec(select(ExceptionRow).where(col(ExceptionRow.id) == id_).with_for_update()).one_or_none()
    if row is None or not by.may(Right.READ, _namespace(row.skill)):
        raise _missing(id_)
    return row


def _missing(id_: str) -> NotFound:
    return NotFound(f"There is no exception {id_} that this token may see.", fix="`govctl exception list` shows them.")


def state_of(row: ExceptionRow, now: datetime) -> ExceptionState:
    """Where an exception stands; what ended it first in this order tells it."""
    if row.revoked_at is not None:
        return ExceptionState.REVOKED
    if row.max_uses is not None and row.uses >= row.max_uses:
        return ExceptionState.USED_UP
    if row.expires_at <= now:
        return ExceptionState.EXPIRED
    return ExceptionState.PROPOSED if row.approved_at is None else ExceptionState.IN_FORCE


def view(row: ExceptionRow, now: datetime) -> ExceptionView:
    return ExceptionView(state=state_of(row, now), **row.model_dump())


def recorded(row: ExceptionRow) -> dict[str, Any]:
    """What an entry keeps of an exception: no sentence of a finding, which may quote a contract."""
    return {
        "id": row.id,
        "skill": row.skill,
        "findings": [{"fingerprint": one["fingerprint"], "code": one["code"]} for one in row.findings],
        "environment": row.environment,
        "consumer": row.consumer,
        "expires_at": row.expires_at.isoformat(timespec="seconds"),
        "max_uses": row.max_uses,
        "uses": row.uses,
        "approved_by": row.approved_by,
        "revoked_by": row.revoked_by,
    }


def _stored(finding: ExceptedFinding) -> dict[str, str]:
    return {key: value.replace("\x00", " ") for key, value in finding.model_dump().items()}


def _namespace(skill: str) -> str:
    return skill.rpartition(".")[0]
