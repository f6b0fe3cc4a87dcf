"""The bytes of one file: bounded, and never waiting for a pipe that nobody writes into."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path
from typing import Final

_WRITER_WITHIN_SEC: Final = 2.0
_PAUSE_SEC: Final = 0.02


def read_bytes(path: Path, limit: int) -> bytes:
    """At most ``limit`` bytes of the file. Raises OSError, also for a pipe that gets no writer in two seconds."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        found = b""
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            found = _first_of(file.fileno(), limit)
        os.set_blocking(descriptor, True)
        parts = [found]
        left = limit - len(found)
        while left > 0 and (part := os.read(descriptor, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _first_of(descriptor: int, limit: int) -> bytes:
    """What the pipe holds already; empty where somebody has it open and has written nothing yet."""
    deadline = time.monotonic() + _WRITER_WITHIN_SEC
    while True:
        try:
            found = os.read(descriptor, min(limit, 1 << 20))
        except BlockingIOError:
            return b""
        if found:
            return found
        if time.monotonic() > deadline:
            raise OSError(errno.ENODATA, "It is a pipe, and nobody writes into it")
        time.sleep(_PAUSE_SEC)
