"""A number that other bytes have: what is compared all the same, and the number that would be honest."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from governance.core.gate.decision import GateDecision, Reason
from governance.core.gate.reasons import REASONS, Outcome
from governance.core.versioning import Version

_OF_ANOTHER_NUMBER: Final = ("first-version", "opens-line", "opens-below")


def refused_as_taken(judged: GateDecision, version: Version, honest: Version) -> GateDecision:
    """What the gate says of the same contract under an ``honest`` number of its own, refused for the one it has."""
    row = REASONS["version-taken"]
    taken = Reason(
        code=row.id,
        outcome=row.outcome,
        message=f"{judged.skill} {version} is published with other bytes.",
        fix=row.fix.format(smallest=honest),
    )
    told = [one for one in judged.reasons if one.code not in _OF_ANOTHER_NUMBER]
    return replace(
        judged,
        version=str(version),
        outcome=Outcome.BLOCK,
        reasons=(taken, *told),
        smallest_version=str(honest),
    )
