"""Bytes into lines, in memory that does not grow with what a server sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_KEPT: Final = 200
"""Bytes of an endless line that is no message, to show."""


class LineTooLong(Exception):
    """A line that began as a message went on past the bound."""


class Lines:
    """Feed it chunks; it gives complete lines without their end, empty ones too.

    A line past ``limit`` bytes that does not begin as a ``message`` does is cut and the rest of it passed over.
    """

    def __init__(self, limit: int, *, message: bytes) -> None:
        self._limit = limit
        self._message = message
        self._line = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Raises LineTooLong for what would be a message."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._grow(part)
            yield self._ended()
        self._grow(rest)

    def end(self) -> bytes:
        """The last line, which nobody ended."""
        return self._ended()

    def _grow(self, part: bytes) -> None:
        if self._skipping:
            return
        self._line += part
        if len(self._line) > self._limit:
            if self._line.startswith(self._message):
                raise LineTooLong
            del self._line[_KEPT:]
            self._skipping = True

    def _ended(self) -> bytes:
        line = bytes(self._line).removesuffix(b"\r")
        self._line.clear()
        self._skipping = False
        return line
