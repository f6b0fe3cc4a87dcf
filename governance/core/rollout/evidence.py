"""What the calls of both sides show, and what they do not show yet.

Two rates are compared by a one-sided confidence bound on ``candidate − incumbent × (1 + relative)``: Wilson's
score interval of each rate (JASA 22, 1927), combined by the method of variance estimates recovery (Newcombe,
Statistics in Medicine 17, 1998; Zou and Donner, the same 27, 2008). It needs no rate to be away from 0 and no
count to be large.

The job looks again and again, and a bound made for one look would be crossed by chance in the end. So the bound
holds over all looks together, by peeling (Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 49, 2021):
calls are cut into stretches that grow by half, each stretch gets its share of the allowed error, and the
reflection principle covers the looks inside one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

from governance.core.rollout.plan import Margin, Plan

ERROR: Final = 0.05
"""How often, at the most, a step as bad as its margin allows is left upwards, and a step within it downwards."""
FIRST_LOOK: Final = 10
"""Calls of each side before anything can be held against the candidate."""
_GROWTH: Final = 1.5


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Calls and what became of them. A violation (an output that broke the contract) counts as a failure too."""

    calls: int = 0
    failures: int = 0
    violations: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            calls=self.calls + other.calls,
            failures=self.failures + other.failures,
            violations=self.violations + other.violations,
        )

    def to_document(self) -> dict[str, int]:
        return {"calls": self.calls, "failures": self.failures, "violations": self.violations}


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was reported, of minutes that began within the present step."""

    candidate: Tally = Tally()
    incumbent: Tally = Tally()
    incumbent_before: Tally = Tally()
    """The incumbent's since the rollout began, this step too."""
    newest: datetime | None = None
    """The newest minute in which the candidate was called in this step."""

    def beside(self, plan: Plan) -> Tally:
        """What the candidate is compared with: the same minutes, unless too little happened in them.

        Where the candidate has (nearly) all consumers, the incumbent's earlier minutes are what there is.
        """
        return self.incumbent if self.incumbent.calls >= plan.min_calls else self.incumbent_before

    def to_document(self) -> dict[str, Any]:
        return {"candidate": self.candidate.to_document(), "incumbent": self.incumbent.to_document()}


class Finding(StrEnum):
    """What one comparison of two rates comes to."""

    WITHIN = "within"
    """The candidate's rate is shown to lie within the margin."""
    BEYOND = "beyond"
    """It is shown to lie beyond it."""
    UNSURE = "unsure"
    """The numbers allow both."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Both comparisons."""

    failures: Finding
    violations: Finding

    @property
    def beyond(self) -> tuple[str, ...]:
        return tuple(name for name in ("failures", "violations") if getattr(self, name) is Finding.BEYOND)

    @property
    def unsure(self) -> tuple[str, ...]:
        return tuple(name for name in ("failures", "violations") if getattr(self, name) is Finding.UNSURE)

    @classmethod
    def of(cls, seen: Seen, plan: Plan) -> Evidence:
        candidate, incumbent = seen.candidate, seen.beside(plan)
        found = {
            name: compare_rates(
                (getattr(candidate, name), candidate.calls),
                (getattr(incumbent, name), incumbent.calls),
                margin,
                first=plan.min_calls,
            )
            for name, margin in (("failures", plan.failures), ("violations", plan.violations))
        }
        return cls(**found)


def compare_rates(candidate: tuple[int, int], incumbent: tuple[int, int], margin: Margin, *, first: int) -> Finding:
    """Compare two rates, each ``(events, calls)``. Below ``first`` calls of the candidate nothing is WITHIN."""
    calls = candidate[1]
    if min(calls, incumbent[1]) < FIRST_LOOK:
        return Finding.UNSURE
    if _lowest(candidate, incumbent, margin, _deviates(calls, FIRST_LOOK)) > 0:
        return Finding.BEYOND
    if calls >= first and _highest(candidate, incumbent, margin, _deviates(calls, first)) <= 0:
        return Finding.WITHIN
    return Finding.UNSURE


def _deviates(calls: int, first: int) -> float:
    """How many standard deviations count as shown after ``calls``, for a series of looks that begins at ``first``."""
    return _deviates_in(max(0, math.floor(math.log(calls / first, _GROWTH))))


@lru_cache(maxsize=256)
def _deviates_in(stretch: int) -> float:
    share = ERROR / ((stretch + 1) * (stretch + 2))  # the shares of all stretches add up to ERROR
    return math.sqrt(_GROWTH) * NormalDist().inv_cdf(1 - share / 2)


def _lowest(candidate: tuple[int, int], incumbent: tuple[int, int], margin: Margin, z: float) -> float:
    """The lower bound of how far the candidate's rate lies above what the margin allows."""
    rate, low, _ = _wilson(*candidate, z)
    other, _, high = _wilson(*incumbent, z)
    factor = 1 + margin.relative
    return rate - factor * other - margin.absolute - math.hypot(rate - low, factor * (high - other))


def _highest(candidate: tuple[int, int], incumbent: tuple[int, int], margin: Margin, z: float) -> float:
    """The upper bound of the same."""
    rate, _, high = _wilson(*candidate, z)
    other, low, _ = _wilson(*incumbent, z)
    factor = 1 + margin.relative
    return rate - factor * other - margin.absolute + math.hypot(high - rate, factor * (other - low))


def _wilson(events: int, calls: int, z: float) -> tuple[float, float, float]:
    """A rate with its score interval."""
    rate = events / calls
    spread = 1 + z * z / calls
    middle = (rate + z * z / (2 * calls)) / spread
    half = z * math.sqrt(rate * (1 - rate) / calls + z * z / (4 * calls * calls)) / spread
    return rate, min(rate, max(0.0, middle - half)), max(rate, min(1.0, middle + half))
