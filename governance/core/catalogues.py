"""Two catalogues side by side: what was added, removed, renamed, changed, and the bump the release needs.

A catalogue (a server's or package's whole tool list) is released as one, so the worst of its members decides.
A tool that is gone is a break though another looks like it: lists name tools, and a name without an alias no
longer answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any, Final

from governance.core.canonical import canonical_or_text
from governance.core.compat.codes import CODES
from governance.core.compat.model import Bump, Comparison, Evidence, Finding, Level, Side, Verdict
from governance.core.lines import Compare
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, judged_bump, next_version

MOST_PAIRS: Final = 20_000
"""Pairs of a removed and an added tool whose names are compared; beyond that only equal contracts are paired."""

MOST_ALIKE: Final = 50
"""Added tools of one shape among which the closest name is looked for."""

CLOSE: Final = 0.75
"""From this likeness (0 to 1) on, two names without their namespace count as close."""


class MemberChange(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, kw_only=True)
class Member:
    """One tool of the two catalogues."""

    name: str
    """Its name in the old catalogue, or in the new one if it was added."""
    change: MemberChange
    comparison: Comparison
    successor: str | None = None
    """For a renamed or removed tool: the tool to use instead."""
    evidence: str = ""
    """Why the successor counts as one."""

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"name": self.name, "change": self.change.value}
        if self.successor is not None:
            document |= {"successor": self.successor, "evidence": self.evidence}
        return document | self.comparison.to_document()


@dataclass(frozen=True, kw_only=True)
class CatalogueComparison:
    """Every member, worst first, and what the release as a whole needs."""

    members: tuple[Member, ...]
    bump: Bump
    """The worst of the members from 1.0.0 on; ``needed`` knows the rule below it."""

    def of(self, change: MemberChange) -> tuple[Member, ...]:
        return tuple(member for member in self.members if member.change is change)

    def needed(self, version: Version) -> Bump:
        """The smallest honest bump of a release that follows ``version``."""
        return judged_bump(self.bump, version)

    def next_version(self, version: Version) -> Version:
        """The smallest honest number after ``version``; the same when nothing changed."""
        return next_version(version, self.needed(version))

    def to_document(self) -> dict[str, Any]:
        counts = {change.value: len(self.of(change)) for change in MemberChange}
        return {
            "bump": self.bump.value,
            "counts": counts,
            "members": [member.to_document() for member in self.members],
        }


_OPPOSED: Final = (
    frozenset({"create", "add", "insert", "put", "open", "start", "enable", "upload", "attach", "subscribe", "lock"}),
    frozenset({"delete", "remove", "drop", "close", "stop", "disable", "download", "detach", "unsubscribe", "unlock"}),
    frozenset({"get", "list", "read", "fetch", "search", "find", "show", "describe"}),
    frozenset({"set", "write", "update", "edit", "send", "post"}),
)
"""Verbs that never take each other's place, however alike the names."""


@dataclass(frozen=True, kw_only=True)
class _Successor:
    manifest: SkillManifest
    evidence: str


def compare_catalogues(
    old: Sequence[SkillManifest], new: Sequence[SkillManifest], *, compare: Compare
) -> CatalogueComparison:
    """Pair the tools of two catalogues by name, then look for renames among what is left.

    Names are unique within a catalogue (importers see to it). ``compare`` is asked once for each member.
    """
    before = {manifest.name: manifest for manifest in old}
    after = {manifest.name: manifest for manifest in new}
    gone = [manifest for name, manifest in before.items() if name not in after]
    come = [manifest for name, manifest in after.items() if name not in before]
    successors = _successors(gone, come, after)
    taken = {one.manifest.name for one in successors.values()}
    members = [
        _renamed(manifest, successor, compare)
        if (successor := successors.get(manifest.name)) and successor.manifest.name not in before
        else _removed(manifest, successor, compare)
        for manifest in gone
    ]
    for manifest in come:
        if manifest.name not in taken:
            comparison = compare(None, manifest).named(manifest.name)
            members.append(Member(name=manifest.name, change=MemberChange.ADDED, comparison=comparison))
    for name, manifest in before.items():
        if name in after:
            comparison = compare(manifest, after[name]).named(name)
            change = MemberChange.UNCHANGED if comparison.identical else MemberChange.CHANGED
            members.append(Member(name=name, change=change, comparison=comparison))
    members.sort(key=lambda member: (-_bump(member).rank, member.name))
    worst = max((_bump(member) for member in members), key=lambda bump: bump.rank, default=Bump.NONE)
    return CatalogueComparison(members=tuple(members), bump=worst)


def _bump(member: Member) -> Bump:
    """An invalid member proves nothing, so it needs as much as a break."""
    return Bump.MAJOR if member.comparison.verdict is Verdict.INVALID else member.comparison.bump


