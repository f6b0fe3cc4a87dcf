"""A catalogue's release before the gate: one decision over all its members, and over what it no longer holds.

Each member has passed the gate by itself before; here they are one: one refusal refuses the release, and its own
number must announce the worst that happened to any member.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from governance.core.catalogues import CatalogueComparison, Member, MemberChange
from governance.core.compat.model import Bump, Verdict
from governance.core.gate import REASONS, GateDecision, Outcome, Reason
from governance.core.gate.standing import DECLARED_BUMP
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, judged_bump, next_version, satisfies_bump

WITHDRAWN: Final = (MemberChange.REMOVED, MemberChange.RENAMED)
"""What happened to a tool that the release before held and this one does not."""


class VersionBy(StrEnum):
    """Where the members of a release have their numbers from."""

    RELEASE = "release"
    """All carry the release's."""
    CONTENT = "content"
    """Each its own: that of its last version while the contract is the same, else the smallest honest one."""


@dataclass(frozen=True, kw_only=True)
class ReleaseMember:
    """One tool of a release under its number. ``decision`` is None where that version was there already."""

    manifest: SkillManifest
    decision: GateDecision | None


@dataclass(frozen=True, kw_only=True)
class ReleaseDecision:
    """What the gate says about one release."""

    catalogue: str
    version: Version
    version_by: VersionBy
    outcome: Outcome
    reasons: tuple[Reason, ...]
    """Worst first."""
    baseline: Version | None
    """The release it was compared with; None: there was none below it."""
    bump: Bump
    """The smallest honest bump above the baseline, as it counts there; undecided counts as breaking."""
    smallest_version: Version | None
    members: Mapping[str, ReleaseMember]
    changes: CatalogueComparison
    unreadable: tuple[Mapping[str, Any], ...] = ()
    """Decision documents on members that are no contract."""

    @property
    def undecided_alone(self) -> bool:
        """Every block rests on an undecided finding of a member."""
        own = {reason.code for reason in self.reasons if reason.outcome is Outcome.BLOCK}
        return own == {"member-refused"} and not self.unreadable and all(one.undecided_alone for one in self._refused)

    @property
    def _refused(self) -> list[GateDecision]:
        decisions = (member.decision for member in self.members.values())
        return [one for one in decisions if one is not None and one.outcome is Outcome.BLOCK]

    @property
    def withdrawn(self) -> tuple[Member, ...]:
        """The tools that the baseline held and this release does not."""
        return tuple(member for member in self.changes.members if member.change in WITHDRAWN)

    def to_document(self) -> dict[str, Any]:
        """Plain JSON, without the members; ``decisions`` holds the whole decision where it says something."""
        counts = {change.value: len(self.changes.of(change)) for change in MemberChange}
        return {
            "catalogue": self.catalogue,
            "version": str(self.version),
            "version_by": self.version_by.value,
            "decision": self.outcome.value,
            "baseline": str(self.baseline) if self.baseline else None,
            "bump": self.bump.value,
            "smallest_version": str(self.smallest_version) if self.smallest_version else None,
            "counts": counts,
            "reasons": [reason.to_document() for reason in self.reasons],
        }

    def members_document(self) -> list[dict[str, Any]]:
        """The members by name: number, digests, and what changed against the baseline."""
        change = {member.successor or member.name: MemberChange.ADDED for member in self.changes.members}
        change |= {member.name: member.change for member in self.changes.members}
        return [
            {
                "name": name,
                "version": member.manifest.version,
                "change": change[name].value,
                "manifest_digest": member.manifest.manifest_digest,
                "contract_digest": member.manifest.contract_digest,
                "opens_line": member.decision is not None and member.decision.opens_line,
                "decision": member.decision.outcome.value if member.decision else Outcome.ALLOW.value,
            }
            for name, member in sorted(self.members.items())
        ]

    def withdrawn_document(self) -> list[dict[str, Any]]:
        """What the baseline held and this release does not, each with its comparison."""
        return [member.to_document() for member in sorted(self.withdrawn, key=lambda member: member.name)]

    def decisions_document(self) -> list[dict[str, Any]]:
        """Whole decisions on the members that were judged, by name, and on those that are no contract."""
        judged = (member.decision for _, member in sorted(self.members.items()))
        return [one.to_document() for one in judged if one is not None] + [dict(one) for one in self.unreadable]


