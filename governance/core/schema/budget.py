"""A step budget: the core has no clock, so work is bounded by counting it.

Whoever has a clock may hand one in as an *interrupt*, a question that is put every few hundred steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

READING_STEPS: Final = 1_000_000
"""What reading two documents may cost: more than any needs that keeps within the caps and was not made to cost more."""

Interrupt: TypeAlias = Callable[[], bool]
"""Is it time to give up? Once it was, it stays so."""

STEPS_BETWEEN_QUESTIONS: Final = 256


class BudgetExceeded(Exception):
    """The question was given up; nothing is known about its answer."""


class Budget:
    """Elementary steps that may still be spent; one is worth roughly a microsecond.

    The same question costs the same number of steps however warm the caches are. ``interrupt`` may end it
    earlier; from then on nothing can be spent.
    """

    __slots__ = ("_floor", "_interrupt", "charged", "interrupted", "remaining")

    def __init__(self, steps: int, interrupt: Interrupt | None = None) -> None:
        self.remaining = steps
        self.charged: set[object] = set()
        """What was paid for already: remembered work is charged to every budget once."""
        self.interrupted = False
        self._interrupt = interrupt
        self._floor = 0 if interrupt is None else steps
        """Below this many steps it is time to look up."""

    def spend(self, steps: int = 1) -> None:
        """Take ``steps`` away.

        Raises:
            BudgetExceeded: there were not that many left, or the interrupt said so.
        """
        self.remaining -= steps
        if self.remaining < self._floor:
            self.look_up()

    @property
    def reason(self) -> str:
        """The reason code of what it left open."""
        return "time" if self.interrupted else "budget"

    def beside(self, steps: int) -> Budget:
        """Another one for other work of the same question: it ends with the same interrupt."""
        return Budget(steps, self._interrupt)

    def grant(self, steps: int) -> None:
        """So many steps more than what is left; none after an interrupt."""
        if self.interrupted:
            return
        self.remaining = max(self.remaining, 0) + steps
        if self._interrupt is not None:
            self._floor = self.remaining

    def look_up(self) -> None:
        """Ask at once whether to go on.

        Raises:
            BudgetExceeded: no.
        """
        if self._interrupt is not None and (self.interrupted or self._interrupt()):
            self.interrupted = True
            self.remaining = -1
            raise BudgetExceeded("the question was interrupted")
        if self.remaining < 0:
            raise BudgetExceeded("the step budget is spent")
        self._floor = max(self.remaining - STEPS_BETWEEN_QUESTIONS, 0)
