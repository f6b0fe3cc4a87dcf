"""Work for a crew, in a module that a helper reads in no time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable


def told(item: int) -> tuple[int, int]:
    time.sleep(0.001)  # so that every process gets something to do
    return item * item, os.getpid()


def killed_elsewhere(home: int, item: int) -> int:
    if os.getpid() != home and item % 7 == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def refused_at(wrong: int, item: int) -> int:
    if item >= wrong:
        raise ValueError(f"{item} is too much")
    return item


def unpicklable(item: int) -> Callable[[], int]:
    return lambda: item
