"""Exceptions in force, and their lives: asked for, approved, used, revoked, expired."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import text
from sqlmodel import Session

from governance.core.gate import GateException

_IN_FORCE = text(
    """
    SELECT skill, id, reason, findings FROM gate_exception
    WHERE skill = ANY(:skills) AND approved_at IS NOT NULL AND revoked_at IS NULL AND expires_at > now()
      AND (max_uses IS NULL OR uses < max_uses)
      AND environment IS NULL AND consumer IS NULL
    ORDER BY skill, expires_at
    """
)


def in_force(session: Session, skills: Iterable[str]) -> Mapping[str, tuple[GateException, ...]]:
    """The exceptions that stand for some skills as a whole now, in one query; the longest-lived one wins."""
    found: dict[str, list[GateException]] = defaultdict(list)
    for skill, id_, reason, findings in session.execute(_IN_FORCE, {"skills": sorted(set(skills))}):
        found[skill].extend(
            GateException(
                fingerprint=one["fingerprint"], id=id_, reason=reason, surroundings=one.get("surroundings", "")
            )
            for one in findings
        )
    return {skill: tuple(some) for skill, some in found.items()}
