"""Who is hit: for each consumer, what serves it now, what would serve it then, and whether that keeps its calls.

One function moves a consumer from one version to another. The publish gate, ``can-i-deploy``, ``can-i-retire`` and
the matrix all ask it, so that none of them can say what another denies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, TypeAlias

from governance.core.compat.model import Comparison, Finding, FindingLevel, Verdict
from governance.core.consent import resolve
from governance.core.consent.serving import obstacle
from governance.core.consumers.moves import Moves
from governance.core.consumers.needs import Need
from governance.core.lines import Compare, HistoryItem
from governance.core.skill import SkillManifest, Status
from governance.core.versioning import Version
from governance.errors import GovernanceError, InvalidRange

MAX_SHOWN: Final = 50
"""Impacts a document holds, worst first; the rest is counted."""


class Impact(StrEnum):
    """What a change does to one consumer, worst first."""

    BROKEN = "served_and_broken"
    """It would be served a version that breaks its calls, or nothing at all."""
    AFFECTED = "affected"
    """It would be served a version with a risky change to what it uses."""
    HELD_BACK = "held_back"
    """It would break if it moved; it does not, so nothing happens to it now."""
    UNKNOWN = "unknown"
    """Nothing is known that would tell: never safe."""
    UNTOUCHED = "untouched"

    @property
    def rank(self) -> int:
        """0 is the mildest."""
        return len(Impact) - 1 - list(Impact).index(self)


_COUNTS: Final = {
    Verdict.BREAKING: (FindingLevel.BREAKING,),
    Verdict.UNDECIDED: (FindingLevel.BREAKING, FindingLevel.UNDECIDED),
    Verdict.RISKY: (FindingLevel.RISKY,),
}


@dataclass(frozen=True, kw_only=True)
class ConsumerImpact:
    """One need of one consumer, and what becomes of it."""

    need: Need
    impact: Impact
    now: Version | None
    """What serves it now; None: nothing does."""
    then: Version | None
    why: str
    verdict: Verdict | None = None
    """Of what serves now against what it would be moved to, in the fields it uses; None: not compared."""
    findings: tuple[Finding, ...] = ()
    """Those that make the impact what it is."""
    narrowed: bool = False
    """Only the fields it says it uses were looked at."""

    def to_document(self) -> dict[str, Any]:
        return {
            **self.need.to_document(),
            "impact": self.impact.value,
            "now": None if self.now is None else str(self.now),
            "then": None if self.then is None else str(self.then),
            "why": self.why,
            "verdict": None if self.verdict is None else self.verdict.value,
            "narrowed": self.narrowed,
            "findings": [finding.to_document() for finding in self.findings],
        }


Serve: TypeAlias = Callable[[str, Need, Sequence[HistoryItem]], tuple[Version | None, str]]
"""``serve(skill, need, versions)``: what serves the need of these versions; where nothing does, None and why."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Versions of one skill before and after, and how a consumer comes to one of them."""

    skill: str
    before: Sequence[HistoryItem]
    after: Sequence[HistoryItem]
    added: HistoryItem | None = None
    """The version that all this is about, where one is added: whoever stays is told what it would do to them."""
    serve: Serve
    _served: dict[Any, tuple[Version | None, str]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _items(self) -> dict[Version, HistoryItem]:
        return {one.version: one for one in (*self.before, *self.after)}

    def item(self, version: Version) -> HistoryItem:
        return self._items[version]

    def serving(self, need: Need, items: Sequence[HistoryItem]) -> tuple[Version | None, str]:
        """``serve``, asked once for all consumers that ask for the same and have accepted the same."""
        key = (items is self.after, need.range, need.on_record, need.accepted)
        if key not in self._served:
            self._served[key] = self.serve(self.skill, need, items)
        return self._served[key]

    def sides(self, one: ConsumerImpact) -> tuple[SkillManifest, SkillManifest] | None:
        """What an impact of this change was compared from and to; None: nothing was compared."""
        target = one.then if one.then != one.now else self.added.version if self.added is not None else None
        if one.verdict is None or one.now is None or target is None:
            return None
        return self.item(one.now).manifest, self.item(target).manifest

    @classmethod
    def publish(cls, candidate: HistoryItem, history: Sequence[HistoryItem]) -> Change:
        """``candidate`` comes beside all others of its skill."""
        name = candidate.manifest.name
        return cls(skill=name, before=history, after=[*history, candidate], added=candidate, serve=by_consent)

    @classmethod
    def retire(cls, version: Version, history: Sequence[HistoryItem]) -> Change:
        """``version`` serves nobody any more."""
        name = history[0].manifest.name
        # it stays where it stands: without it, the line it opened would be another's
        after = [_retired(one) if one.version == version else one for one in history]
        return cls(skill=name, before=history, after=after, serve=by_consent)

    @classmethod
    def deploy(
        cls, version: HistoryItem, history: Sequence[HistoryItem], deployed: Sequence[HistoryItem], *, beside: bool
    ) -> Change:
        """``version`` runs where ``deployed`` do now: in their place, or ``beside`` them.

        Where nothing is on record, whatever is published may run there.
        """
        after = [*(one for one in deployed if beside and one.version != version.version), version]
        name = version.manifest.name
        return cls(skill=name, before=deployed or history, after=after, added=version, serve=by_range)


def _retired(one: HistoryItem) -> HistoryItem:
    return replace(one, published=replace(one.published, state=Status.RETIRED))


def impacts(change: Change, needs: Iterable[Need], *, compare: Compare) -> tuple[ConsumerImpact, ...]:
    """What the change does to each need, worst first, then by consumer."""
    moves = Moves(compare=compare)
    found = [impact_on(change, need, moves) for need in needs]
    return tuple(sorted(found, key=lambda one: (-one.impact.rank, one.need.consumer, one.need.environment or "")))


def impact_on(change: Change, need: Need, moves: Moves) -> ConsumerImpact:
    """What the change does to one need."""
    try:
        need.admitting()
    except InvalidRange as error:
        return ConsumerImpact(need=need, impact=Impact.UNKNOWN, now=None, then=None, why=error.message)
    now, why_not = change.serving(need, change.before)
    then, why_not_then = change.serving(need, change.after)
    if now is None:
        return _first_served(change, need, then, why_not)
    if then is None:
        why = f"{now} serves it now, and nothing would: {why_not_then}"
        return ConsumerImpact(need=need, impact=Impact.BROKEN, now=now, then=None, why=why)
    target = then if then != now else None
    if target is None and change.added is not None and change.added.version != now:
        target = change.added.version
    if target is None:
        why = f"{now} serves it, before and after."
        return ConsumerImpact(need=need, impact=Impact.UNTOUCHED, now=now, then=then, why=why)
    if then == now and target < now:
        why = f"It stays on {now}, which is higher."
        return ConsumerImpact(need=need, impact=Impact.UNTOUCHED, now=now, then=then, why=why)
    comparison, own = moves(need, change.item(now).manifest, change.item(target).manifest)
    impact = _impact(comparison.verdict, moved=then != now)
    return ConsumerImpact(
        need=need,
        impact=impact,
        now=now,
        then=then,
        why=_why(impact, comparison, now=now, target=target, moved=then != now, own=own),
        verdict=comparison.verdict,
        findings=_told(comparison),
        narrowed=own,
    )


def by_consent(skill: str, need: Need, items: Sequence[HistoryItem]) -> tuple[Version | None, str]:
    """What resolve answers the consumer; where it refuses, why."""
    try:
        resolution = resolve(
            skill,
            need.range,
            [one.published for one in items],
            consumer=need.consumer,
            on_record=need.on_record,
            accepted=need.accepted,
        )
    except GovernanceError as error:
        return None, error.message
    return resolution.version, ""


def by_range(skill: str, need: Need, items: Sequence[HistoryItem]) -> tuple[Version | None, str]:
    """The highest version that runs and that the range admits: what runs asks nobody for consent."""
    range_ = need.admitting()
    running = [one.published for one in items if obstacle(one.published, on_record=need.on_record, pinned=True) is None]
    admitted = [one for one in running if range_.admits(one.version)]
    if not admitted:
        there = ", ".join(str(one.version) for one in running) or "nothing"
        return None, f"{need.range or 'a stable version'} is asked for, and {there} runs."
    return max(admitted, key=lambda one: one.version.key).version, ""


def _first_served(change: Change, need: Need, then: Version | None, why_not: str) -> ConsumerImpact:
    """Whoever is not served has no call that could break; but nothing is known of what it would make of a version."""
    if then is not None:
        why = f"Nothing serves it now ({why_not.rstrip('.')}); {then} would be the first."
        return ConsumerImpact(need=need, impact=Impact.UNTOUCHED, now=None, then=then, why=why)
    return ConsumerImpact(need=need, impact=Impact.UNKNOWN, now=None, then=None, why=why_not)


def _impact(verdict: Verdict, *, moved: bool) -> Impact:
    match verdict:
        case Verdict.BREAKING:
            return Impact.BROKEN if moved else Impact.HELD_BACK
        case Verdict.UNDECIDED | Verdict.INVALID:
            return Impact.UNKNOWN
        case Verdict.RISKY if moved:
            return Impact.AFFECTED
        case _:
            return Impact.UNTOUCHED


def _told(comparison: Comparison) -> tuple[Finding, ...]:
    levels = _COUNTS.get(comparison.verdict, ())
    return tuple(finding for finding in comparison.findings if finding.level in levels)


def _why(impact: Impact, comparison: Comparison, *, now: Version, target: Version, moved: bool, own: bool) -> str:
    uses = " in the fields it uses" if own else ""
    first = next(iter(_told(comparison)), None)
    said = f": {first.message}" if first is not None else "."
    match impact:
        case Impact.BROKEN:
            return f"It would move from {now} to {target}, which breaks it{uses}{said}"
        case Impact.AFFECTED:
            return f"It would move from {now} to {target}, which is risky{uses}{said}"
        case Impact.HELD_BACK:
            return f"It stays on {now}; {target} would break it{uses}{said}"
        case Impact.UNKNOWN:
            reason = comparison.reason or "the contracts could not be compared"
            return f"Whether {target} keeps what {now} promised could not be decided: {reason}."
        case Impact.UNTOUCHED:
            kept = f"{target} keeps what {now} promised{uses}."
            return kept if moved else f"It stays on {now}; {kept}"


def summary(found: Sequence[ConsumerImpact]) -> dict[str, Any]:
    """How many consumers are hit how, and the impacts that are worth a look, worst first."""
    counts = {impact.value: sum(one.impact is impact for one in found) for impact in Impact}
    return {"counts": counts, "impacts": [one.to_document() for one in found[:MAX_SHOWN]]}
