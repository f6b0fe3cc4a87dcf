"""The same work on every core: pieces that do not depend on each other, answered in their order.

Helpers are processes, since the engine is Python. They only ever save time: a piece that a helper does not answer,
because it was killed or met an error, is worked here, where the error shows as it would without helpers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Final, TypeVar

MOST_JOBS: Final = 64
_MOST_ITEMS: Final = 8
_PIECES_EACH: Final = 4
_PAYS_FROM: Final = 150_000
"""Characters of contracts, about 2 microseconds each, that pay for a helper that is a copy of this process."""
_PAYS_ANEW_FROM: Final = 1_500_000
"""The same for one that must read all modules first."""

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


def jobs(text: str) -> int:
    """A number of processes from a command line."""
    count = int(text) if text.isascii() and text.isdecimal() and len(text) <= 3 else 0
    if not 1 <= count <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number from 1 to {MOST_JOBS}")
    return count


def jobs_for(characters: int) -> int:
    """How many processes pay for so much text of contracts: one, or one a core."""
    if characters < (_PAYS_FROM if _may_copy() else _PAYS_ANEW_FROM):
        return 1
    affinity = getattr(os, "sched_getaffinity", None)
    return min(len(affinity(0)) if affinity is not None else os.cpu_count() or 1, MOST_JOBS)


class Crew:
    """This process and its helpers, which start with the block and are gone after it.

    ``jobs`` counts this process as well; with one there are no helpers. Open it before a thread starts: a process
    with threads is not copied but started anew, which takes longer.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._helpers: list[_Helper] = []

    def __enter__(self) -> Crew:
        copied = _may_copy()
        for _ in range(self._jobs - 1):
            self._helpers.append(_Helper(copied=copied, beside=self._helpers))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for helper in self._helpers:
            helper.end()

    def each(self, work: Callable[[_Item], _Answer], items: Sequence[_Item]) -> Iterator[_Answer]:
        """``work`` of each item, in order. With helpers, work, items and answers must survive pickling."""
        helpers = [helper for helper in self._helpers if helper.alive]
        if not helpers or len(items) < 2:
            yield from map(work, items)
            return
        size = max(1, min(_MOST_ITEMS, len(items) // (_PIECES_EACH * (len(helpers) + 1))))
        pieces = [items[start : start + size] for start in range(0, len(items), size)]
        given = pickle.dumps(work)
        left = deque(range(len(pieces)))
        done: dict[int, list[_Answer] | None] = {}
        try:
            for place, piece in enumerate(pieces):
                while place not in done:
                    for helper in helpers:
                        if left and helper.is_free and helper.takes(left[0], given, pieces[left[0]]):
                            left.popleft()
                    if left:
                        own = left.popleft()
                        done[own] = _worked(work, pieces[own])
                    _gather(helpers, done, patient=not left and place not in done)
                answers = done.pop(place)
                yield from map(work, piece) if answers is None else answers
        finally:
            for helper in helpers:
                if not helper.is_free:
                    helper.end()  # nobody waits for its answer any more


class _Helper:
    """Another process, which works one piece at a time."""

    def __init__(self, *, copied: bool, beside: Sequence[_Helper]) -> None:
        context: Any = multiprocessing.get_context("fork" if copied else "spawn")
        self.connection, far = context.Pipe()
        # A copy inherits these ends; while it held them, nobody would learn that this process is gone.
        inherited = [self.connection, *(helper.connection for helper in beside)] if copied else []
        self._process = context.Process(target=_serve, args=(far, inherited), daemon=True)
        self._process.start()
        far.close()
        self.alive = True
        self.place: int | None = None
        """Which piece it works on."""

    @property
    def is_free(self) -> bool:
        return self.alive and self.place is None

    def takes(self, place: int, work: bytes, items: Sequence[Any]) -> bool:
        """Give it a piece; False when it is gone."""
        try:
            self.connection.send((work, items))
        except OSError:
            self.end()
            return False
        self.place = place
        return True

    def answer(self) -> list[Any] | None:
        """What it made of its piece; None where it could not, or is gone."""
        self.place = None
        try:
            answers: list[Any] | None = self.connection.recv()
        except Exception:  # half an answer is none, whatever the half looks like
            self.end()
            return None
        return answers

    def end(self) -> None:
        self.alive, self.place = False, None
        self._process.kill()
        self._process.join()
        self.connection.close()


def _gather(helpers: Sequence[_Helper], done: dict[int, list[Any] | None], *, patient: bool) -> None:
    """Take in what was answered; ``patient``: wait for one answer if any is due."""
    busy = {helper.connection: helper for helper in helpers if helper.place is not None}
    for connection in wait(busy, None if patient else 0) if busy else ():
        helper = busy[connection]
        assert helper.place is not None
        place = helper.place
        done[place] = helper.answer()


def _worked(work: Callable[[_Item], _Answer], items: Sequence[_Item]) -> list[_Answer] | None:
    """None where an error came: it is met again where the answers are due."""
    try:
        return [work(item) for item in items]
    except Exception:
        return None


def _may_copy() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1


_unpickled = lru_cache(maxsize=1)(pickle.loads)
"""The work of a helper, unpickled once: what it holds open, it holds once."""


def _serve(far: Connection, inherited: Sequence[Connection]) -> None:
    """The helper's side: pieces in, answers out, until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to handle, who then ends the helpers
    for connection in inherited:
        connection.close()
    owner = multiprocessing.parent_process()
    assert owner is not None
    while far in wait([far, owner.sentinel]):
        try:
            work, items = far.recv()
            answers = _worked(_unpickled(work), items)
            _send(far, answers)
        except (EOFError, OSError):
            return


def _send(far: Connection, answers: list[Any] | None) -> None:
    try:
        far.send(answers)
    except OSError:
        raise
    except Exception:  # an answer that does not survive pickling is worked where it is due
        far.send(None)
