"""Versions: SemVer 2.0.0 order, npm ranges, the spellings of the world, and the bump a change needs."""

from governance.core.versioning.bumps import (
    bump_between,
    judged_bump,
    next_version,
    required_bump,
    satisfies_bump,
    smallest_version,
)
from governance.core.versioning.ranges import Alternative, Comparator, Range
from governance.core.versioning.spelling import normalise_version
from governance.core.versioning.version import Version

__all__ = [
    "Alternative",
    "Comparator",
    "Range",
    "Version",
    "bump_between",
    "judged_bump",
    "next_version",
    "normalise_version",
    "required_bump",
    "satisfies_bump",
    "smallest_version",
]
