"""The engine with a clock: a ceiling for each comparison, and the second opinion for what stays open within it.

The core counts steps and has no clock; command line and service have one, and this is where they hand it in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from governance.core.compat import engine
from governance.core.compat.engine import DEFAULT_SETTINGS, SecondOpinion, Settings
from governance.core.compat.model import JSON, Comparison, Side
from governance.core.schema.budget import Interrupt
from governance.core.skill import SkillManifest
from governance.opinion import CoversWorker

DEFAULT_CEILING_SEC: Final = 0.25


class Comparer:
    """Compares under a wall ceiling. Safe to share between threads.

    ``ceiling_sec``: the longest time for one pair, both sides together; None: the step budget alone bounds it.
    ``opinion``: a worker of its own process, which its first question starts; None: no second opinion. ``clock``
    gives seconds.
    """

    def __init__(
        self,
        *,
        opinion: CoversWorker | None = None,
        ceiling_sec: float | None = DEFAULT_CEILING_SEC,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ceiling_sec = ceiling_sec
        self._opinion = opinion
        self._clock = clock

    def check(
        self, old: SkillManifest | None, new: SkillManifest | None, *, settings: Settings = DEFAULT_SETTINGS
    ) -> Comparison:
        """:func:`governance.core.compat.engine.check` in time; what stays open has the reason ``time``."""
        limit = self._limit()
        comparison = engine.check(old, new, settings=settings, opinion=limit.opinion, interrupt=limit.interrupt)
        return replace(comparison, interrupted=limit.reached)

    def check_schemas(self, old: JSON, new: JSON, *, side: Side, settings: Settings = DEFAULT_SETTINGS) -> Comparison:
        """:func:`governance.core.compat.engine.check_schemas` in time."""
        limit = self._limit()
        comparison = engine.check_schemas(
            old, new, side=side, settings=settings, opinion=limit.opinion, interrupt=limit.interrupt
        )
        return replace(comparison, interrupted=limit.reached)

    def _limit(self) -> _Limit:
        deadline = None if self.ceiling_sec is None else self._clock() + self.ceiling_sec
        return _Limit(deadline, self._clock, self._opinion)


class _Limit:
    """One comparison's end of time. ``reached``: somebody was told that it is over."""

    def __init__(self, deadline: float | None, clock: Callable[[], float], opinion: CoversWorker | None) -> None:
        self.reached = False
        self._deadline = deadline
        self._clock = clock
        self._worker = opinion

    @property
    def interrupt(self) -> Interrupt | None:
        return self._is_over if self._deadline is not None else None

    @property
    def opinion(self) -> SecondOpinion | None:
        return self._ask if self._worker is not None else None

    def _is_over(self) -> bool:
        if self._deadline is not None and self._clock() >= self._deadline:
            self.reached = True
        return self.reached

    def _ask(self, old: JSON, new: JSON) -> bool | None:
        if self._worker is None or self._is_over():
            return None
        left = None if self._deadline is None else self._deadline - self._clock()
        return self._worker(old, new, timeout_sec=left)
