"""Where a candidate stands: what it is judged against, and what the comparisons say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from governance.core.compat.model import Bump, Comparison, Finding, FindingLevel, Level, Verdict
from governance.core.gate.decision import ComparedWith
from governance.core.gate.excuses import Excuses
from governance.core.lines import Compare, HistoryItem, baseline_of, line_containing, lines_of
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, judged_bump, smallest_version

UNPROVED: Final = (FindingLevel.BREAKING, FindingLevel.UNDECIDED)
"""Findings that keep a version from being compatible."""

DECLARED_BUMP: Final = {
    Level.BACKWARD_COMPATIBLE: Bump.PATCH,
    Level.INPUT_COMPATIBLE: Bump.MINOR,
    Level.BREAKING_CHANGE: Bump.MAJOR,
    Level.UNDECIDED: Bump.MAJOR,
}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One candidate beside the history of its skill. Every comparison is made once, when first asked for."""

    candidate: SkillManifest
    version: Version
    history: Sequence[HistoryItem]
    """Every other version of the skill."""
    compare: Compare
    transitive: bool
    excuses: Excuses = field(default_factory=Excuses)
    taken: frozenset[Version] = frozenset()
    """Numbers that are gone; with the candidate's own, if other bytes have it."""

    @cached_property
    def baseline(self) -> HistoryItem | None:
        found = baseline_of(self.version, [one.published for one in self.history])
        return next((one for one in self.history if one.published is found), None)

    @cached_property
    def _line(self) -> list[HistoryItem]:
        """The rest of the baseline's line, ascending: every version that can be a baseline itself."""
        if self.baseline is None:
            return []
        line = line_containing(lines_of(one.published for one in self.history), self.baseline.version)
        inside = {one.version for one in line.versions} if line else set()
        found = [one for one in self.history if one.version in inside and one.published.is_baseline]
        return sorted((one for one in found if one is not self.baseline), key=lambda one: one.version.key)

    @property
    def earlier(self) -> list[HistoryItem]:
        """The line below the baseline, nearest first."""
        return [one for one in reversed(self._line) if one.version < self.version]

    @property
    def later(self) -> HistoryItem | None:
        """The next higher version of the line: the candidate is a backport if there is one."""
        return next((one for one in self._line if one.version > self.version), None)

    @cached_property
    def alone(self) -> Comparison:
        """What the engine says of the candidate with nothing to compare: whether it is valid."""
        return self.compare(None, self.candidate)

    @cached_property
    def compared(self) -> tuple[ComparedWith, ...]:
        """The baseline first, then the line from the nearest down, each promise once.

        Of the line only breaks count, so versions that differ in texts alone are compared once.
        """
        if self.baseline is None:
            return ()
        found = [self._against(self.baseline, "baseline")]
        seen = {self.baseline.manifest.promise_digest, self.candidate.promise_digest}
        for item in self.earlier if self.transitive else ():
            if item.manifest.promise_digest not in seen:
                seen.add(item.manifest.promise_digest)
                found.append(self._against(item, "line"))
        return tuple(found)

    def _against(self, item: HistoryItem, role: str) -> ComparedWith:
        comparison = self.compare(item.manifest, self.candidate).named(self.candidate.name)
        digest = item.published.contract_digest
        return ComparedWith(version=str(item.version), digest=digest, role=role, comparison=comparison)

    @cached_property
    def onward(self) -> ComparedWith | None:
        """The step from a backport to the next higher version of its line."""
        item = self.later
        if item is None or self.opens_line or item.published.contract_digest == self.candidate.contract_digest:
            return None
        comparison = self.compare(self.candidate, item.manifest).named(self.candidate.name)
        digest = item.published.contract_digest
        return ComparedWith(version=str(item.version), digest=digest, role="next", comparison=comparison)

    @cached_property
    def verdict(self) -> str:
        """A Verdict value, or ``new``."""
        if self.baseline is None:
            return "new" if self.alone.verdict is not Verdict.INVALID else Verdict.INVALID.value
        verdicts = {one.comparison.verdict for one in self.compared}
        for verdict in (Verdict.INVALID, Verdict.BREAKING, Verdict.UNDECIDED):
            if verdict in verdicts:
                return verdict.value
        return self.compared[0].comparison.verdict.value

    @cached_property
    def computed(self) -> Level | None:
        """Breaking and undecided are the worst over the line; else what the baseline says."""
        return _worst([_level(one.comparison) for one in self.compared])

    @cached_property
    def counted(self) -> Level | None:
        """The computed level without the findings that exceptions let pass."""
        return _worst([self._excused(one) for one in self.compared])

    @cached_property
    def _manifests(self) -> dict[str, SkillManifest]:
        return {str(one.version): one.manifest for one in self.history}

    def sides(self, one: ComparedWith) -> tuple[SkillManifest, SkillManifest]:
        """The older and the newer manifest of a comparison."""
        other = self._manifests[one.version]
        return (self.candidate, other) if one.role == "next" else (other, self.candidate)

    def passes(self, one: ComparedWith, finding: Finding) -> bool:
        """Does an exception let the finding of a comparison pass?"""
        return bool(self.excuses.exceptions) and self.excuses.of(finding, *self.sides(one)) is not None

    @cached_property
    def surroundings(self) -> dict[str, tuple[str, ...]]:
        """What surrounds every finding that an exception may be asked for, by its fingerprint."""
        found: dict[str, dict[str, None]] = {}
        for one in (*self.compared, *((self.onward,) if self.onward else ())):
            asked = UNPROVED if one.role != "baseline" else (*UNPROVED, FindingLevel.RISKY)
            for finding in one.comparison.findings:
                if finding.level in asked:
                    around = self.excuses.around(finding, *self.sides(one))
                    found.setdefault(finding.fingerprint, {})[around] = None
        return {fingerprint: tuple(them) for fingerprint, them in found.items()}

    def _excused(self, one: ComparedWith) -> Level:
        comparison = one.comparison
        unproved = [finding for finding in comparison.findings if finding.level in UNPROVED]
        if not unproved or comparison.verdict is Verdict.INVALID:
            return _level(comparison)
        left = {finding.level for finding in unproved if not self.passes(one, finding)}
        if FindingLevel.BREAKING in left:
            return Level.BREAKING_CHANGE
        return Level.UNDECIDED if left else Level.INPUT_COMPATIBLE

    @property
    def level(self) -> Level | None:
        levels = [one for one in (self.candidate.compatibility, self.computed) if one is not None]
        return max(levels, key=lambda one: one.rank, default=None)

    @property
    def opens_line(self) -> bool:
        """No exception keeps a line from opening: exceptions never replace consent."""
        return self.baseline is None or (self.level is not None and self.level.rank >= 2)

    @cached_property
    def bump(self) -> Bump:
        """The smallest bump that would do above the baseline; undecided counts as breaking."""
        if self.baseline is None or self.counted is None:
            return Bump.NONE
        found = Bump.MAJOR if self.counted.rank >= 2 else self.compared[0].comparison.bump
        if self.counted.rank < 2 and found is Bump.MAJOR:
            found = Bump.MINOR  # what breaks against the baseline passes by exception
        declared = self.candidate.compatibility
        if declared is not None:
            found = max(found, DECLARED_BUMP[declared], key=lambda one: one.rank)
        return judged_bump(found, self.baseline.version)

    @cached_property
    def smallest(self) -> Version | None:
        """The smallest free number that would do, None when the next higher version leaves no room for it."""
        if self.baseline is None:
            return None
        smallest = smallest_version(self.baseline.version, self.version, self.bump)
        while smallest in self.taken:
            smallest = smallest_version(smallest, self.version, Bump.PATCH)
        above = [one.version for one in self.history if one.version > self.version and one.published.is_baseline]
        return None if any(one < smallest for one in above) else smallest

    def worst_finding(self) -> tuple[ComparedWith, Finding] | None:
        """The finding that makes the level what it is, and the comparison it stands in."""
        for wanted in (*UNPROVED, FindingLevel.RISKY):
            for one in self.compared:
                for finding in one.comparison.findings:
                    if finding.level is wanted and not self.passes(one, finding):
                        return one, finding
        return None


def _level(comparison: Comparison) -> Level:
    """An invalid side proves nothing."""
    return Level.UNDECIDED if comparison.verdict is Verdict.INVALID else comparison.level


def _worst(levels: Sequence[Level]) -> Level | None:
    """The first is the baseline's, the only one that counts when all are milder than undecided."""
    for level in (Level.BREAKING_CHANGE, Level.UNDECIDED):
        if level in levels:
            return level
    return levels[0] if levels else None
