"""What a rollout takes from whom, once lines, pins and consent have spoken."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from governance.core.lines import Published, preferred
from governance.core.rollout.arms import Arm, arm_of
from governance.core.versioning import Version


@dataclass(frozen=True, kw_only=True)
class Steering:
    """A rollout in force, as resolve is told of it."""

    id: str
    candidate: Version
    incumbent: Version
    above: frozenset[Version]
    """What stood above the older of the two, up to the newer, when it began. What came since is kept from nobody."""
    weight: int
    """Of the candidate, in per cent."""
    open: bool
    """An ended one gives all callers, anonymous ones too, the side that won."""

    def arm(self, consumer: str | None, skill: str) -> Arm:
        if self.open:
            return arm_of(consumer, skill, self.weight)
        return Arm.CANDIDATE if self.weight else Arm.INCUMBENT

    @property
    def newer(self) -> Version:
        return max(self.candidate, self.incumbent)

    @property
    def older(self) -> Version:
        return min(self.candidate, self.incumbent)

    def given(self, arm: Arm) -> Version:
        return self.candidate if arm is Arm.CANDIDATE else self.incumbent


@dataclass(frozen=True, kw_only=True)
class Steered:
    """The rollout that had a say in an answer, and on which side the caller is."""

    id: str
    arm: Arm
    weight: int

    def to_document(self) -> dict[str, Any]:
        return {"id": self.id, "arm": self.arm.value, "weight": self.weight}


def steer(
    rollouts: Sequence[Steering], inside: Sequence[Published], *, skill: str, consumer: str | None
) -> tuple[Collection[Version], Steered | None]:
    """The versions to withhold from a caller, and the rollout that had a say.

    ``inside`` holds what may serve it: what it asked for, within the lines it accepted. A rollout has a say only
    where its newer side would serve and its older one could. So it moves nobody across a line, leaves nobody
    without a version, and never touches who asked for one side alone.
    """
    left = list(inside)
    withheld: set[Version] = set()
    told: Steered | None = None
    while True:
        top = preferred(left).version
        could = {one.version for one in left}
        deciding = [one for one in rollouts if one.newer == top and one.older in could]
        if not deciding:
            return withheld, told
        arms = [(one, one.arm(consumer, skill)) for one in sorted(deciding, key=lambda one: (not one.open, one.id))]
        holding = [(one, arm) for one, arm in arms if one.given(arm) == one.older]
        for one, arm in (holding or arms)[:1]:
            if one.open or holding:
                told = Steered(id=one.id, arm=arm, weight=one.weight)
        if not holding:
            return withheld, told
        withheld |= holding[0][0].above & could
        left = [one for one in left if one.version not in withheld]
