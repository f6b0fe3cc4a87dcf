"""Lines: stretches of versions within which nothing breaks, and the version a candidate is judged against.

A line opens at each version that broke, or was not proved to keep, what stood before it, wherever its number
stands. A version that does not open a line belongs to the line of its baseline, the version it was compared
with; so a release that mends an accident goes back to the line the accident left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from governance.core.compat.model import JSON, Comparison
from governance.core.skill import SkillManifest, Status
from governance.core.versioning import Version

Compare: TypeAlias = Callable[[SkillManifest | None, SkillManifest | None], Comparison]
"""``compare(old, new)``, usually ``compat.engine.check`` with a cache before it."""

SERVABLE: Final = frozenset({Status.ACTIVE, Status.DEPRECATED, Status.SUNSET})
"""States in which a version may serve somebody."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """One published version with its live state; dates are ISO 8601 text, as the registry shows them."""

    version: Version
    contract_digest: str
    manifest_digest: str
    opens_line: bool
    baseline: Version | None
    """The version the gate compared it with; None: there was nothing to compare with."""
    state: Status = Status.ACTIVE
    yanked: str | None = None
    """Why it was yanked; None: it is not."""
    disabled: str | None = None
    """Why an operator switched it off; None: it is on."""
    opened_by: tuple[JSON, ...] = ()
    """The findings that opened the line, as documents; none for a first version or a declared break."""
    deprecated_on: str | None = None
    """The day its end was announced."""
    sunset: str | None = None
    retired_since: str | None = None
    replacement: str | None = None
    """``name@range`` of the successor."""
    migration_guide: str | None = None

    @property
    def is_baseline(self) -> bool:
        """May a later version be judged against it: stable, servable by state, not yanked."""
        return self.state in SERVABLE and self.yanked is None and not self.version.is_prerelease


@dataclass(frozen=True, kw_only=True)
class HistoryItem:
    """One version that is already there, with its live state."""

    published: Published
    manifest: SkillManifest

    @property
    def version(self) -> Version:
        return self.published.version


@dataclass(frozen=True, kw_only=True)
class Line:
    """The versions of one line, ascending. ``opens`` names it."""

    opens: Version
    versions: tuple[Published, ...]


def in_order(published: Iterable[Published]) -> list[Published]:
    """By precedence, lowest first."""
    return sorted(published, key=lambda one: one.version.key)


def preferred(serving: Sequence[Published]) -> Published:
    """The highest stable version, else the highest prerelease."""
    return max(serving, key=lambda one: (not one.version.is_prerelease, one.version.key))


def lines_of(published: Iterable[Published]) -> list[Line]:
    """The lines of a skill, lowest opening first. Drafts stand in none: nobody is served from them.

    Prereleases are judged as their release, so those of one release and the release itself open one line
    together, at the first of them that opens.
    """
    members: dict[Version, list[Published]] = {}
    home: dict[Version, Version] = {}
    last_stable: Version | None = None
    last_opening: Version | None = None
    for one in in_order(published):
        if one.state is Status.DRAFT:
            continue
        origin = one.baseline if one.baseline in home else last_stable
        if not one.opens_line and origin is not None:
            opening = home[origin]
        elif last_opening is not None and last_opening.is_prerelease and last_opening.triple == one.version.triple:
            opening = last_opening
        else:
            opening = last_opening = one.version
        home[one.version] = opening
        members.setdefault(opening, []).append(one)
        if not one.version.is_prerelease:
            last_stable = one.version
    return [Line(opens=opening, versions=tuple(inside)) for opening, inside in sorted(members.items())]


def line_containing(lines: Iterable[Line], version: Version) -> Line | None:
    return next((line for line in lines if any(one.version == version for one in line.versions)), None)


def baseline_of(candidate: Version, published: Sequence[Published]) -> Published | None:
    """What ``candidate`` is judged against: the highest stable, servable, unyanked version below it."""
    below = (one for one in published if one.is_baseline and one.version < candidate)
    return max(below, key=lambda one: one.version.key, default=None)
