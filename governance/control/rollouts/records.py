"""Rollouts as they are stored: found, written with an audit entry each step, and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.rollouts.tables import RolloutRow
from governance.core.rollout import Plan, Rollout, RolloutState, Seen, Transition
from governance.errors import NotFound
from governance.wire import OutlookView, RolloutView, StepView

ACTIONS: Final[Mapping[str, str]] = {
    "hold": "rollout.hold",
    "resume": "rollout.resume",
    "advance": "rollout.advance",
    "complete": "rollout.complete",
    "fall_back": "rollout.fall_back",
    "cancel": "rollout.cancel",
}
"""The audit action of each kind of transition."""


def found(session: Session, id_: str, *, by: Caller, held: bool = False) -> RolloutRow:
    """A rollout, with ``held`` locked until the transaction ends.

    Raises NotFound, also where the caller may not read its skill.
    """
    query = select(RolloutRow).where(col(RolloutRow.id) == id_)
    row = session.exec(query.with_for_update() if held else query).one_or_none()
    if row is None or not by.may(Right.READ, namespace_of(row.skill)):
        raise NotFound(
            f"There is no rollout {id_} that this token may see.", fix="List them with `govctl rollout list`."
        )
    return row


def rollout_of(row: RolloutRow) -> Rollout:
    """The row as the core speaks of it."""
    return Rollout(
        plan=Plan.from_document(row.plan),
        backward=row.incumbent in row.above,
        state=RolloutState(row.state),
        step=row.step,
        step_since=row.step_since,
    )


def write(
    session: Session, row: RolloutRow, transition: Transition, seen: Seen, *, reason: str | None, by: Caller
) -> None:
    """Store what a step led to, with its entry; ``seen`` is of the step that was left."""
    at, before, after = time_of(session), recorded(row), transition.after
    left = transition.before.open and (not after.open or after.step != row.step)
    if left:
        row.steps = [*row.steps, _left(transition.before, seen, until=at)]
    row.state, row.in_force = after.state.value, after.in_force
    row.step, row.step_since = after.step, after.step_since
    row.reason = reason
    row.revision += 1
    if not after.open and row.ended_at is None:
        row.ended_at = at
    session.add(row)
    attempt = Attempt(action=ACTIONS[transition.kind], subject=row.id, namespace=namespace_of(row.skill), reason=reason)
    told = recorded(row) | ({"seen": seen.to_document()} if left else {})
    if transition.outlook is not None:
        told |= {"why": transition.outlook.code}
    append(session, attempt, by=by, before=before, after=told, at=at)
    session.flush()


def _left(rollout: Rollout, seen: Seen, *, until: datetime) -> dict[str, Any]:
    since = rollout.step_since.isoformat(timespec="seconds")
    return {"weight": rollout.weight, "since": since, "until": until.isoformat(timespec="seconds")} | seen.to_document()


def etag(row: RolloutRow) -> str:
    return f"{row.id}.{row.revision}"


def recorded(row: RolloutRow) -> dict[str, Any]:
    """What an entry keeps of a rollout."""
    told = {name: getattr(row, name) for name in ("id", "skill", "candidate", "incumbent", "state", "step", "in_force")}
    return told | {"environment": row.environment or None, "weight": rollout_of(row).weight, "revision": row.revision}


def view(row: RolloutRow, *, present: Sequence[StepView] = (), coming: OutlookView | None = None) -> RolloutView:
    """A rollout as callers see it; ``present`` is the step it is in."""
    plain = row.model_dump(exclude={"environment", "above", "steps", "cleared_at"})
    return RolloutView(
        **plain,
        environment=row.environment or None,
        withholds=row.above,
        weight=rollout_of(row).weight,
        steps=[*(StepView.model_validate(one) for one in row.steps), *present],
        outlook=coming,
    )


def namespace_of(skill: str) -> str:
    return skill.rpartition(".")[0]
