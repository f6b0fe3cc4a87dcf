"""Lines that consumers have accepted: listed, and revoked."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, or_, tuple_
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.gates.tables import LineAcceptance
from governance.control.skills.tables import SkillRow
from governance.errors import NotFound, UsageError
from governance.wire import AcceptanceView


def attempt_to_revoke(acceptance_id: str) -> Attempt:
    return Attempt(action="line.revoke", subject=acceptance_id, namespace="")


def page(
    session: Session,
    *,
    by: Caller,
    skill: str | None = None,
    consumer: str | None = None,
    ended: bool = False,
    after: str | None,
    limit: int,
) -> tuple[list[AcceptanceView], str | None]:
    """Acceptances of skills the caller may read, by skill; with ``ended`` also those that stand no more."""
    query = select(LineAcceptance).join(SkillRow, col(SkillRow.name) == col(LineAcceptance.skill)).where(_visible(by))
    if skill is not None:
        query = query.where(col(LineAcceptance.skill) == skill)
    if consumer is not None:
        query = query.where(col(LineAcceptance.consumer) == consumer)
    if not ended:
        expires = col(LineAcceptance.expires_at)
        query = query.where(
            col(LineAcceptance.revoked_at).is_(None), or_(expires.is_(None), expires > time_of(session))
        )
    if after is not None:
        query = query.where(tuple_(col(LineAcceptance.skill), col(LineAcceptance.id)) > tuple_(*_position(after)))
    rows = session.exec(query.order_by(col(LineAcceptance.skill), col(LineAcceptance.id)).limit(limit + 1)).all()
    shown = rows[:limit]
    more = f"{shown[-1].skill} {shown[-1].id}" if len(rows) > limit else None
    return [view(row) for row in shown], more


def revoke(session: Session, acceptance_id: str, *, by: Caller) -> AcceptanceView:
    """Revoke at once; one that is revoked already stays as it is.

    Raises NotFound, also where the caller may not read the skill, and Forbidden.
    """
    query = select(LineAcceptance).where(col(LineAcceptance.id) == acceptance_id).with_for_update()
    row = session.exec(query).one_or_none()
    namespace = row.skill.rpartition(".")[0] if row is not None else ""
    if row is None or not by.may(Right.READ, namespace):
        raise NotFound("There is no such acceptance.", fix="List them with `govctl acceptance list`.")
    by.need(Right.RESOLVE, namespace)
    if row.revoked_at is None:
        before = _recorded(row)
        row.revoked_at = time_of(session)
        row.revoked_by = by.label
        session.add(row)
        attempt = Attempt(action="line.revoke", subject=row.skill, namespace=namespace)
        append(session, attempt, by=by, before=before, after=_recorded(row), at=row.revoked_at)
    return view(row)


def view(row: LineAcceptance) -> AcceptanceView:
    return AcceptanceView.model_validate(row, from_attributes=True)


def _recorded(row: LineAcceptance) -> dict[str, Any]:
    told = {name: getattr(row, name) for name in ("id", "consumer", "line", "basis", "accepted_by", "revoked_by")}
    times = {name: getattr(row, name) for name in ("accepted_at", "expires_at", "revoked_at")}
    return told | {name: when and when.isoformat(timespec="seconds") for name, when in times.items()}


def _visible(by: Caller) -> ColumnElement[bool]:
    reach = by.reach(Right.READ)
    namespace = col(SkillRow.namespace)
    if "*" in reach:
        return namespace.is_not(None)
    inside = [or_(namespace == one, namespace.startswith(f"{one}.", autoescape=True)) for one in sorted(reach)]
    return or_(*inside) if inside else namespace.is_(None)


def _position(after: str) -> tuple[str, str]:
    skill, blank, acceptance_id = after.partition(" ")
    if not blank:
        raise UsageError("The cursor belongs to another list.", fix="Start at the first page again.")
    return skill, acceptance_id
