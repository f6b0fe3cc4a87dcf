"""Consumers as reasons: one reason a kind of impact, with the worst of it in words; and what a policy softens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from governance.core.consumers import ConsumerImpact, Impact
from governance.core.gate.decision import Reason
from governance.core.gate.reasons import REASONS, Outcome
from governance.core.policy import PolicyMode

_CODES: Final = {
    Impact.BROKEN: "consumer-broken",
    Impact.AFFECTED: "consumer-affected",
    Impact.HELD_BACK: "consumer-held-back",
    Impact.UNKNOWN: "consumer-unknown",
}
_NAMED: Final = 5


def consumer_reasons(found: Sequence[ConsumerImpact], *, excused: Collection[str] = ()) -> Iterable[Reason]:
    """A reason for each kind of impact there is. ``excused``: fingerprints that an exception lets pass."""
    for impact, code in _CODES.items():
        hit = [one for one in found if one.impact is impact and not (one.findings and _all_in(one, excused))]
        if hit:
            row = REASONS[code]
            yield Reason(code=code, outcome=row.outcome, message=f"{_names(hit)}: {hit[0].why}", fix=row.fix)


def _all_in(one: ConsumerImpact, excused: Collection[str]) -> bool:
    return all(finding.fingerprint in excused for finding in one.findings)


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
