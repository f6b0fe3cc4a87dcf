"""Is there a number that satisfies these bounds, periods and points? Exact rationals throughout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Final

from governance.core.schema.budget import Budget

_SCAN_LIMIT: Final = 20_000
_DIGITS_A_STEP: Final = 50
_DOUBLES_ARE_EXACT: Final = 1 << 45


class NumberUndecided(Exception):
    """The search for a number would take too long."""


@dataclass
class NumberRange:
    """A conjunction of number constraints, narrowed by its methods."""

    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False
    periods: list[Fraction] = field(default_factory=list)
    """The number is a multiple of each."""
    not_periods: list[Fraction] = field(default_factory=list)
    """The number is a multiple of none."""
    excluded: set[Fraction] = field(default_factory=set)

    def at_least(self, bound: Fraction, *, exclusive: bool) -> None:
        if self.low is None or bound > self.low or (bound == self.low and exclusive):
            self.low, self.low_open = bound, exclusive

    def at_most(self, bound: Fraction, *, exclusive: bool) -> None:
        if self.high is None or bound < self.high or (bound == self.high and exclusive):
            self.high, self.high_open = bound, exclusive

    def admits(self, value: Fraction) -> bool:
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        if self.high is not None and (value > self.high or (self.high_open and value == self.high)):
            return False
        if value in self.excluded or any((value / period).denominator != 1 for period in self.periods):
            return False
        return not any((value / period).denominator == 1 for period in self.not_periods)

    def find(self, budget: Budget) -> Fraction | None:
        """A simple number (a finite decimal near zero) within, or None when there is provably none.

        Raises:
            NumberUndecided: the excluded periods leave only numbers too rare to find by scanning.
        """
        if self.low is not None and self.high is not None:
            if self.low > self.high:
                return None
            if self.low == self.high:
                point = self.low
                return point if not (self.low_open or self.high_open) and self.admits(point) else None
        if not self.periods:
            return self._find_real(budget)
        period = _common_period(self.periods)
        if any((period / other).denominator == 1 for other in self.not_periods):
            return None
        return self._find_multiple(period, budget)

    def _find_multiple(self, period: Fraction, budget: Budget) -> Fraction | None:
        lowest = None if self.low is None else ceil(self.low / period)
        if lowest is not None and self.low_open and lowest * period == self.low:
            lowest += 1
        highest = None if self.high is None else floor(self.high / period)
        if highest is not None and self.high_open and highest * period == self.high:
            highest -= 1
        if lowest is not None and highest is not None and lowest > highest:
            return None
        # Within one common cycle of the excluded periods every pattern of exclusion occurs.
        cycle = 1
        for other in self.not_periods:
            quotient = _lcm(period, other) / period
            cycle = lcm(cycle, int(quotient))
        needed, limit = cycle + len(self.excluded) * cycle + 1, _SCAN_LIMIT + len(self.excluded)
        for count, factor in enumerate(_near_zero(lowest, highest)):
            if count > min(needed, limit):
                break
            budget.spend()
            if self.admits(factor * period):
                return self._plainer(factor * period, period, budget)
        else:
            return None
        if needed <= limit:
            return None
        raise NumberUndecided

    def _plainer(self, found: Fraction, period: Fraction, budget: Budget) -> Fraction:
        """An integer instead of a fraction that has more digits than validators which use doubles can hold."""
        if found.denominator == 1 or abs(found) < _DOUBLES_ARE_EXACT:
            return found
        try:
            return self._find_multiple(_lcm(period, Fraction(1)), budget) or found
        except NumberUndecided:
            return found

    def _find_real(self, budget: Budget) -> Fraction | None:
        """Any interval of more than one point holds infinitely many decimals that dodge finitely many periods."""
        for factor in _first(_near_zero(*self._integers()), 64 + len(self.excluded)):
            budget.spend()
            if self.admits(Fraction(factor)):
                return Fraction(factor)
        low, high = self._window()
        digits = 1
        while Fraction(1, 10**digits) > (high - low) / 4:
            budget.spend(1 + digits // _DIGITS_A_STEP)
            digits += 1
        for extra in range(40):
            step = Fraction(1, 10 ** (digits + extra))
            start = floor(low / step)
            for offset in range(1, 60 + len(self.excluded)):
                budget.spend()
                candidate = (start + offset) * step
                if candidate > high:
                    break
                if self.admits(candidate):
                    return candidate
        raise NumberUndecided

    def _integers(self) -> tuple[int | None, int | None]:
        return (
            None if self.low is None else ceil(self.low),
            None if self.high is None else floor(self.high),
        )

    def _window(self) -> tuple[Fraction, Fraction]:
        """The stretch of the interval nearest zero, at most one long: numbers there have the fewest digits."""
        low, high = self.low, self.high
        if low is not None and low >= 0:
            return low, low + 1 if high is None else min(high, low + 1)
        if high is not None and high <= 0:
            return high - 1 if low is None else max(low, high - 1), high
        return Fraction(0), Fraction(1) if high is None else min(high, Fraction(1))


def _near_zero(lowest: int | None, highest: int | None) -> Iterable[int]:
    """The integers of a range, those nearest zero first, positive before negative."""
    if lowest is not None and lowest > 0:
        current = lowest
        while highest is None or current <= highest:
            yield current
            current += 1
        return
    if highest is not None and highest < 0:
        current = highest
        while lowest is None or current >= lowest:
            yield current
            current -= 1
        return
    distance = 0
    while True:
        up = highest is None or distance <= highest
        down = lowest is None or -distance >= lowest
        if not up and not down:
            return
        if up:
            yield distance
        if down and distance:
            yield -distance
        distance += 1


def _first(items: Iterable[int], count: int) -> Iterable[int]:
    for item, _ in zip(items, range(count), strict=False):
        yield item


def _lcm(left: Fraction, right: Fraction) -> Fraction:
    return Fraction(lcm(left.numerator, right.numerator), gcd(left.denominator, right.denominator))


def _common_period(periods: Iterable[Fraction]) -> Fraction:
    result = Fraction(0)
    for period in periods:
        result = period if result == 0 else _lcm(result, period)
    return result
