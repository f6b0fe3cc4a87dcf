"""Rollouts by age, the newest first."""

from __future__ import annotations

from sqlalchemy import tuple_
from sqlmodel import Session, col, select

from governance.control.auth.roles import Caller
from governance.control.auth.visible import readable
from governance.control.edge import dated_position
from governance.control.rollouts.records import view
from governance.control.rollouts.tables import RolloutRow
from governance.core.rollout import RolloutState
from governance.wire import RolloutView


def page(
    session: Session,
    *,
    by: Caller,
    skill: str | None,
    environment: str | None,
    state: RolloutState | None,
    in_force: bool | None,
    after: str | None,
    limit: int,
) -> tuple[list[RolloutView], str | None]:
    """Rollouts of skills the caller may read that match all that is given; and where to go on."""
    wanted = {"skill": skill, "environment": environment, "state": state, "in_force": in_force}
    conditions = [col(getattr(RolloutRow, name)) == value for name, value in wanted.items() if value is not None]
    query = select(RolloutRow).where(readable(col(RolloutRow.skill), by), *conditions)
    if after is not None:
        query = query.where(tuple_(col(RolloutRow.started_at), col(RolloutRow.id)) < dated_position(after))
    ordered = query.order_by(col(RolloutRow.started_at).desc(), col(RolloutRow.id).desc()).limit(limit + 1)
    rows = session.exec(ordered).all()
    more = f"{rows[limit - 1].started_at.isoformat()} {rows[limit - 1].id}" if len(rows) > limit else None
    return [view(row) for row in rows[:limit]], more
