"""The gate without a registry: candidates against what stood before, as one release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from governance.cli.announcing import (
    Numbers,
    breaks_let_in,
    too_small_to_add,
    undecided_alone,
)
from governance.cli.judging import Candidate, Judging, Lint
from governance.cli.pairing import by_name
from governance.cli.present import JSONObject, is_taken
from governance.core.catalogues import Member, MemberChange, compare_catalogues
from governance.core.compat.model import Bump, Verdict
from governance.core.gate import (
    NEEDS_A_REGISTRY,
    Compare,
)
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, judged_bump, next_version, satisfies_bump
from governance.errors import UsageError
from governance.importers import Imported, ImportResult, Refused

Each = Callable[[Judging, Sequence[Candidate]], Iterable[JSONObject]]


@dataclass(frozen=True, kw_only=True)
class Gone:
    """A skill whose name does not answer any more: removed, or renamed to its successor.

    It blocks unless the release's number announces it.
    """

    member: Member
    version: str
    """What stood before; empty if it had no number."""
    blocks: bool
    allowed: bool = False
    """The command line said that it may go."""

    @property
    def renamed(self) -> bool:
        return self.member.change is MemberChange.RENAMED

    def to_document(self) -> dict[str, Any]:
        outcome = "block" if self.blocks else "warn"
        allowed = {"allowed": True} if self.allowed else {}
        return {"version": self.version or None, "decision": outcome, **allowed, **self.member.to_document()}


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
    by_registry: bool = False
    """A registry decided, so what it left out no registry would say."""
    let_in: str = ""
    """What is to be said of breaks that pass because of their number."""
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
    numbers: Numbers | None = None,
    may_go: Collection[str] = (),
    each: Each = map,
) -> Release:
    """Judge every candidate of ``new`` against the versions of it in ``old``.

    Where one of the two sides has no version, numbers are not judged: then every break blocks unless ``numbers``
    are automatic, since nothing announces it, and ``not_checked`` says so. ``may_go`` names skills whose
    disappearance does not block. ``each`` judges the candidates, in their order, with as many hands as it has.

    Raises:
        UsageError: a candidate's version lies below the one before it; it was given, and what stood before has none.
    """
    numbers = numbers or Numbers()
    before = _versions(old.accepted)
    if numbers.chosen:
        _same_footing(before, against)
    judging = Judging(
        against=against, compare=compare, lint=lint, fail_on=fail_on, transitive=transitive, numbers=numbers
    )
    candidates = [_candidate(manifest, before.get(manifest.name, ()), old.refused) for manifest in new.accepted]
    decisions = list(each(judging, candidates))
    unknown = not all(one.is_numbered for one in candidates)
    unreadable = {refused.name for refused in new.refused}
    gone = _gone(before, new, compare, unreadable, may_go=may_go, announced=numbers.automatic)
    successors = {one.member.successor for one in gone if one.renamed}
    added = tuple(
        d["skill"]
        for d in decisions
        if d["skill"] not in before and d["skill"] not in successors and d["verdict"] != Verdict.INVALID.value
    )
    changed = tuple(d["skill"] for d in decisions if d["skill"] in before and _changed(d))
    needed = [Bump(d["bump"]) for d in decisions if d["compared"]] + [_gone_bump(one) for one in gone]
    was, release = _one_number(before.values()), _one_number([(one,) for one in new.accepted])
    if added and before:
        needed.append(judged_bump(Bump.MINOR, was) if was else Bump.MINOR)
        if was and release and was != release and not satisfies_bump(was, release, needed[-1]):
            smallest = str(next_version(was, needed[-1]))
            decisions = [
                too_small_to_add(one, above=str(was), smallest=smallest) if one["skill"] in added else one
                for one in decisions
            ]
    bump = max(needed, key=_rank, default=Bump.NONE)
    return Release(
        against=against,
        decisions=tuple(decisions),
        undecided_alone=undecided_alone(decisions),
        added=added,
        changed=changed,
        unchanged=tuple(d["skill"] for d in decisions if d["skill"] in before and d["skill"] not in changed),
        gone=gone,
        refused=new.refused,
        baseline_refused=old.refused,
        bump=bump,
        smallest_version=_smallest(before, bump),
        not_checked=(*NEEDS_A_REGISTRY, *(("version",) if unknown else ())),
        let_in=breaks_let_in(decisions, verb="to be published"),
        sources=new.imported,
        baseline_sources=old.imported,
    )


def _candidate(manifest: SkillManifest, stood: tuple[SkillManifest, ...], refused: Iterable[Refused]) -> Candidate:
    hiding = None if stood else _hiding(manifest, refused)
    hidden = None if hiding is None else (hiding.name, hiding.error.message)
    return Candidate(manifest=manifest, stood=stood, hidden=hidden)


def _hiding(manifest: SkillManifest, refused: Iterable[Refused]) -> Refused | None:
    """What could not be read in the baseline and may be this very skill: of its name, or a whole source."""
    names = {"", manifest.name, manifest.external_name or manifest.name}
    return next((one for one in refused if one.name in names), None)


def _same_footing(before: Mapping[str, Sequence[SkillManifest]], against: str) -> None:
    """A number that was given says nothing beside a baseline without one."""
    bare = [name for name, versions in before.items() if not versions[-1].version]
    if bare:
        named = ", ".join(bare[:3]) + (", …" if len(bare) > 3 else "")
        raise UsageError(
            f"--version says nothing beside a baseline that has no version ({named} in {against}).",
            fix="Add --old-version with the number that stands there, or leave --version out: then a break blocks.",
        )


def _rank(bump: Bump) -> int:
    return bump.rank


def _versions(manifests: Iterable[SkillManifest]) -> dict[str, tuple[SkillManifest, ...]]:
    found: dict[str, tuple[SkillManifest, ...]] = {}
    for manifest in manifests:
        found[manifest.name] = (*found.get(manifest.name, ()), manifest)
    return found


def _changed(decision: JSONObject) -> bool:
    return any(one["bump"] != "none" for one in decision["compared"] if one["role"] == "baseline")


def _gone(
    before: dict[str, tuple[SkillManifest, ...]],
    new: ImportResult,
    compare: Compare,
    unreadable: set[str],
    *,
    may_go: Collection[str],
    announced: bool,
) -> tuple[Gone, ...]:
    if "" in unreadable:
        return ()
    after = by_name(new.accepted)
    release = _one_number([(one,) for one in after.values()])
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
        Gone(
            member=member,
            version=version,
            blocks=not (announced or member.name in may_go or _announced(version, release)),
            allowed=member.name in may_go,
        )
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
    number = _one_number(before.values())
    return None if number is None or bump is Bump.NONE else str(next_version(number, bump))


def _one_number(skills: Iterable[Sequence[SkillManifest]]) -> Version | None:
    """The number of all of them, None where there is none or more than one."""
    numbers = {versions[-1].version for versions in skills}
    return Version.parse(numbers.pop()) if len(numbers) == 1 and "" not in numbers else None
