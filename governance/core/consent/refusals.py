"""The errors of resolve: what keeps every match from serving, and what the caller can do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from governance.core.consent.serving import obstacle, successor
from governance.core.lines import Published, in_order
from governance.core.skill import Status
from governance.core.versioning import Range, Version
from governance.errors import Disabled, GovernanceError, NoMatchingVersion, PastSunset, Retired

_SHOWN = 10


def pinned_refusal(
    skill: str, version: Version, found: Published | None, published: Sequence[Published], *, on_record: bool
) -> GovernanceError:
    """Why an exact pin on ``version`` is refused; ``found`` is None when no such version is published."""
    if found is None:
        return NoMatchingVersion(
            f"{skill} {version} is not published.",
            fix=_offer(skill, published),
            details={"skill": skill, "range": str(version), "published": _newest(published)},
        )
    why = obstacle(found, on_record=on_record, pinned=True)
    return _by_obstacle(skill, found, why or "", details={"skill": skill, "version": str(version)})


def nothing_serves(
    skill: str,
    range_: Range,
    published: Sequence[Published],
    admitted: Sequence[Published],
    *,
    on_record: bool,
) -> GovernanceError:
    """Why nothing that ``range_`` admits can serve; ``admitted`` leaves drafts out and ascends."""
    details: dict[str, Any] = {
        "skill": skill,
        "range": str(range_),
        "published": _newest(published),
        "skipped": [
            {"version": str(one.version), "why": obstacle(one, on_record=on_record)} for one in admitted[-_SHOWN:]
        ],
    }
    whys = {obstacle(one, on_record=on_record): one for one in admitted}  # the highest of each kind stays
    for why in ("disabled", "past-sunset", "yanked", "retired"):
        if why in whys:
            return _by_obstacle(skill, whys[why], why, details=details)
    asked = f"{skill}@{range_}" if str(range_) else f"the bare name {skill}"
    hidden = [one for one in published if range_.admits(one.version, include_prerelease=True)]
    prerelease = next((one for one in reversed(in_order(hidden)) if one.version.is_prerelease), None)
    drafts = [one.version for one in published if one.state is Status.DRAFT and range_.admits(one.version)]
    if drafts:
        fix = f"Only drafts match: pin {skill}@{max(drafts)} exactly, or publish a higher version that is active."
    elif prerelease is not None:
        fix = f"Only prereleases match; ask for {skill}@^{prerelease.version} to get them."
    else:
        fix = _offer(skill, published)
    return NoMatchingVersion(f"No published version matches {asked}.", fix=fix, details=details)


def _by_obstacle(skill: str, one: Published, why: str, *, details: dict[str, Any]) -> GovernanceError:
    named = f"{skill} {one.version}"
    beyond = details | {"replacement": one.replacement, "migration_guide": one.migration_guide}
    fix = successor(one) or "Ask its owner for a successor."
    match why:
        case "retired":
            since = f" since {one.retired_since}" if one.retired_since else ""
            return Retired(
                f"{named} is retired{since} and serves nobody.",
                fix=fix,
                details=beyond | {"retired_since": one.retired_since},
            )
        case "past-sunset":
            since = f" since {one.sunset}" if one.sunset else ""
            return PastSunset(
                f"{named} is past its sunset{since} and serves only consumers that used it before.",
                fix=fix,
                details=beyond | {"sunset": one.sunset},
            )
        case "disabled":
            return Disabled(
                f"{named} is switched off by an operator: {one.disabled or 'no reason given'}.",
                fix="Ask for another version.",
                details=beyond | {"reason": one.disabled},
            )
        case _:
            return NoMatchingVersion(
                f"{named} is yanked ({one.yanked or 'no reason given'}) and nothing else matches.",
                fix=f"Widen the range, or pin {skill}@{one.version} exactly if you must.",
                details=beyond | {"reason": one.yanked},
            )


def _newest(published: Sequence[Published]) -> list[str]:
    return [str(one.version) for one in in_order(published)[-_SHOWN:]]


def _offer(skill: str, published: Sequence[Published]) -> str:
    if not published:
        return f"Publish a version of {skill} first, or check the name."
    return f"The newest versions are {', '.join(_newest(published))}."
