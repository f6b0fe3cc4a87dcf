"""The gate without a registry: candidates against what stood before, as one release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.cli.pairing import by_name
from governance.cli.present import JSONObject, is_taken
from governance.core.catalogues import Member, MemberChange, compare_catalogues
from governance.core.compat.model import Bump, Verdict
from governance.core.gate import (
    NEEDS_A_REGISTRY,
    Compare,
    GateDecision,
    HistoryItem,
    LintComplaint,
    Outcome,
    Reason,
    auto_version,
    decide,
    replay,
)
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, judged_bump, next_version, satisfies_bump
from governance.errors import UsageError
from governance.importers import Imported, ImportResult, Refused

Lint = Callable[[SkillManifest], Iterable[LintComplaint]]

_ASSUMED: Final = "1.0.0"
"""The number of what stood before, where nobody numbers anything."""


@dataclass(frozen=True, kw_only=True)
class Gone:
    """A skill whose name does not answer any more: removed, or renamed to its successor.

    It blocks unless the release's number announces it.
    """

    member: Member
    version: str
    """What stood before; empty if it had no number."""
    blocks: bool

    @property
    def renamed(self) -> bool:
        return self.member.change is MemberChange.RENAMED

    def to_document(self) -> dict[str, Any]:
        outcome = "block" if self.blocks else "warn"
        return {"version": self.version or None, "decision": outcome, **self.member.to_document()}


@dataclass(frozen=True, kw_only=True)
class Release:
    """The gate's answer over everything that is released together.

    Nothing counts as removed while a whole source is unreadable: it may be in there.
    """

    against: str
    decisions: tuple[JSONObject, ...]
    """``GateDecision`` documents, in the order of the candidates."""
    undecided_alone: bool = False
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    gone: tuple[Gone, ...] = ()
    """Removed and renamed skills."""
    refused: tuple[Refused, ...] = ()
    baseline_refused: tuple[Refused, ...] = ()
    bump: Bump = Bump.NONE
    """What the release needs: the worst of its members."""
    smallest_version: str | None = None
    """The smallest number that would do for the release, where all members stood at one number before."""
    not_checked: tuple[str, ...] = ()
    sources: tuple[Imported, ...] = ()
    """Where the candidates were read."""
    baseline_sources: tuple[Imported, ...] = ()

    @property
    def outcome(self) -> str:
        outcomes = {decision["decision"] for decision in self.decisions}
        if self.refused or any(one.blocks for one in self.gone) or "block" in outcomes:
            return "block"
        mild = "warn" in outcomes or self.gone or self.baseline_refused or self.compared_with_nothing
        return "warn" if mild else "allow"

    @property
    def compared_with_nothing(self) -> bool:
        """Not one of these skills stood there before: a first release, or the wrong place to look."""
        known = any(decision["compared"] or is_taken(decision) for decision in self.decisions)
        return not known and not (self.unchanged or self.gone or self.refused)

    @property
    def exit_code(self) -> int:
        """1 when something blocks, 3 when undecided findings are all that does."""
        if self.outcome != "block":
            return 0
        others = self.refused or any(one.blocks for one in self.gone)
        return 3 if self.undecided_alone and not others else 1


def check_release(
    new: ImportResult,
    old: ImportResult,
    *,
    against: str,
    compare: Compare,
    lint: Lint,
    fail_on: Verdict | None,
    transitive: bool = True,
) -> Release:
    """Judge every candidate of ``new`` against the versions of it in ``old``.

    Where one of the two sides has no version, numbers are not judged: then every break blocks, since nothing
    announces it, and ``not_checked`` says so.

    Raises:
        UsageError: a candidate's version lies below the one before it.
    """
    before = _versions(old.accepted)
    decisions: list[GateDecision] = []
    numbered = True
    for manifest in new.accepted:
        history, judged = _history(manifest, before.get(manifest.name, ()), compare)
        candidate = manifest
        stale = judged and _keeps_its_number(manifest, history)
        if not judged or not manifest.version or stale:
            number = auto_version(manifest, history, compare=compare, by_content=True)
            candidate = replace(manifest, version=str(number))
            numbered = numbered and (stale or not history)
        elif history and history[-1].version > Version.parse(manifest.version):
            raise UsageError(
                f"{manifest.name} is {manifest.version} and stands at {history[-1].version} in {against}.",
                fix="Compare with something older, or give a higher version.",
            )
        decision = decide(
            candidate,
            history,
            compare=compare,
            lint_findings=lint(candidate),
            transitive=transitive,
            fail_on=fail_on or (None if judged and manifest.version else Verdict.BREAKING),
            not_checked=NEEDS_A_REGISTRY,
        )
        decisions.append(_number_taken(decision, manifest) if stale else decision)
    unreadable = {refused.name for refused in new.refused}
    gone = _gone(before, new, compare, unreadable)
    successors = {one.member.successor for one in gone if one.renamed}
    added = tuple(d.skill for d in decisions if d.skill not in before and d.skill not in successors)
    changed = tuple(d.skill for d in decisions if d.skill in before and _changed(d))
    bump = max(
        [d.bump for d in decisions if d.compared] + [_gone_bump(one) for one in gone], key=_rank, default=Bump.NONE
    )
    return Release(
        against=against,
        decisions=tuple(decision.to_document() for decision in decisions),
        undecided_alone=_undecided_alone(decisions),
        added=added,
        changed=changed,
        unchanged=tuple(d.skill for d in decisions if d.skill in before and d.skill not in changed),
        gone=gone,
        refused=new.refused,
        baseline_refused=old.refused,
        bump=bump,
        smallest_version=_smallest(before, bump),
        not_checked=(*NEEDS_A_REGISTRY, *(() if numbered else ("version",))),
        sources=new.imported,
        baseline_sources=old.imported,
    )


def _rank(bump: Bump) -> int:
    return bump.rank


def _versions(manifests: Iterable[SkillManifest]) -> dict[str, tuple[SkillManifest, ...]]:
    found: dict[str, tuple[SkillManifest, ...]] = {}
    for manifest in manifests:
        found[manifest.name] = (*found.get(manifest.name, ()), manifest)
    return found


def _history(
    candidate: SkillManifest, before: Sequence[SkillManifest], compare: Compare
) -> tuple[list[HistoryItem], bool]:
    """What stood before, ascending, and whether its numbers are known."""
    known = bool(candidate.version) and all(manifest.version for manifest in before)
    used = before if known else [replace(manifest, version=_ASSUMED) for manifest in before[-1:]]
    return replay(used, compare=compare), known or not before


def _keeps_its_number(candidate: SkillManifest, history: Sequence[HistoryItem]) -> bool:
    """It changed, and still says the number that stood before."""
    same = next((item for item in history if str(item.version) == candidate.version), None)
    return same is not None and same.published.manifest_digest != candidate.manifest_digest


def _number_taken(decision: GateDecision, candidate: SkillManifest) -> GateDecision:
    """The decision over the number it should have, blocked for the number it has."""
    reason = Reason(
        code="version-taken",
        outcome=Outcome.BLOCK,
        message=f"It changed and still says {candidate.version}.",
        fix=f"Number it {decision.smallest_version or decision.version}.",
    )
    return replace(decision, version=candidate.version, outcome=Outcome.BLOCK, reasons=(reason, *decision.reasons))


def _changed(decision: GateDecision) -> bool:
    return any(not one.comparison.identical for one in decision.compared if one.role == "baseline")


def _gone(
    before: dict[str, tuple[SkillManifest, ...]], new: ImportResult, compare: Compare, unreadable: set[str]
) -> tuple[Gone, ...]:
    if "" in unreadable:
        return ()
    after = by_name(new.accepted)
    numbers = {manifest.version for manifest in after.values()}
    release = Version.parse(next(iter(numbers))) if len(numbers) == 1 and "" not in numbers else None
    old = [
        versions[-1]
        for name, versions in before.items()
        if name not in after and unreadable.isdisjoint({name, versions[-1].external_name or name})
    ]
    names = {manifest.name for manifest in old}
    declared = {(manifest.replacement or "").partition("@")[0] for manifest in old}
    stayed = [before[name][-1] for name in declared & before.keys() & after.keys()]
    come = [manifest for name, manifest in after.items() if name not in before or name in declared]
    members = compare_catalogues([*old, *stayed], come, compare=compare).members
    return tuple(
        Gone(member=member, version=version, blocks=not _announced(version, release))
        for member in members
        if member.name in names
        for version in (before[member.name][-1].version,)
    )


def _announced(version: str, release: Version | None) -> bool:
    """Is the release's number one that may break what stood at ``version``?"""
    if release is None or not version:
        return False
    old = Version.parse(version)
    return satisfies_bump(old, release, judged_bump(Bump.MAJOR, old))


def _gone_bump(gone: Gone) -> Bump:
    return judged_bump(Bump.MAJOR, Version.parse(gone.version)) if gone.version else Bump.MAJOR


def _smallest(before: dict[str, tuple[SkillManifest, ...]], bump: Bump) -> str | None:
    numbers = {versions[-1].version for versions in before.values()}
    if len(numbers) != 1 or "" in numbers or bump is Bump.NONE:
        return None
    return str(next_version(Version.parse(next(iter(numbers))), bump))


def _undecided_alone(decisions: Sequence[GateDecision]) -> bool:
    blocked = [decision for decision in decisions if decision.outcome.value == "block"]
    return bool(blocked) and all(decision.undecided_alone for decision in blocked)
