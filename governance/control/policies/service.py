"""What policies hold, and setting them: every change a new revision of its scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import text
from sqlmodel import Session

from governance.core.policy import Policy, Scope, ScopeKind, Value, effective

_IN_FORCE = text(
    """
    SELECT DISTINCT ON (p.scope, p.name) p.scope, p.name, p.settings
    FROM unnest(CAST(:scopes AS text[]), CAST(:names AS text[])) AS asked (scope, name)
    JOIN policy_revision p USING (scope, name)
    ORDER BY p.scope, p.name, p.revision DESC
    """
)


def policies_of(session: Session, skills: Iterable[str]) -> Mapping[str, Policy]:
    """What holds for each of some skills, in one query however many there are."""
    skills = sorted(set(skills))
    scopes = sorted({scope for skill in skills for scope in Scope.of(skill)})
    rows = session.execute(
        _IN_FORCE, {"scopes": [scope.kind.value for scope in scopes], "names": [scope.name for scope in scopes]}
    )
    settings: dict[Scope, Mapping[str, Value]] = {
        Scope(kind=ScopeKind(kind), name=name): held for kind, name, held in rows
    }
    return {skill: effective(skill, settings) for skill in skills}
