"""What policies hold, and setting them: every change a new revision of its scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.edge import check_match
from governance.control.policies.tables import PolicyRevision as Revision
from governance.core.policy import Policy, Scope, ScopeKind, Value, check_settings, effective
from governance.wire import PolicyRequest, PolicyRevision

_IN_FORCE = text(
    """
    SELECT DISTINCT ON (p.scope, p.name) p.scope, p.name, p.settings
    FROM unnest(CAST(:scopes AS text[]), CAST(:names AS text[])) AS asked (scope, name)
    JOIN policy_revision p USING (scope, name)
    ORDER BY p.scope, p.name, p.revision DESC
    """
)
_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('policy:' || :scope, 0))")


def policies_of(session: Session, skills: Iterable[str]) -> Mapping[str, Policy]:
    """What holds for each of some skills, in one query however many there are."""
    skills = sorted(set(skills))
    settings = _settings(session, {scope for skill in skills for scope in Scope.of(skill)})
    return {skill: effective(skill, settings) for skill in skills}


def policy_in(session: Session, scope: Scope) -> Policy:
    """What holds in a scope."""
    return effective(scope, _settings(session, scope.reaching))


def _settings(session: Session, scopes: Iterable[Scope]) -> dict[Scope, Mapping[str, Value]]:
    wanted = sorted(scopes)
    rows = session.execute(
        _IN_FORCE, {"scopes": [scope.kind.value for scope in wanted], "names": [scope.name for scope in wanted]}
    )
    return {Scope(kind=ScopeKind(kind), name=name): held for kind, name, held in rows}


def namespace_of(scope: Scope) -> str:
    """Where the rights over a scope are held: everywhere, its namespace, or its skill's."""
    if scope.kind is ScopeKind.GLOBAL:
        return "*"
    return scope.name if scope.kind is ScopeKind.NAMESPACE else scope.name.rpartition(".")[0]


def need_to_read(scope: Scope, *, by: Caller) -> None:
    """The global policy holds for everybody, so everybody may read it. Raises Forbidden for others."""
    if scope.kind is not ScopeKind.GLOBAL:
        by.need(Right.READ, namespace_of(scope))


def attempt_to_set(scope: Scope, reason: str | None) -> Attempt:
    return Attempt(action="policy.set", subject=str(scope), namespace=namespace_of(scope), reason=reason)


def current(session: Session, scope: Scope) -> PolicyRevision:
    """The revision that holds; revision 0 where the scope never set anything."""
    row = session.exec(_of(scope).limit(1)).first()
    return PolicyRevision(scope=str(scope), revision=0, settings={}) if row is None else _view(row)


def put(session: Session, scope: Scope, request: PolicyRequest, *, expected: str | None, by: Caller) -> PolicyRevision:
    """Set all of a scope. ``expected`` is the caller's ``If-Match``; what is set already makes no revision.

    Raises Forbidden, InvalidRequest, PreconditionFailed, PreconditionRequired.
    """
    by.need(Right.ADMINISTER, namespace_of(scope))
    settings = check_settings(request.settings, at="/settings")
    session.execute(_LOCK, {"scope": str(scope)})
    before = current(session, scope)
    check_match(expected, str(before.revision))
    if before.settings == settings:
        return before
    now = time_of(session)
    row = Revision(
        scope=scope.kind.value,
        name=scope.name,
        revision=before.revision + 1,
        settings=settings,
        reason=request.reason,
        set_at=now,
        set_by=by.label,
    )
    session.add(row)
    append(
        session,
        attempt_to_set(scope, request.reason),
        by=by,
        before=_recorded(before),
        after=_recorded(_view(row)),
        at=now,
    )
    session.flush()
    return _view(row)


def revisions(session: Session, scope: Scope, *, below: int | None, limit: int) -> Sequence[PolicyRevision]:
    """A scope's revisions, newest first; ``below`` goes on where a page ended."""
    query = _of(scope) if below is None else _of(scope).where(col(Revision.revision) < below)
    return [_view(row) for row in session.exec(query.limit(limit)).all()]


def _of(scope: Scope) -> Any:
    return (
        select(Revision)
        .where(col(Revision.scope) == scope.kind.value, col(Revision.name) == scope.name)
        .order_by(col(Revision.revision).desc())
    )


def _view(row: Revision) -> PolicyRevision:
    scope = Scope(kind=ScopeKind(row.scope), name=row.name)
    kept = row.model_dump(exclude={"scope", "name"})
    return PolicyRevision(scope=str(scope), **kept)


def _recorded(view: PolicyRevision) -> dict[str, Any]:
    return {"revision": view.revision, "settings": view.settings}
