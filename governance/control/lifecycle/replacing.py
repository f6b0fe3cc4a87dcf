"""The replacement that a deprecation names: whether it can stand, and whether callers could take it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session

from governance.control.auth.roles import Caller
from governance.control.lifecycle.holding import Held, HeldVersion
from governance.control.skills.judging import Judge
from governance.control.skills.ordering import sort_key
from governance.control.skills.reading import stored_version
from governance.control.skills.service import replacement_facts
from governance.core.compat.model import Comparison, FindingLevel, Verdict
from governance.core.gate import REASONS, can_replace, replacement_faults
from governance.core.lines import preferred
from governance.core.skill import NO_REPLACEMENT
from governance.core.versioning import Range, Version
from governance.errors import Conflict, Fault

_COMPARED: Final = 10
"""Distinct contracts that are held against the replacement, the highest versions first."""
_FINDINGS: Final = 10

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('replacements', 0))")


@dataclass(frozen=True, kw_only=True)
class DropIn:
    """Could callers of ``version`` call ``replacement`` (``name@version``) as they call it now?"""

    version: Version
    replacement: str
    comparison: Comparison

    def to_document(self) -> dict[str, Any]:
        findings = [
            finding.to_document() for finding in self.comparison.findings if finding.level is not FindingLevel.NOTE
        ]
        return {
            "version": str(self.version),
            "replacement": self.replacement,
            "drop_in": self.comparison.verdict is Verdict.COMPATIBLE,
            "verdict": self.comparison.verdict.value,
            "findings": findings[:_FINDINGS],
            "more_findings": max(0, len(findings) - _FINDINGS),
        }


def one_at_a_time(session: Session) -> None:
    """Whoever names a replacement waits for the others who do: circles are closed by two who do not see each other."""
    session.execute(_LOCK)


def replacing_version(held: Held, targets: Sequence[HeldVersion], replacement: str, *, by: Caller) -> Version | None:
    """The version that would take the place, None where there is none on purpose.

    Raises Conflict where the replacement is missing, not active, the version itself, or leads back.
    """
    facts = replacement_facts(held.session, replacement, by=by)
    versions = [one.version for one in targets]
    faults = list(replacement_faults(held.skill, versions, replacement, facts))
    if faults:
        raise Conflict(
            faults[0][1],
            fix=REASONS[faults[0][0]].fix,
            faults=[Fault(pointer="/replacement", message=message, code=code) for code, message in faults],
        )
    if facts is None or replacement == NO_REPLACEMENT:
        return None
    range_ = Range.parse(replacement.partition("@")[2])
    return preferred([one for one in facts.published if can_replace(one) and range_.admits(one.version)]).version


def drop_ins(
    held: Held, targets: Sequence[HeldVersion], replacement: str, version: Version, *, judge: Judge
) -> Iterator[DropIn]:
    """Each distinct contract of ``targets`` against the version that replaces it, the highest first."""
    name = replacement.partition("@")[0]
    new = judge.manifest(stored_version(held.session, name, sort_key(version)))
    # under one name: a comparison of two names would be one of two skills
    new = replace(new, name=held.skill)
    seen: set[str] = set()
    for one in sorted(targets, key=lambda target: target.version.key, reverse=True):
        old = judge.manifest(one.row)
        if old.promise_digest not in seen and len(seen) < _COMPARED:
            seen.add(old.promise_digest)
            yield DropIn(version=one.version, replacement=f"{name}@{version}", comparison=judge.compare(old, new))