def decide_release(
    catalogue: str,
    version: Version,
    *,
    version_by: VersionBy,
    members: Mapping[str, ReleaseMember],
    changes: CatalogueComparison,
    baseline: Version | None,
    taken: Collection[Version] = (),
    standing: bool | None = None,
    unreadable: Sequence[Mapping[str, Any]] = (),
) -> ReleaseDecision:
    """May ``version`` of ``catalogue`` hold ``members``, by name?

    ``changes``: the members against those of ``baseline``, the highest stable release below; ``taken``: numbers
    of other releases; ``standing``: the number is there already, for this very release or (False) for another;
    ``unreadable``: decision documents on members that are no contract.
    """
    worst = _worst(changes.members, members)
    bump = judged_bump(worst, baseline) if baseline else Bump.NONE
    smallest = smallest_release(baseline, bump, taken) if baseline else None
    reasons = [_refusal(one) for one in unreadable]
    decisions = [one.decision for one in members.values() if one.decision is not None]
    reasons += [_refusal(one.to_document()) for one in decisions if one.outcome is Outcome.BLOCK]
    if standing is False and version_by is VersionBy.RELEASE:
        smallest = _above_all(smallest, decisions, taken)
    if standing is not None:
        reasons.append(_taken(catalogue, version, standing, smallest))
    elif baseline is None:
        reasons.append(_reason("first-version", f"There is nothing that {catalogue} {version} could break."))
    else:
        reasons += _number(catalogue, version, baseline, members, changes, smallest)
    reasons += [_withdrawal(member) for member in changes.members if member.change in WITHDRAWN]
    reasons.sort(key=lambda one: -one.outcome.rank)
    outcomes = [*(one.outcome for one in reasons), *(one.outcome for one in decisions)]
    return ReleaseDecision(
        catalogue=catalogue,
        version=version,
        version_by=version_by,
        outcome=max(outcomes, key=lambda one: one.rank, default=Outcome.ALLOW),
        reasons=tuple(reasons),
        baseline=baseline,
        bump=bump,
        smallest_version=smallest,
        members=members,
        changes=changes,
        unreadable=tuple(unreadable),
    )


def _above_all(
    smallest: Version | None, decisions: Iterable[GateDecision], taken: Collection[Version]
) -> Version | None:
    """The smallest free number that would do for every member too: each is judged against what took the number."""
    honest = [Version.parse(one.smallest_version) for one in decisions if one.smallest_version is not None]
    found = max([*honest, *([smallest] if smallest else [])], default=None)
    while found in taken and found is not None:
        found = next_version(found, Bump.PATCH)
    return found


def _taken(catalogue: str, version: Version, standing: bool, smallest: Version | None) -> Reason:
    if standing:
        return _reason("already-published", f"{catalogue} {version} is released with these very members.")
    message = f"{catalogue} {version} is released with other members, or other bytes of them."
    return _reason("version-taken", message, smallest=str(smallest or f"a number above {version}"))


def needed_bump(changes: CatalogueComparison, members: Mapping[str, SkillManifest]) -> Bump:
    """The worst of the members from 1.0.0 on: what was computed, and what a changed one declares."""
    return _worst(changes.members, {name: ReleaseMember(manifest=one, decision=None) for name, one in members.items()})


def smallest_release(baseline: Version, bump: Bump, taken: Collection[Version]) -> Version:
    """The smallest free number above ``baseline`` that keeps ``bump``."""
    smallest = next_version(baseline, Bump.PATCH if bump is Bump.NONE else bump)
    while smallest in taken:
        smallest = next_version(smallest, Bump.PATCH)
    return smallest


def _worst(changed: Sequence[Member], members: Mapping[str, ReleaseMember]) -> Bump:
    return max((_bump(member, members) for member in changed), key=lambda bump: bump.rank, default=Bump.NONE)


def _bump(member: Member, members: Mapping[str, ReleaseMember]) -> Bump:
    """An invalid side proves nothing, so it needs as much as a break."""
    if member.comparison.verdict is Verdict.INVALID:
        return Bump.MAJOR
    found = member.comparison.bump
    declared = members[member.name].manifest.compatibility if member.name in members else None
    if member.change is MemberChange.CHANGED and declared is not None:
        return max(found, DECLARED_BUMP[declared], key=lambda bump: bump.rank)
    return found


def _number(
    catalogue: str,
    version: Version,
    baseline: Version,
    members: Mapping[str, ReleaseMember],
    changes: CatalogueComparison,
    smallest: Version | None,
) -> list[Reason]:
    """An undecided member blocks by itself: what number it would need is known only once it is decided."""
    decided = [one for one in changes.members if one.comparison.verdict is not Verdict.UNDECIDED]
    needed = judged_bump(_worst(decided, members), baseline)
    if satisfies_bump(baseline, version, needed):
        return []
    worst = next(one for one in decided if judged_bump(_bump(one, members), baseline) is needed)
    findings = worst.comparison.findings
    why = f"{findings[0].code}: {findings[0].message}" if findings else f"it is {worst.change.value}"
    message = (
        f"{catalogue} {version} is too small a step from {baseline}, a {needed.value} is due: "
        f"{worst.name}: {why.rstrip('.')}."
    )
    return [_reason("bump-too-small", message, smallest=str(smallest))]


def _refusal(decision: Mapping[str, Any]) -> Reason:
    """One reason for each member, in the words of its first; all stand in its decision."""
    blocks = [reason for reason in decision["reasons"] if reason["outcome"] == Outcome.BLOCK.value]
    more = f" (and {len(blocks) - 1} more)" if len(blocks) > 1 else ""
    name = decision["skill"] or "a member without a name"
    message = f"{name}: {blocks[0]['code']}: {blocks[0]['message'].rstrip('.')}{more}."
    return replace(_reason("member-refused", message), fix=blocks[0]["fix"])


def _withdrawal(member: Member) -> Reason:
    if member.successor is None:
        return _reason("member-withdrawn", f"{member.name} is no longer in the release.")
    message = f"{member.name} is no longer in the release; {member.successor} takes its place ({member.evidence})."
    return replace(_reason("member-withdrawn", message), fix=f"Tell its consumers to call {member.successor}.")


def _reason(code: str, message: str, *, smallest: str = "") -> Reason:
    row = REASONS[code]
    fix = row.fix.format(smallest=smallest, above="", level="")
    return Reason(code=code, outcome=row.outcome, message=message, fix=fix)
