"""Numbers for skills that have none: the registry says which is the smallest honest one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from governance.client import ControlPlane
from governance.core.compat.model import Bump
from governance.core.skill import SkillManifest, Status
from governance.core.versioning import Version, next_version
from governance.errors import NotFound
from governance.wire import VersionSummary

CHUNK: Final = 100
"""Candidates in one request."""

_SERVABLE: Final = (Status.ACTIVE, Status.DEPRECATED, Status.SUNSET)


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A candidate with its number."""

    manifest: SkillManifest
    standing: bool = False
    """The registry holds this very contract under it already."""
    computed: bool = False
    """Nobody gave the number: it is the smallest honest one."""


def number(plane: ControlPlane, manifests: Sequence[SkillManifest], *, all_of_them: bool = False) -> list[Numbered]:
    """Give a number by content to every skill without one, or to ``all_of_them``, in their order.

    The contract of the last version: that version. The first of a skill: 1.0.0. Else the smallest honest bump,
    as the gate computes it for a version above all others.
    """
    found: dict[int, Numbered] = {}
    probes: dict[int, SkillManifest] = {}
    for index, manifest in enumerate(manifests):
        if manifest.version and not all_of_them:
            found[index] = Numbered(manifest=manifest)
            continue
        versions = _versions(plane, manifest.name)
        baseline = _baseline(versions)
        if not versions:
            found[index] = Numbered(manifest=manifest.numbered("1.0.0"))
        elif baseline is not None and baseline.contract_digest == manifest.contract_digest:
            found[index] = Numbered(manifest=manifest.numbered(baseline.version), standing=True)
        else:
            highest = max((Version.parse(one.version) for one in versions), key=lambda one: one.key)
            probes[index] = manifest.numbered(str(next_version(highest, Bump.MAJOR)))
    for indexes in _chunks(list(probes)):
        checked = plane.check([probes[index].to_document() for index in indexes])
        for index, decision in zip(indexes, checked.decisions, strict=True):
            honest = decision["smallest_version"] or probes[index].version
            found[index] = Numbered(manifest=probes[index].numbered(honest), computed=True)
    return [found[index] for index in range(len(manifests))]


def _versions(plane: ControlPlane, name: str) -> list[VersionSummary]:
    try:
        return plane.versions(name)
    except NotFound:
        return []


def _baseline(versions: Sequence[VersionSummary]) -> VersionSummary | None:
    """The highest stable version a later one is judged against."""
    found = (
        one
        for one in versions
        if one.state in _SERVABLE and one.yanked is None and not Version.parse(one.version).is_prerelease
    )
    return max(found, key=lambda one: Version.parse(one.version).key, default=None)


def _chunks(indexes: list[int]) -> Iterator[list[int]]:
    rest = iter(indexes)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
