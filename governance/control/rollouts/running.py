"""The job that lets rollouts go on, or back, by themselves: each step once, over all replicas."""

from __future__ import annotations

from typing import Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.audit.service import SYSTEM
from governance.control.database import time_of
from governance.control.jobs import Job, Tools
from governance.control.rollouts.records import rollout_of, write
from governance.control.rollouts.service import look_at
from governance.control.rollouts.tables import RolloutRow
from governance.core.rollout import step

_EVERY_SEC: Final = 15.0
_OPEN: Final = text("SELECT id FROM rollout WHERE in_force AND ended_at IS NULL ORDER BY id")
_ENDED: Final = text(
    # outcomes of a transaction that began before the end are in by then
    "SELECT id FROM rollout WHERE ended_at < now() - interval '10 minutes' AND cleared_at IS NULL"
    " ORDER BY ended_at LIMIT 20 FOR UPDATE SKIP LOCKED"
)
_CLEAR: Final = text("DELETE FROM rollout_outcome WHERE rollout = ANY(:ids)")
_CLEARED: Final = text("UPDATE rollout SET cleared_at = now() WHERE id = ANY(:ids)")


def move_on(tools: Tools) -> int:
    """Let every open rollout take the step that is due, each in a transaction of its own; how many did.

    A step is taken under the lock of its rollout, from what is read under it: a replica that comes second finds the
    step begun, with nothing seen in it yet. What has ended is cleared of its outcomes.
    """
    with tools.database.transaction() as session:
        ids = list(session.execute(_OPEN).scalars())
    moved = 0
    for id_ in ids:
        with tools.database.transaction() as session:
            kind = _move(session, id_)
        if kind is not None:
            tools.telemetry.count("governance_rollout_steps_total", kind=kind)
            moved += 1
    with tools.database.transaction() as session:
        ended = list(session.execute(_ENDED).scalars())
        session.execute(_CLEAR, {"ids": ended})
        session.execute(_CLEARED, {"ids": ended})
    return moved + len(ended)


def _move(session: Session, id_: str) -> str | None:
    """The kind of the step that was taken; None where none is due, or another replica is at it."""
    query = select(RolloutRow).where(col(RolloutRow.id) == id_, col(RolloutRow.ended_at).is_(None))
    row = session.exec(query.with_for_update(skip_locked=True)).one_or_none()
    if row is None:
        return None
    look = look_at(session, row)
    _, transition = step(rollout_of(row), look, now=time_of(session))
    if transition is None or transition.outlook is None:
        return None
    write(session, row, transition, look.seen, reason=transition.outlook.why, by=SYSTEM)
    return transition.kind.value


ROLLOUT_STEPS: Final = Job(
    name="rollouts",
    every_sec=_EVERY_SEC,
    run=move_on,
    meaning="Lets rollouts advance, complete or fall back, and clears the outcomes of those that ended.",
)
