"""Environments, and which version of a skill runs in each: put on record by whoever deploys, kept as history."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import text, tuple_
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.auth.visible import readable
from governance.control.consumers.tables import DeploymentRow, EnvironmentRow
from governance.control.database import time_of
from governance.control.edge import check_match, dated_position
from governance.core.versioning import Version
from governance.errors import NotFound
from governance.wire import Deployment, DeploymentRequest, DeploymentState, Environment, EnvironmentRequest

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('environment:' || :name, 0))")


def attempt_to_set(name: str) -> Attempt:
    return Attempt(action="environment.set", subject=name, namespace="*")


def put(
    session: Session, name: str, request: EnvironmentRequest, *, expected: str | None, by: Caller
) -> tuple[bool, Environment]:
    """Set an environment whole: whether it is new, and as it stands now. ``expected``: ``If-Match``, if there is one.

    Raises Forbidden, PreconditionFailed.
    """
    by.need(Right.ADMINISTER, "*")
    session.execute(_LOCK, {"name": name})
    row = session.get(EnvironmentRow, name)
    if expected is not None:
        check_match(expected, str(row.revision if row else 0))
    before = _recorded(row) if row else None
    if before == _recorded(request):
        assert row is not None
        return False, Environment(**row.model_dump())
    now = time_of(session)
    created = row is None
    row = row or EnvironmentRow(name=name, protected=False, revision=0, created_at=now, updated_at=now, updated_by="")
    row.protected, row.description = request.protected, request.description
    row.revision, row.updated_at, row.updated_by = row.revision + 1, now, by.label
    session.add(row)
    append(session, attempt_to_set(name), by=by, before=before, after=_recorded(row), at=now)
    session.flush()
    return created, Environment(**row.model_dump())


def load(session: Session, name: str) -> Environment:
    """One environment. Raises NotFound."""
    row = session.get(EnvironmentRow, name)
    if row is None:
        raise NotFound(f"There is no environment {name!r}.", fix=f"An admin makes it: `govctl environment set {name}`.")
    return Environment(**row.model_dump())


def page(session: Session, *, after: str | None, limit: int) -> tuple[list[Environment], str | None]:
    """Environments by name, and the name to go on after, if there are more."""
    query = select(EnvironmentRow).where(col(EnvironmentRow.name) > (after or ""))
    rows = session.exec(query.order_by(col(EnvironmentRow.name)).limit(limit + 1)).all()
    found = [Environment(**row.model_dump()) for row in rows[:limit]]
    return found, found[-1].name if len(rows) > limit else None


def attempt_to_deploy(environment: str, skill: str, reason: str | None, *, end: bool = False) -> Attempt:
    action = "deployment.end" if end else "deployment.record"
    return Attempt(action=action, subject=f"{skill} in {environment}", namespace=_namespace(skill), reason=reason)


def need_to_deploy(skill: str, *, by: Caller) -> None:
    """Operators and publishers of its namespace say what runs. Raises Forbidden."""
    if not by.may(Right.PUBLISH, _namespace(skill)):
        by.need(Right.OPERATE, _namespace(skill))


def record(
    session: Session, environment: str, skill: str, version: str, request: DeploymentRequest, *, by: Caller
) -> tuple[bool, Deployment, list[Deployment]]:
    """A version runs from now on: whether that is new, the deployment, and those it ended.

    Whoever calls holds the lock of the skill and has seen that environment and version exist.
    """
    now = time_of(session)
    standing = _standing(session, environment, skill)
    there = next((row for row in standing if row.version == version), None)
    ended = [] if request.beside else [row for row in standing if row is not there]
    for row in ended:
        row.ended_at, row.ended_by = now, by.label
        session.add(row)
    row = there or DeploymentRow(
        id="dep_" + secrets.token_hex(8),
        skill=skill,
        environment=environment,
        version=version,
        deployed_at=now,
        deployed_by=by.label,
    )
    session.flush()
    if there is None or ended:
        session.add(row)
        before = sorted(one.version for one in standing)
        now_there = sorted({version, *(one.version for one in standing if one not in ended)})
        append(
            session,
            attempt_to_deploy(environment, skill, request.reason),
            by=by,
            before=_runs(environment, skill, before),
            after=_runs(environment, skill, now_there),
            at=now,
        )
        session.flush()
    return there is None, _view(row), [_view(one) for one in ended]


def end(
    session: Session, environment: str, skill: str, version: Version | None, *, reason: str | None, by: Caller
) -> list[Deployment]:
    """A version, or all of a skill, runs there no more. Safe to repeat."""
    need_to_deploy(skill, by=by)
    standing = _standing(session, environment, skill)
    ended = [row for row in standing if version is None or Version.parse(row.version) == version]
    now = time_of(session)
    for row in ended:
        row.ended_at, row.ended_by = now, by.label
        session.add(row)
    if ended:
        before = sorted(row.version for row in standing)
        after = sorted(row.version for row in standing if row not in ended)
        append(
            session,
            attempt_to_deploy(environment, skill, reason, end=True),
            by=by,
            before=_runs(environment, skill, before),
            after=_runs(environment, skill, after),
            at=now,
        )
        session.flush()
    return [_view(row) for row in ended]


def deployments(
    session: Session,
    environment: str,
    *,
    skill: str | None,
    state: DeploymentState | None,
    by: Caller,
    after: str | None,
    limit: int,
) -> tuple[list[Deployment], str | None]:
    """Deployments of skills the caller may read, newest first; and the position to go on after."""
    query = select(DeploymentRow).where(
        col(DeploymentRow.environment) == environment, readable(col(DeploymentRow.skill), by)
    )
    if skill is not None:
        query = query.where(col(DeploymentRow.skill) == skill)
    if state is not None:
        ends = col(DeploymentRow.ended_at)
        query = query.where(ends.is_(None) if state is DeploymentState.STANDING else ends.is_not(None))
    if after is not None:
        query = query.where(tuple_(col(DeploymentRow.deployed_at), col(DeploymentRow.id)) < dated_position(after))
    newest = (col(DeploymentRow.deployed_at).desc(), col(DeploymentRow.id).desc())
    rows = session.exec(query.order_by(*newest).limit(limit + 1)).all()
    more = f"{rows[limit - 1].deployed_at.isoformat()} {rows[limit - 1].id}" if len(rows) > limit else None
    return [_view(row) for row in rows[:limit]], more


def _standing(session: Session, environment: str, skill: str) -> Sequence[DeploymentRow]:
    query = select(DeploymentRow).where(
        col(DeploymentRow.skill) == skill,
        col(DeploymentRow.environment) == environment,
        col(DeploymentRow.ended_at).is_(None),
    )
    return session.exec(query.order_by(col(DeploymentRow.id)).with_for_update()).all()


def _view(row: DeploymentRow) -> Deployment:
    return Deployment(**row.model_dump())


def _recorded(about: EnvironmentRow | EnvironmentRequest) -> dict[str, Any]:
    return {"protected": about.protected, "description": about.description}


def _runs(environment: str, skill: str, versions: Sequence[str]) -> dict[str, Any]:
    return {"environment": environment, "skill": skill, "versions": list(versions)}


def _namespace(skill: str) -> str:
    return skill.rpartition(".")[0]
