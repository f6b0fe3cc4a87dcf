"""Exceptions by state, those that end first first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, or_, tuple_
from sqlmodel import Session, col, select

from governance.control.auth.roles import Caller
from governance.control.auth.visible import readable
from governance.control.database import time_of
from governance.control.edge import dated_position
from governance.control.exceptions.service import view
from governance.control.exceptions.tables import ExceptionRow
from governance.wire import ExceptionState, ExceptionView


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What an exception must match, all of it; None matches everything."""

    state: ExceptionState | None = None
    skill: str | None = None
    expires_within_days: int | None = None


def page(
    session: Session, filters: Filters, *, by: Caller, after: str | None, limit: int
) -> tuple[Sequence[ExceptionView], str | None]:
    """Exceptions of skills the caller may read; and the position to go on after, if there are more."""
    now = time_of(session)
    query = select(ExceptionRow).where(readable(col(ExceptionRow.skill), by), *_conditions(filters, now))
    if after is not None:
        ends, id_ = dated_position(after)
        query = query.where(tuple_(col(ExceptionRow.expires_at), col(ExceptionRow.id)) > (ends, id_))
    ordered = query.order_by(col(ExceptionRow.expires_at), col(ExceptionRow.id)).limit(limit + 1)
    rows = session.exec(ordered).all()
    more = f"{rows[limit - 1].expires_at.isoformat()} {rows[limit - 1].id}" if len(rows) > limit else None
    return [view(row, now) for row in rows[:limit]], more


def _conditions(filters: Filters, now: datetime) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.state is not None:
        conditions.append(_STATES[filters.state](now))
    if filters.skill is not None:
        conditions.append(col(ExceptionRow.skill) == filters.skill)
    if filters.expires_within_days is not None:
        conditions.append(col(ExceptionRow.expires_at).between(now, now + timedelta(days=filters.expires_within_days)))
    return conditions


def _used_up() -> ColumnElement[bool]:
    return and_(col(ExceptionRow.max_uses).is_not(None), col(ExceptionRow.uses) >= col(ExceptionRow.max_uses))


def _standing(now: datetime) -> ColumnElement[bool]:
    ended = or_(col(ExceptionRow.revoked_at).is_not(None), _used_up(), col(ExceptionRow.expires_at) <= now)
    return ~ended


_STATES: Final[dict[ExceptionState, Any]] = {
    ExceptionState.PROPOSED: lambda now: and_(_standing(now), col(ExceptionRow.approved_at).is_(None)),
    ExceptionState.IN_FORCE: lambda now: and_(_standing(now), col(ExceptionRow.approved_at).is_not(None)),
    ExceptionState.EXPIRED: lambda now: and_(
        col(ExceptionRow.revoked_at).is_(None), ~_used_up(), col(ExceptionRow.expires_at) <= now
    ),
    ExceptionState.USED_UP: lambda now: and_(col(ExceptionRow.revoked_at).is_(None), _used_up()),
    ExceptionState.REVOKED: lambda now: col(ExceptionRow.revoked_at).is_not(None),
}
"""As ``service.state_of`` tells states apart."""
