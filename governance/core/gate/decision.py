"""The gate's answer: one value everywhere, in the CLI, the API, stored checks and audit entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from governance.core.compat.model import JSON, Bump, Comparison, FindingLevel, Level, Verdict
from governance.core.consumers import ConsumerImpact, Need, summary
from governance.core.gate.facts import GateException
from governance.core.gate.reasons import Outcome

_UNPROVED: Final = (FindingLevel.BREAKING, FindingLevel.UNDECIDED)


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why: a permanent code (one row of REASONS), its outcome, a sentence, and what to do."""

    code: str
    outcome: Outcome
    message: str
    fix: str
    fingerprint: str | None = None
    """The finding it speaks of, if it speaks of one."""
    surroundings: str | None = None
    """What surrounds that finding, as an exception for it keeps it."""
    exception: GateException | None = None
    """The one it speaks of, if it speaks of one."""
    pointer: str | None = None
    """Into the candidate's manifest, where it speaks of one place that no finding names."""
    need: Need | None = None
    """That of the one consumer it speaks of, if it speaks of one."""

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "code": self.code,
            "outcome": self.outcome.value,
            "message": self.message,
            "fix": self.fix,
        }
        document |= {"fingerprint": self.fingerprint} if self.fingerprint else {}
        document |= {"surroundings": self.surroundings} if self.surroundings else {}
        if self.exception is not None:
            document["exception"] = {"id": self.exception.id, "reason": self.exception.reason}
        if self.need is not None:
            document |= {"consumer": self.need.consumer, "environment": self.need.environment}
        return document | ({"pointer": self.pointer} if self.pointer is not None else {})


@dataclass(frozen=True, kw_only=True)
class ComparedWith:
    """One comparison the decision rests on: the version it was made with and why that version.

    For ``next`` the candidate is the older side of the comparison, for all others the newer one.
    """

    version: str
    digest: str
    """The contract digest of that version."""
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
    """What the gate says about one candidate."""

    skill: str
    version: str
    outcome: Outcome
    reasons: tuple[Reason, ...]
    """Worst first."""
    verdict: str
    """A Verdict value: the worst over the line for breaking and undecided, else against the baseline.
    ``"new"`` when there is nothing to compare with."""
    declared: Level | None
    computed: Level | None
    level: Level | None
    """The one that counts, the worse of declared and computed; None: a first version that declares none."""
    bump: Bump
    """The smallest honest bump against the baseline, as it counts there (below 1.0.0 a break is a minor)."""
    smallest_version: str | None
    """The smallest free version number that would do; None when there is nothing to compare with, or when no
    number between the baseline and the next higher version leaves room for the change."""
    baseline: str | None
    opens_line: bool
    line: str
    """The version that opens the line the candidate would stand in."""
    compared: tuple[ComparedWith, ...] = ()
    policy: str = "enforce"
    policy_origin: str = "default"
    consumers: tuple[ConsumerImpact, ...] = ()
    """Who is hit, worst first."""
    surroundings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By fingerprint of every finding an exception may be asked for; several where versions of the line differ."""
    not_checked: tuple[str, ...] = ()

    @property
    def undecided_alone(self) -> bool:
        """Every block rests on an undecided finding: ``govctl`` then ends with 3 instead of 1."""
        blocks = [reason for reason in self.reasons if reason.outcome is Outcome.BLOCK]
        return bool(blocks) and all(reason.code == "undecided" for reason in blocks)

    @property
    def exceptions_used(self) -> tuple[str, ...]:
        """The ids of the exceptions without which it would block."""
        used = (reason.exception for reason in self.reasons if reason.code == "exception-used")
        return tuple(dict.fromkeys(one.id for one in used if one is not None))

    @property
    def opened_by(self) -> tuple[JSON, ...]:
        """The breaking and undecided findings that open a line here, as documents, each once."""
        if not self.opens_line:
            return ()
        findings = {
            finding.fingerprint: finding.to_document()
            for one in self.compared
            if one.role != "next"
            for finding in one.comparison.findings
            if finding.level in _UNPROVED
        }
        return tuple(findings.values())

    @property
    def _shown(self) -> Iterator[ComparedWith]:
        """Of the line only what shows a break that no nearer version shows: the rest is counted."""
        told: set[str] = set()
        for one in self.compared:
            fresh = {found.fingerprint for found in one.comparison.findings if found.level in _UNPROVED} - told
            proved = one.comparison.verdict in (Verdict.COMPATIBLE, Verdict.RISKY)
            if one.role != "line" or fresh or not (proved or one.comparison.findings):
                told |= fresh
                yield one

    def to_document(self) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "version": self.version,
            "decision": self.outcome.value,
            "verdict": self.verdict,
            "declared": self.declared.value if self.declared else None,
            "computed": self.computed.value if self.computed else None,
            "level": self.level.value if self.level else None,
            "bump": self.bump.value,
            "smallest_version": self.smallest_version,
            "baseline": self.baseline,
            "opens_line": self.opens_line,
            "line": self.line,
            "reasons": [reason.to_document() for reason in self.reasons],
            "compared": [compared.to_document() for compared in self._shown],
            "line_compared": sum(one.role == "line" for one in self.compared),
            "policy": {"mode": self.policy, "origin": self.policy_origin},
            "consumers": summary(self.consumers),
            "surroundings": {fingerprint: list(them) for fingerprint, them in self.surroundings.items()},
            "not_checked": list(self.not_checked),
        }
