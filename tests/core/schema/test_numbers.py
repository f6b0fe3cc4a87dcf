"""The search for a number finds one whenever a plain scan does, and what it finds fits."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from governance.core.schema.budget import Budget
from governance.core.schema.numbers import NumberRange

bounds = st.none() | st.integers(-8, 8).map(lambda value: Fraction(value, 2))
periods = st.lists(st.sampled_from([Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2), Fraction(3, 2)]), max_size=2)
GRID = [Fraction(value, 4) for value in range(-60, 61)]


@given(bounds, bounds, st.booleans(), st.booleans(), periods, periods, st.sets(st.integers(-3, 3)))
def test_it_agrees_with_a_scan(
    low: Fraction | None, high: Fraction | None, low_open: bool, high_open: bool,
    wanted: list[Fraction], unwanted: list[Fraction], excluded: set[int],
) -> None:  # fmt: skip
    numbers = NumberRange(periods=wanted, not_periods=unwanted, excluded={Fraction(value) for value in excluded})
    if low is not None:
        numbers.at_least(low, exclusive=low_open)
    if high is not None:
        numbers.at_most(high, exclusive=high_open)
    found = numbers.find(Budget(1_000_000))
    if found is None:
        assert not any(numbers.admits(value) for value in GRID)
    else:
        assert numbers.admits(found)


@given(st.integers(min_value=-(10**40), max_value=10**40))
def test_a_single_point_is_found_however_large(point: int) -> None:
    numbers = NumberRange()
    numbers.at_least(Fraction(point), exclusive=False)
    numbers.at_most(Fraction(point), exclusive=False)
    assert numbers.find(Budget(100)) == point
    numbers.excluded.add(Fraction(point))
    assert numbers.find(Budget(100)) is None
