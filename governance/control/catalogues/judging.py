"""A proposal before the gate: each member numbered and judged beside its history, then the release as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from governance.control.catalogues.proposing import Proposal
from governance.control.catalogues.reading import Beside, held
from governance.control.skills.judging import BLOCKING_LINTS, Judge, Terms
from governance.control.skills.reading import Found, published
from governance.core import gate
from governance.core.catalogues import compare_catalogues
from governance.core.compat.model import Comparison, Level, Verdict
from governance.core.contract import OUTSIDE_CONTRACT, SkillManifest
from governance.core.gate import HistoryItem, ReplacementFacts
from governance.core.lint import lint
from governance.core.releases import (
    ReleaseDecision,
    ReleaseMember,
    VersionBy,
    decide_release,
    needed_bump,
    smallest_release,
)
from governance.core.versioning import Version, judged_bump

Successors = Callable[[Mapping[str, SkillManifest]], Mapping[str, ReplacementFacts | None]]
"""What is known of the replacements that some manifests, by name, declare."""

_UNCHANGED = Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE, identical=True)
"""Of a contract with itself, which was let in before; most tools of a release are of this kind."""
_FIRST = Version(major=1, minor=0, patch=0)


@dataclass
class Comparisons:
    """The comparisons of one release, each made once: more than the judge remembers, whatever the numbers are."""

    judge: Judge
    _known: dict[tuple[str | None, str | None], Comparison] = field(default_factory=dict)
    _identities: dict[int, tuple[SkillManifest, str]] = field(default_factory=dict)
    _manifests: dict[str, SkillManifest] = field(default_factory=dict)

    def __call__(self, old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        key = (self._identity(old), self._identity(new))
        if key not in self._known:
            unchanged = old is not None and key[0] == key[1]
            self._known[key] = _UNCHANGED if unchanged else self.judge.compare(old, new)
        return self._known[key]

    def manifest(self, row: Found) -> SkillManifest:
        digest: str = row["manifest_digest"]
        if digest not in self._manifests:
            self._manifests[digest] = self.judge.manifest(row)
        return self._manifests[digest]

    def _identity(self, manifest: SkillManifest | None) -> str | None:
        """All but the number, at which no comparison looks: the contract's digest, and what stands outside it."""
        if manifest is None:
            return None
        if id(manifest) not in self._identities:
            outside = [getattr(manifest, name) for name in sorted(OUTSIDE_CONTRACT - {"version"})]
            self._identities[id(manifest)] = manifest, f"{manifest.contract_digest} {outside!r}"
        return self._identities[id(manifest)][1]


def judge_release(
    proposal: Proposal,
    beside: Beside,
    successors: Successors,
    terms: Terms,
    *,
    compare: Comparisons,
    unreadable: Sequence[Mapping[str, Any]] = (),
) -> ReleaseDecision:
    """The gate's decision on the release and on each of its members.

    ``unreadable``: decision documents on what was sent and is no contract; nothing counts as withdrawn that may
    be among them.
    """
    histories = {
        name: [HistoryItem(published=published(row), manifest=compare.manifest(row)) for row in rows]
        for name, rows in beside.histories.items()
    }
    hidden = {decision["skill"] for decision in unreadable}
    before = [
        replace(one, replacement=f"{proposal.renamed[one.name]}@*") if one.name in proposal.renamed else one
        for one in held(beside.before, compare.manifest)
        if one.name not in hidden and not ("" in hidden and one.name not in proposal.members)
    ]
    changes = compare_catalogues(before, list(proposal.members.values()), compare=compare)
    version = proposal.version
    if version is None:
        version = _FIRST
        if beside.baseline is not None:
            bump = judged_bump(needed_bump(changes, proposal.members), beside.baseline)
            version = smallest_release(beside.baseline, bump, beside.releases)
        if proposal.version_by is VersionBy.RELEASE:
            honest = (
                gate.auto_version(one, histories[name], compare=compare, transitive=terms.transitive)
                for name, one in proposal.members.items()
            )
            version = max([version, *honest])
    members = {}
    numbered = {
        name: _numbered(one, proposal.version_by, version, histories[name], compare, terms)
        for name, one in proposal.members.items()
    }
    known = successors(numbered)
    for name, manifest in numbered.items():
        decision = None
        if not _stands(manifest, proposal, histories[name]):
            decision = _decide(manifest, histories[name], terms, known.get(name), beside.around[name], compare)
        members[name] = ReleaseMember(manifest=manifest, decision=decision)
    return decide_release(
        proposal.catalogue,
        version,
        version_by=proposal.version_by,
        members=members,
        changes=changes,
        baseline=beside.baseline,
        taken=beside.releases,
        standing=None if version not in beside.releases else beside.releases[version] == proposal.digest,
        unreadable=unreadable,
    )


def _numbered(
    manifest: SkillManifest,
    version_by: VersionBy,
    version: Version,
    history: Sequence[HistoryItem],
    compare: Comparisons,
    terms: Terms,
) -> SkillManifest:
    """The member under its number; one that stands already is the very manifest that stands."""
    if version_by is VersionBy.RELEASE:
        number = str(version)
        return manifest if manifest.version == number else manifest.numbered(number)
    if manifest.version:
        return manifest
    honest = gate.auto_version(manifest, history, compare=compare, transitive=terms.transitive, by_content=True)
    standing = next((one for one in history if one.version == honest), None)
    if standing is not None and standing.manifest.contract_digest == manifest.contract_digest:
        return standing.manifest
    return manifest.numbered(str(honest))


def _stands(manifest: SkillManifest, proposal: Proposal, history: Sequence[HistoryItem]) -> bool:
    by_content = proposal.version_by is VersionBy.CONTENT and not proposal.members[manifest.name].version
    return by_content and any(one.manifest is manifest for one in history)


def _decide(
    manifest: SkillManifest,
    history: Sequence[HistoryItem],
    terms: Terms,
    replacement: ReplacementFacts | None,
    around: gate.Surroundings,
    compare: Comparisons,
) -> gate.GateDecision:
    return gate.decide(
        manifest,
        history,
        compare=compare,
        lint_findings=lint(manifest, severities=BLOCKING_LINTS),
        transitive=terms.transitive,
        fail_on=None if terms.fail_on is None else Verdict(terms.fail_on),
        replacement=replacement,
        around=around,
        today=datetime.now(UTC).date(),
    )
