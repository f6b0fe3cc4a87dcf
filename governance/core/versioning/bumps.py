"""The bump a change needs, and whether a number keeps it. A prerelease is judged as its release."""

from __future__ import annotations

from governance.core.compat.model import Bump, Comparison
from governance.core.versioning.version import Version


def judged_bump(bump: Bump, baseline: Version) -> Bump:
    """``bump`` as it counts above ``baseline``: below 1.0.0 a break needs a minor, anything else a patch."""
    if baseline.major > 0 or bump is Bump.NONE:
        return bump
    return Bump.MINOR if bump is Bump.MAJOR else Bump.PATCH


def required_bump(comparison: Comparison, baseline: Version) -> Bump:
    """The smallest honest bump above ``baseline`` for what ``comparison`` found; identical needs none."""
    return judged_bump(comparison.bump, baseline)


def next_version(baseline: Version, bump: Bump) -> Version:
    """The first stable version that is a ``bump`` above ``baseline``; ``none`` gives ``baseline`` itself.

    From a prerelease, the release it leads to counts when it is such a step: a major above 2.0.0-rc.1 is
    2.0.0.
    """
    major, minor, patch = baseline.triple
    pending = baseline.is_prerelease
    match bump:
        case Bump.NONE:
            return baseline
        case Bump.PATCH:
            patch += not pending
        case Bump.MINOR:
            minor, patch = minor + (not pending or patch > 0), 0
        case Bump.MAJOR:
            major, minor, patch = major + (not pending or minor > 0 or patch > 0), 0, 0
    return Version(major=major, minor=minor, patch=patch)


def bump_between(one: Version, other: Version) -> Bump:
    """The size of the step between two versions, whichever is higher: the first number that differs.

    Two versions of one release (1.0.0-rc.1 and 1.0.0) are ``none`` apart.
    """
    if one.major != other.major:
        return Bump.MAJOR
    if one.minor != other.minor:
        return Bump.MINOR
    return Bump.NONE if one.patch == other.patch else Bump.PATCH


def satisfies_bump(baseline: Version, candidate: Version, bump: Bump) -> bool:
    """Is ``candidate``, judged as its release, at least ``bump`` above ``baseline``?"""
    return candidate.release >= next_version(baseline, bump).release


def smallest_version(baseline: Version, candidate: Version, bump: Bump) -> Version:
    """The smallest version above ``baseline`` that keeps ``bump``, of the candidate's kind.

    That is 2.0.0 for a 1.5.0, and 2.0.0-rc.1 for a 1.5.0-rc.1.
    """
    release = next_version(baseline, Bump.PATCH if bump is Bump.NONE else bump)
    return Version(major=release.major, minor=release.minor, patch=release.patch, prerelease=candidate.prerelease)
