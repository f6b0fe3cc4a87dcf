"""What leads to the versions of a skill from elsewhere: replacements, fallback steps, open rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import text
from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.core.dependents import Reference, ReferenceKind
from governance.core.versioning import Version

_ROLLOUTS: Final = text(
    "SELECT id FROM rollout WHERE skill = :skill AND in_force"
    " AND (incumbent = :version OR (candidate = :version AND state IN ('running', 'held'))) ORDER BY id"
)
_REFERENCES: Final = text(
    """
    SELECT 'replacement', v.skill, v.namespace, v.version, split_part(s.replacement, '@', 2)
    FROM skill_version_state s JOIN skill_version v USING (skill, sort_key)
    WHERE s.replacement IS NOT NULL AND split_part(s.replacement, '@', 1) = :skill AND s.state <> 'retired'
    UNION ALL
    SELECT 'fallback', v.skill, v.namespace, v.version, f.range
    FROM skill_fallback f
    JOIN skill_version v USING (skill, sort_key)
    JOIN skill_version_state s USING (skill, sort_key)
    WHERE f.target = :skill AND s.state <> 'retired'
    ORDER BY 1, 2, 4
    """
)


def rollouts_serving(session: Session, skill: str, version: Version) -> Sequence[str]:
    """The ids of the rollouts that serve a version: those open, and those that fell back to it."""
    return list(session.execute(_ROLLOUTS, {"skill": skill, "version": str(version)}).scalars())


def references(session: Session, skill: str, *, by: Caller) -> list[Reference]:
    """Every replacement and fallback step that names the skill. Skills the caller may not read are not named."""
    found = []
    for kind, name, namespace, version, wanted in session.execute(_REFERENCES, {"skill": skill}):
        holder = f"{name}@{version}" if by.may(Right.READ, namespace) else "A skill of another namespace"
        found.append(Reference(kind=ReferenceKind(kind), skill=name, version=version, holder=holder, range=wanted))
    return found
