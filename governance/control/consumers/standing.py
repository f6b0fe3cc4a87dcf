"""What runs where, and who was served without saying what they need."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text
from sqlmodel import Session

_DEPLOYED = text(
    "SELECT version FROM deployment WHERE skill = :skill AND environment = :environment AND ended_at IS NULL"
)
_PROTECTED = text("SELECT protected FROM environment WHERE name = :environment")
_RUNS_IN = text(
    "SELECT environment FROM deployment WHERE skill = :skill AND version = :version AND ended_at IS NULL"
    " ORDER BY environment"
)
_SILENT = text(
    """
    SELECT k.consumer FROM consumer_contact k
    WHERE k.skill = :skill
      AND NOT EXISTS (SELECT FROM consumer_need n WHERE n.skill = k.skill AND n.consumer = k.consumer)
      AND (k.first_version = ANY(:versions)
           OR EXISTS (SELECT FROM line_acceptance a
                      WHERE a.skill = k.skill AND a.consumer = k.consumer AND a.revoked_at IS NULL
                        AND a.line = ANY(:versions)))
    ORDER BY k.consumer LIMIT :limit
    """
)


def is_protected(session: Session, environment: str) -> bool:
    """Is it an environment that takes only what the gate lets in there? One that nobody made is not."""
    return bool(session.execute(_PROTECTED, {"environment": environment}).scalar())


def deployed(session: Session, skill: str, environment: str) -> Sequence[str]:
    """The versions of a skill that run in an environment, as far as is on record."""
    return list(session.execute(_DEPLOYED, {"skill": skill, "environment": environment}).scalars())


def runs_in(session: Session, skill: str, version: str) -> Sequence[str]:
    """The environments in which a version runs."""
    return list(session.execute(_RUNS_IN, {"skill": skill, "version": version}).scalars())


def silent(session: Session, skill: str, versions: Sequence[str], *, limit: int) -> Sequence[str]:
    """Consumers that were served one of these versions, or accepted their line, and have declared nothing of the skill.

    The first by name.
    """
    return list(session.execute(_SILENT, {"skill": skill, "versions": versions, "limit": limit}).scalars())
