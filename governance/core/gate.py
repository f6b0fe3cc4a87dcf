"""The publish gate: verdict, bump, line and lifecycle in; one decision with coded reasons out.

``decide`` is the same function for ``PUT``, ``POST /v1/checks``, ``govctl publish`` and ``govctl check``.
What an offline caller cannot know (consumers, policy, exceptions) it names under ``not_checked``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from governance.core.compat.model import Bump, Comparison, Level


class Outcome(StrEnum):
    ALLOW = "allow"
    WARN = "warn"
    BLOCK = "block"


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why: a permanent code (one row of REASONS), its outcome, a sentence, and what to do."""

    code: str
    outcome: Outcome
    message: str
    fix: str
    fingerprint: str | None = None
    """The finding it speaks of, if it speaks of one."""

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "code": self.code,
            "outcome": self.outcome.value,
            "message": self.message,
            "fix": self.fix,
        }
        return document | ({"fingerprint": self.fingerprint} if self.fingerprint else {})


@dataclass(frozen=True, kw_only=True)
class ComparedWith:
    """One comparison the decision rests on: the version it was made against and why that version."""

    version: str
    digest: str
    role: str
    """``baseline``, ``line`` (an earlier version of the candidate's line) or ``next`` (the higher one)."""
    comparison: Comparison

    def to_document(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "digest": self.digest,
            "role": self.role,
            **self.comparison.to_document(),
        }


@dataclass(frozen=True, kw_only=True)
class GateDecision:
    """One object everywhere: CLI, API, stored check, audit entry, comment."""

    skill: str
    version: str
    outcome: Outcome
    reasons: tuple[Reason, ...]
    verdict: str
    """A Verdict value, or ``"new"`` when there is nothing to compare with."""
    declared: Level | None
    computed: Level | None
    level: Level
    """The one that counts: the worse of declared and computed."""
    bump: Bump
    """The smallest honest bump against the baseline."""
    smallest_version: str | None
    """The smallest version number that would do."""
    compared: tuple[ComparedWith, ...] = ()
    not_checked: tuple[str, ...] = ()

    @property
    def undecided_alone(self) -> bool:
        """Every block rests on an undecided finding: ``govctl`` then ends with 3 instead of 1."""
        blocks = [reason for reason in self.reasons if reason.outcome is Outcome.BLOCK]
        return bool(blocks) and all(reason.code == "undecided" for reason in blocks)

    def to_document(self) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "version": self.version,
            "decision": self.outcome.value,
            "verdict": self.verdict,
            "declared": self.declared.value if self.declared else None,
            "computed": self.computed.value if self.computed else None,
            "level": self.level.value,
            "bump": self.bump.value,
            "smallest_version": self.smallest_version,
            "reasons": [reason.to_document() for reason in self.reasons],
            "compared": [compared.to_document() for compared in self.compared],
            "not_checked": list(self.not_checked),
        }
