"""A step budget: the core has no clock, so work is bounded by counting it."""

from __future__ import annotations


class BudgetExceeded(Exception):
    """The question was given up; nothing is known about its answer."""


class Budget:
    """Elementary steps that may still be spent; one is worth roughly a microsecond.

    The same question costs the same number of steps however warm the caches are.
    """

    __slots__ = ("charged", "remaining")

    def __init__(self, steps: int) -> None:
        self.remaining = steps
        self.charged: set[object] = set()
        """What was paid for already: remembered work is charged to every budget once."""

    def spend(self, steps: int = 1) -> None:
        """Take ``steps`` away.

        Raises:
            BudgetExceeded: there were not that many left.
        """
        self.remaining -= steps
        if self.remaining < 0:
            raise BudgetExceeded("the step budget is spent")
