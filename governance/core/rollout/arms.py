"""Who gets the candidate: a stable point of each consumer and skill, below the weight or not."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Final

_POINTS: Final = 1 << 64


class Arm(StrEnum):
    """The side of a rollout a caller is on."""

    CANDIDATE = "candidate"
    INCUMBENT = "incumbent"


def arm_of(consumer: str | None, skill: str, weight: int) -> Arm:
    """The arm of ``consumer`` (None: an anonymous caller, always the incumbent's) at ``weight`` per cent.

    A consumer that is in at a weight is in at every greater one, in every process and release of ours; where it
    stands for one skill says nothing about another.
    """
    if consumer is None:
        return Arm.INCUMBENT
    return Arm.CANDIDATE if _point(consumer, skill) * 100 < weight * _POINTS else Arm.INCUMBENT


def _point(consumer: str, skill: str) -> int:
    # the formula is permanent: with another one consumers would change sides in the middle of a rollout
    digest = hashlib.sha256(f"rollout\n{skill}\n{consumer}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
