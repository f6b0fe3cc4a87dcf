"""What stands on a version: the consumers it serves, what names it elsewhere, and what was judged against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from governance.core.consent import resolve
from governance.core.consent.serving import obstacle
from governance.core.consumers import Need
from governance.core.lines import Published, preferred
from governance.core.skill import Status
from governance.core.versioning import Range, Version
from governance.errors import GovernanceError


class ReferenceKind(StrEnum):
    REPLACEMENT = "replacement"
    FALLBACK = "fallback"


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A version of some skill names a skill by a range: as its replacement, or as a step of its fallback."""

    kind: ReferenceKind
    skill: str
    version: str
    holder: str
    """How the version is named to whoever asks."""
    range: str


@dataclass(frozen=True, kw_only=True)
class Served:
    """A consumer that a version serves, and what would be left to it."""

    need: Need
    version: Version
    then: Version | None
    """What would serve in its place; None: nothing."""

    def to_document(self) -> dict[str, Any]:
        return {
            **self.need.to_document(),
            "version": str(self.version),
            "then": None if self.then is None else str(self.then),
        }


def served_by(
    skill: str, versions: Collection[Version], published: Sequence[Published], needs: Iterable[Need]
) -> Iterator[Served]:
    """The needs that one of ``versions`` serves now, and what would serve them without any of these.

    Whoever registered counts as on record: it said what it needs while the version was there for it.
    """
    without = [replace(one, state=Status.RETIRED) if one.version in versions else one for one in published]
    for need in needs:
        now = _serving(skill, need, published)
        if now is not None and now in versions:
            yield Served(need=need, version=now, then=_serving(skill, need, without))


def references_to(
    skill: str, version: Version, published: Sequence[Published], references: Iterable[Reference]
) -> Iterator[str]:
    """A sentence for each reference that means ``version`` now."""
    for reference in references:
        range_ = Range.parse(reference.range)
        reached = [one for one in published if obstacle(one, on_record=True) is None and range_.admits(one.version)]
        itself = reference.skill == skill and reference.version == str(version)
        if itself or not reached or preferred(reached).version != version:
            continue
        rest = [one for one in reached if one.version != version]
        then = f"which would then be {preferred(rest).version}" if rest else "and nothing else is that"
        verb = "is replaced by" if reference.kind is ReferenceKind.REPLACEMENT else "falls back on"
        yield f"{reference.holder} {verb} {skill}@{reference.range}, {then}."


def judged_against(version: Version, published: Iterable[Published]) -> list[Version]:
    """The versions whose line hangs on ``version``: were it a draft, nobody could say which line is theirs."""
    return [one.version for one in published if one.baseline == version and one.state is not Status.DRAFT]


def _serving(skill: str, need: Need, published: Sequence[Published]) -> Version | None:
    try:
        return resolve(
            skill, need.range, published, consumer=need.consumer, on_record=True, accepted=need.accepted
        ).version
    except GovernanceError:
        return None
