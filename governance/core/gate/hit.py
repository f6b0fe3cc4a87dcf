"""Consumers as reasons: one reason a kind of impact, with the worst of it in words; and what a policy softens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from governance.core.consumers import Change, ConsumerImpact, Impact
from governance.core.gate.decision import Reason
from governance.core.gate.excuses import Excuses, Scope, used
from governance.core.gate.facts import GateException
from governance.core.gate.reasons import REASONS, Outcome
from governance.core.policy import PolicyMode

_CODES: Final = {
    Impact.BROKEN: "consumer-broken",
    Impact.AFFECTED: "consumer-affected",
    Impact.HELD_BACK: "consumer-held-back",
    Impact.UNKNOWN: "consumer-unknown",
}
_EXCUSABLE: Final = (Impact.BROKEN, Impact.AFFECTED)
_NAMED: Final = 5


def consumer_reasons(
    found: Sequence[ConsumerImpact], change: Change, excuses: Excuses, *, environment: str | None = None
) -> Iterable[Reason]:
    """A reason for each kind of impact there is, and for each exception that lets one pass.

    ``environment``: where all this is to happen, where it is one.
    """
    passing = {id(one): _excused(one, change, excuses, environment) for one in found if one.impact in _EXCUSABLE}
    for impact, code in _CODES.items():
        hit = [one for one in found if one.impact is impact and not passing.get(id(one))]
        if hit:
            row = REASONS[code]
            yield Reason(code=code, outcome=row.outcome, message=f"{_names(hit)}: {hit[0].why}", fix=row.fix)
    for one in found:
        for exception in passing.get(id(one), ()):
            yield replace(used(exception, f"{one.need.consumer}: {one.why}"), need=one.need)


def surroundings_of(found: Sequence[ConsumerImpact], change: Change, excuses: Excuses) -> dict[str, tuple[str, ...]]:
    """What surrounds every finding that breaks or affects a consumer, by its fingerprint."""
    around: dict[str, dict[str, None]] = {}
    for one in found:
        sides = change.sides(one) if one.impact in _EXCUSABLE else None
        if sides is not None:
            for finding in one.findings:
                around.setdefault(finding.fingerprint, {})[excuses.around(finding, *sides)] = None
    return {fingerprint: tuple(them) for fingerprint, them in around.items()}


def _excused(
    one: ConsumerImpact, change: Change, excuses: Excuses, environment: str | None
) -> tuple[GateException, ...]:
    """The exceptions that let every finding of an impact pass; none, if one finding has none."""
    sides = change.sides(one)
    if not excuses.exceptions or sides is None:
        return ()
    scope = Scope(environment=environment or one.need.environment, consumer=one.need.consumer)
    found = [excuses.of(finding, *sides, scope) for finding in one.findings]
    them = {exception.id: exception for exception in found if exception is not None}
    return () if None in found else tuple(them.values())


def _names(hit: Sequence[ConsumerImpact]) -> str:
    names = list(dict.fromkeys(one.need.consumer for one in hit))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def softened(reason: Reason, mode: PolicyMode) -> Reason:
    """The reason as it counts under ``mode``; what is hard counts as it stands."""
    if REASONS[reason.code].hard or mode is PolicyMode.ENFORCE:
        return reason
    if mode is PolicyMode.OFF:
        return replace(reason, outcome=Outcome.ALLOW)
    return replace(reason, outcome=Outcome.WARN) if reason.outcome is Outcome.BLOCK else reason
