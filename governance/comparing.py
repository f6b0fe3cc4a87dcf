"""The engine with a clock: a ceiling for each comparison, and the second opinion for what stays open within it.

The core counts steps and has no clock; command line and service have one, and this is where they hand it in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
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
        opinion, interrupt = self._within(self._clock())
        return engine.check(old, new, settings=settings, opinion=opinion, interrupt=interrupt)

    def check_schemas(
        self, old: JSON, new: JSON, *, side: Side, settings: Settings = DEFAULT_SETTINGS
    ) -> Comparison:
        """:func:`governance.core.compat.engine.check_schemas` in time."""
        opinion, interrupt = self._within(self._clock())
        return engine.check_schemas(old, new, side=side, settings=settings, opinion=opinion, interrupt=interrupt)

    def _within(self, began: float) -> tuple[SecondOpinion | None, Interrupt | None]:
        if self.ceiling_sec is None:
            return self._opinion, None
        deadline = began + self.ceiling_sec

        def opinion(old: JSON, new: JSON) -> bool | None:
            left = deadline - self._clock()
            return self._opinion(old, new, timeout_sec=left) if self._opinion is not None and left > 0 else None

        return (opinion if self._opinion is not None else None), (lambda: self._clock() >= deadline)
