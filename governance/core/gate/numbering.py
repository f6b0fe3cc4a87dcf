"""Numbers without a gate's yes or no: the smallest honest one, and the history that loose versions make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from governance.core.compat.model import Bump
from governance.core.gate.standing import Standing
from governance.core.lines import Compare, HistoryItem, Published
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, next_version


def auto_version(
    candidate: SkillManifest,
    history: Sequence[HistoryItem],
    *,
    compare: Compare,
    transitive: bool = True,
    by_content: bool = False,
) -> Version:
    """The smallest honest version for ``candidate`` above the highest baseline.

    That baseline's own version when nothing at all would change, or with ``by_content`` when the contract
    would not; 1.0.0 for the first; a new major when there are versions and none can be a baseline.
    """
    every = [one.published for one in history]
    highest = max((one.version for one in every), default=None)
    if highest is None:
        return Version(major=1, minor=0, patch=0)
    standing = Standing(
        candidate=candidate,
        version=next_version(highest, Bump.MAJOR),
        history=history,
        compare=compare,
        transitive=transitive,
    )
    if standing.baseline is None:
        return highest.release if highest.is_prerelease else next_version(highest, Bump.MAJOR)
    baseline = standing.baseline.published
    again = replace(candidate, version=str(baseline.version))
    if again.manifest_digest == baseline.manifest_digest or (
        by_content and candidate.contract_digest == baseline.contract_digest
    ):
        return baseline.version
    bump = Bump.PATCH if standing.bump is Bump.NONE else standing.bump
    version = next_version(baseline.version, bump)
    taken = {one.version for one in every}
    while version in taken:
        version = next_version(version, Bump.PATCH)
    return version


def replay(manifests: Iterable[SkillManifest], *, compare: Compare) -> list[HistoryItem]:
    """Versions that lie side by side as the history they make, ascending: which opened a line, against what.

    For callers without a registry. Each is taken as active, whatever the gate would have said of its number.

    Raises:
        InvalidVersion: one of them has no semantic version.
    """
    history: list[HistoryItem] = []
    for manifest in sorted(manifests, key=lambda one: Version.parse(one.version).key):
        standing = Standing(
            candidate=manifest,
            version=Version.parse(manifest.version),
            history=tuple(history),
            compare=compare,
            transitive=True,
        )
        published = Published(
            version=standing.version,
            contract_digest=manifest.contract_digest,
            manifest_digest=manifest.manifest_digest,
            opens_line=standing.opens_line,
            baseline=standing.baseline.version if standing.baseline else None,
        )
        history.append(HistoryItem(published=published, manifest=manifest))
    return history