def _removed(manifest: SkillManifest, successor: _Successor | None, compare: Compare) -> Member:
    return Member(
        name=manifest.name,
        change=MemberChange.REMOVED,
        comparison=compare(manifest, None).named(manifest.name),
        successor=successor.manifest.name if successor else None,
        evidence=successor.evidence if successor else "",
    )


def _renamed(manifest: SkillManifest, successor: _Successor, compare: Compare) -> Member:
    name = successor.manifest.name
    row = CODES["contract.tool-renamed"]
    renamed = Finding(
        code=row.id,
        side=Side.CONTRACT,
        level=row.level,
        message=f"{row.title}: {manifest.name} → {name} ({successor.evidence})",
        fix=row.fix,
        old=manifest.name,
        new=name,
        evidence=Evidence(field="name", old=manifest.name, new=name),
    )
    beyond = compare(manifest, successor.manifest)
    comparison = replace(
        beyond,
        verdict=Verdict.INVALID if beyond.verdict is Verdict.INVALID else Verdict.BREAKING,
        level=Level.BREAKING_CHANGE,
        findings=(renamed, *(finding for finding in beyond.findings if finding.code != row.id)),
        identical=False,
        reason=beyond.reason if beyond.verdict is Verdict.INVALID else None,
    )
    return Member(
        name=manifest.name,
        change=MemberChange.RENAMED,
        comparison=comparison.named(manifest.name),
        successor=name,
        evidence=successor.evidence,
    )


def _successors(
    gone: Sequence[SkillManifest], come: Sequence[SkillManifest], after: dict[str, SkillManifest]
) -> dict[str, _Successor]:
    """For each tool that is gone the one that took its place, if a declaration, its contract or its name says so."""
    found: dict[str, _Successor] = {}
    left = {manifest.name: manifest for manifest in come}
    for manifest in gone:
        declared = (manifest.replacement or "").partition("@")[0]
        if declared in after:
            found[manifest.name] = _Successor(manifest=after[declared], evidence="declared as its replacement")
            left.pop(declared, None)
    for alike, evidence in (
        (_contract, "the same contract"),
        (_schemas, "the same schemas"),
    ):
        by_shape: dict[str, list[SkillManifest]] = {}
        for other in left.values():
            by_shape.setdefault(alike(other), []).append(other)
        for manifest in gone:
            same = [one for one in by_shape.get(alike(manifest), ()) if one.name in left][:MOST_ALIKE]
            if manifest.name in found or not same:
                continue
            closest = max(same, key=lambda one: (_likeness(manifest, one), one.name))
            # many tools take nothing, or one id: equal schemas alone say little
            if alike is _schemas and not _share_a_word(manifest, closest):
                continue
            found[manifest.name] = _Successor(manifest=left.pop(closest.name), evidence=evidence)
    if len(gone) * len(left) <= MOST_PAIRS:
        pairs = [
            (likeness, manifest, other)
            for manifest in gone
            for other in left.values()
            if manifest.name not in found and (likeness := _likeness(manifest, other)) >= CLOSE
        ]
        for _, manifest, other in sorted(pairs, key=lambda pair: (-pair[0], pair[1].name, pair[2].name)):
            if manifest.name not in found and other.name in left:
                found[manifest.name] = _Successor(manifest=left.pop(other.name), evidence="a close name")
    return found


def _contract(manifest: SkillManifest) -> str:
    return manifest.contract_digest


def _schemas(manifest: SkillManifest) -> str:
    return canonical_or_text([manifest.input_schema, manifest.output_schema])


def _likeness(one: SkillManifest, other: SkillManifest) -> float:
    """How alike two names are without their namespace, from 0 to 1; one within the other counts as close."""
    left, right = _words(one), _words(other)
    if _opposed(left, right):
        return 0
    ratio = SequenceMatcher(None, "_".join(left), "_".join(right)).ratio()
    within = set(left) <= set(right) or set(right) <= set(left)
    return max(CLOSE, ratio) if within else ratio


def _share_a_word(one: SkillManifest, other: SkillManifest) -> bool:
    left, right = _words(one), _words(other)
    return bool(set(left) & set(right)) and not _opposed(left, right)


def _words(manifest: SkillManifest) -> list[str]:
    return manifest.name.rpartition(".")[2].split("_")


def _opposed(left: list[str], right: list[str]) -> bool:
    """Does each name hold a verb that the other has an opposite of, and not the verb itself?"""
    kinds = [{n for n, verbs in enumerate(_OPPOSED) if verbs & set(words)} for words in (left, right)]
    return bool(kinds[0] and kinds[1]) and not kinds[0] & kinds[1]
