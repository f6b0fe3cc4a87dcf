"""Work is bounded by counting it; whoever has a clock may end it earlier."""

from __future__ import annotations

import itertools

import pytest

from governance.core.schema.budget import STEPS_BETWEEN_QUESTIONS, Budget, BudgetExceeded


def spend_until_refused(budget: Budget, most: int) -> int:
    for spent in range(most):
        try:
            budget.spend()
        except BudgetExceeded:
            return spent
    return most


def test_exactly_the_granted_steps_can_be_spent() -> None:
    assert spend_until_refused(Budget(1000), 2000) == 1000
    assert spend_until_refused(Budget(1000, lambda: False), 2000) == 1000


def test_more_steps_can_be_granted_when_none_are_left() -> None:
    for budget in (Budget(10), Budget(10, lambda: False)):
        assert spend_until_refused(budget, 100) == 10
        budget.grant(5)
        assert spend_until_refused(budget, 100) == 5
        assert not budget.interrupted


def test_the_interrupt_is_asked_at_once_and_then_every_few_hundred_steps() -> None:
    asked = []
    budget = Budget(100_000, lambda: asked.append(budget.remaining) is not None)
    spend_until_refused(budget, 10 * STEPS_BETWEEN_QUESTIONS)
    assert asked[0] == 99_999
    assert all(one - other <= STEPS_BETWEEN_QUESTIONS + 1 for one, other in itertools.pairwise(asked))
    assert len(asked) <= 11


def test_after_an_interrupt_nothing_can_be_spent_or_granted() -> None:
    budget = Budget(100_000, lambda: True)
    with pytest.raises(BudgetExceeded):
        budget.spend()
    budget.grant(1000)
    with pytest.raises(BudgetExceeded):
        budget.spend()
    assert budget.interrupted


def test_one_large_step_does_not_slip_past_the_interrupt() -> None:
    times = iter([False, True])
    budget = Budget(100_000, lambda: next(times))
    budget.spend(10)
    with pytest.raises(BudgetExceeded):
        budget.spend(50_000)
