"""Where the values of a JSON text stand: from offsets to pointers, and from pointers to lines and columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from governance.core.canonical import escape
from governance.errors import Place

STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string token; one that never ends reaches to the end of the text, so that no text is scanned twice."""
TOKEN: Final = re.compile(
    r'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)|(?P<mark>[\[\]{},:])|(?P<atom>[^\s\[\]{},:"]++)', re.DOTALL
)


class Locator:
    """A :data:`Locate` over a JSON text that has been read; it scans the text once, when first asked."""

    def __init__(self, text: str, *, file: str | None = None) -> None:
        self._text = text
        self._file = file
        self._offsets: dict[str, int] | None = None

    def __call__(self, pointer: str) -> Place:
        """Where the value at ``pointer`` begins, or its nearest ancestor if there is no such value."""
        if self._offsets is None:
            self._offsets = {to_pointer(path): start for path, start, kind in walk(self._text) if kind == "value"}
        while pointer and pointer not in self._offsets:
            pointer = pointer.rpartition("/")[0]
        return place_at(self._text, self._offsets.get(pointer, 0), self._file)


def place_at(text: str, offset: int, file: str | None) -> Place:
    """Line and column of a character."""
    line = text.count("\n", 0, offset) + 1
    return Place(file=file, line=line, column=offset - (text.rfind("\n", 0, offset) + 1) + 1)


def pointer_at(text: str, offset: int) -> str:
    """The pointer of the last value begun when a reader came to ``offset``; the text may be broken."""
    last: tuple[str | int, ...] = ()
    for path, begin, _ in walk(text):
        if begin > offset:
            break
        last = tuple(path)
    return to_pointer(last)


def to_pointer(path: tuple[str | int, ...] | list[str | int]) -> str:
    """A JSON Pointer over a path of keys and indexes."""
    return "".join(f"/{escape(str(token))}" for token in path)


def walk(text: str) -> Iterator[tuple[list[str | int], int, str]]:
    """Every ``key`` and ``value`` of a JSON text with its path and offset; iterative, and never fails.

    The path is one live list: copy it to keep it.
    """
    path: list[str | int] = []
    in_object: list[bool] = []
    awaits_key = False
    for match in TOKEN.finditer(text):
        token, start = match[0], match.start()
        if match["mark"] is None:
            if awaits_key and token[0] == '"':
                path[-1] = unquoted(token)
                awaits_key = False
                yield path, start, "key"
            else:
                yield path[:-1] if awaits_key else path, start, "value"
        elif token in "[{":
            yield path, start, "value"
            in_object.append(token == "{")
            awaits_key = token == "{"
            path.append("" if awaits_key else 0)
        elif token in "]}":
            if in_object:
                in_object.pop()
                path.pop()
            awaits_key = False
        elif token == "," and in_object:
            awaits_key = in_object[-1]
            if isinstance(path[-1], int):
                path[-1] += 1


def unquoted(token: str) -> str:
    """The text of a string token, broken or not."""
    try:
        text = json.loads(token)
    except ValueError:
        return token.strip('"')
    return text if isinstance(text, str) else token
