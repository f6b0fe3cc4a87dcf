"""Readiness: is there somebody to ask, and is a risky skill shown to do what it says, before others rely on it?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from governance.core.gate.decision import Reason
from governance.core.gate.reasons import REASONS, Outcome
from governance.core.policy import Policy
from governance.core.skill import SideEffects, SkillManifest

_OUTCOMES: Final = {"warn": Outcome.WARN, "block": Outcome.BLOCK}
_OWNER: Final = "Say under `owner` who answers for it; where the source cannot, publish with --owner TEAM."
_RISKY: Final = (SideEffects.EXTERNAL, SideEffects.DESTRUCTIVE)

NOT_KNOWN: Final = ("telemetry",)
"""What readiness of a high-risk skill asks too, and nobody keeps yet: ``not_checked`` says so."""


def is_high_risk(manifest: SkillManifest) -> bool:
    """Its effects reach others or cannot be undone, or it is declared dangerous."""
    return manifest.dangerous or manifest.side_effects in _RISKY


def readiness(
    manifest: SkillManifest, policy: Policy, tested: Collection[str], *, protected: bool = False
) -> Iterator[Reason]:
    """What is missing, a reason each. ``tested``: the digests of contracts whose tests passed. ``protected``: it is to
    go where what is not ready may not.
    """
    outcome = _OUTCOMES.get(str(policy.values["readiness"]))
    if outcome is None:
        return
    row = REASONS["not-ready"]
    named = f"{manifest.name} {manifest.version}".rstrip()
    for pointer, what, fix in _missing(manifest, tested):
        reason = Reason(code=row.id, outcome=outcome, message=f"{named} {what}.", fix=fix, pointer=pointer)
        yield replace(reason, outcome=Outcome.BLOCK) if protected else reason


def _missing(manifest: SkillManifest, tested: Collection[str]) -> Iterator[tuple[str, str, str]]:
    if not manifest.owner:
        yield "/owner", "has no owner", _OWNER
    if not is_high_risk(manifest):
        return
    if not any(example.error is None for example in manifest.examples):
        yield "/examples", "is high-risk and shows no call", "Add an example with an input and what it gives."
    if not any(example.error is not None for example in manifest.examples):
        yield (
            "/examples",
            "is high-risk and shows no call that fails",
            "Add an example with the `error` it must end with.",
        )
    if manifest.contract_digest not in tested:
        what, fix = "is high-risk, and no passed tests of this contract are on record", "govctl attestation record"
        yield "", what, f"Run its tests, then `{fix} {manifest.name}@{manifest.version or 'VERSION'} --passed N`."
