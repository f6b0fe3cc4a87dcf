"""A second opinion on containment, from foreign code that cannot be bounded and therefore must be killable.

``jsonschema_rs`` can canonicalise two schemas and say whether one covers the other. The algebra is
experimental: a kilobyte of schema can keep it busy for a minute, hold the interpreter lock meanwhile, or
abort the process. So it runs in a process of its own, with a memory limit and a wall clock, and is killed and
started anew when it passes either. No answer is an answer: ``None``.

Run as a script this same file *is* the worker: it imports nothing of the package.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from functools import partial
from typing import IO, Any, Final

DEFAULT_TIMEOUT_SEC: Final = 0.2
DEFAULT_MEMORY_MB: Final = 1024
MAX_REQUEST_BYTES: Final = 4 * 1024 * 1024
_START_TIMEOUT_SEC: Final = 20.0
_HEADER_BYTES: Final = 4
_READY, _YES, _NO, _CANNOT_SAY = b"R", b"y", b"n", b"?"


class CoversWorker:
    """Callable ``(old, new) -> True | False | None``: does every value of ``old`` lie within ``new``?

    ``True`` is a proof by the foreign algebra, ``False`` its plain no (without a payload, so no proof),
    ``None`` "cannot say": unknown, different drafts, too big, too slow, crashed. It never raises for what a
    schema holds. Safe to share between threads (one question at a time) and after a fork; the process is
    started by the first question and never outlives its owner by more than a second.
    """

    def __init__(
        self,
        *,
        timeout_sec: float = DEFAULT_TIMEOUT_SEC,
        memory_mb: int = DEFAULT_MEMORY_MB,
        assert_formats: bool = False,
    ) -> None:
        self._timeout = timeout_sec
        self._memory_mb, self._formats = memory_mb, assert_formats
        self._arguments = [str(memory_mb), repr(timeout_sec + 1.0), "1" if assert_formats else "0"]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._reaper: weakref.finalize[[subprocess.Popen[bytes]], CoversWorker] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickled worker is another one, set up alike, whose process is its own."""
        return partial(
            CoversWorker, timeout_sec=self._timeout, memory_mb=self._memory_mb, assert_formats=self._formats
        ), ()

    def __call__(
        self, old: Any, new: Any, draft: str | None = None, *, timeout_sec: float | None = None
    ) -> bool | None:
        """Ask. ``draft``: 4, 6, 7, 2019-09 or 2020-12 as text; None: what ``$schema`` says, else 2020-12.

        ``timeout_sec`` may shorten the wait for this one answer; the start of the process is not counted.
        """
        timeout = self._timeout if timeout_sec is None else min(self._timeout, timeout_sec)
        try:
            request = pickle.dumps((old, new, draft), protocol=5)
        except (RecursionError, MemoryError):
            return None
        if len(request) > MAX_REQUEST_BYTES:
            return None
        with self._lock:
            answer = self._ask(len(request).to_bytes(_HEADER_BYTES, "big") + request, timeout)
        return {_YES: True, _NO: False}.get(answer)

    def close(self) -> None:
        """Stop the process; a later question starts a new one."""
        with self._lock:
            self._stop()

    def _ask(self, message: bytes, timeout_sec: float) -> bytes:
        try:
            process = self._running()
            if process is None or process.stdin is None or process.stdout is None:
                return _CANNOT_SAY
            deadline = time.monotonic() + timeout_sec
            if _send(process.stdin, message, deadline):
                answer = _receive(process.stdout, deadline)
                if answer:
                    return answer
        except OSError:
            pass
        except BaseException:
            self._stop()  # a question without its answer would answer the next one
            raise
        self._stop()
        return _CANNOT_SAY

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._owner != os.getpid():
            self._forget()  # a fork's copy: the process answers the parent
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._process is None:
            self._start()
        return self._process

    def _start(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is the owner's to handle
        )
        self._process, self._owner = process, os.getpid()
        self._reaper = weakref.finalize(self, _kill, process)
        if process.stdin is None or process.stdout is None:
            return
        os.set_blocking(process.stdin.fileno(), False)
        if _receive(process.stdout, time.monotonic() + _START_TIMEOUT_SEC) != _READY:
            self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            _kill(self._process)
        self._forget()

    def _forget(self) -> None:
        if self._reaper is not None:
            self._reaper.detach()
        self._process = self._reaper = None


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()


def _send(stream: IO[bytes], message: bytes, deadline: float) -> bool:
    view = memoryview(message)
    while view:
        if not _ready(stream, select.POLLOUT, deadline):
            return False
        view = view[os.write(stream.fileno(), view) :]
    return True


def _receive(stream: IO[bytes], deadline: float) -> bytes:
    return os.read(stream.fileno(), 1) if _ready(stream, select.POLLIN, deadline) else b""


def _ready(stream: IO[bytes], event: int, deadline: float) -> bool:
    poll = select.poll()  # select() cannot name the descriptors of a busy server
    poll.register(stream, event)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


def _serve(memory_mb: int, alarm_sec: float, assert_formats: bool) -> None:
    """The worker: questions on stdin, one byte each on stdout, until stdin ends."""
    import resource

    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, memory_mb * 1024 * 1024)):
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):
            continue  # the platform does not have it; the wall clock still holds
    import jsonschema_rs

    drafts = {
        "4": jsonschema_rs.Draft4,
        "6": jsonschema_rs.Draft6,
        "7": jsonschema_rs.Draft7,
        "2019-09": jsonschema_rs.Draft201909,
        "2020-12": jsonschema_rs.Draft202012,
    }

    def answer(old: Any, new: Any, draft: str | None) -> bytes:
        options: dict[str, Any] = {"validate_formats": assert_formats, "offline": True}
        if draft is not None:
            options["draft"] = drafts[draft]
        wide, narrow = (jsonschema_rs.canonicalize(schema, **options) for schema in (new, old))
        said = str(wide.covers(narrow))
        return {"yes": _YES, "no": _NO}.get(said, _CANNOT_SAY)

    questions, answers = sys.stdin.buffer, sys.stdout.fileno()
    os.write(answers, _READY)
    while header := questions.read(_HEADER_BYTES):
        request = pickle.loads(questions.read(int.from_bytes(header, "big")))
        # The default action of SIGALRM ends the process: an owner that was killed leaves no busy orphan.
        signal.setitimer(signal.ITIMER_REAL, alarm_sec)
        try:
            said = answer(*request)
        except Exception:
            said = _CANNOT_SAY
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(answers, said)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "1")
