"""Reading the fields of a JSON object: each taken once, each fault collected with its pointer."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.names import shown
from governance.errors import Fault

MAX_TEXT = 100_000
"""Characters of one text; more is no description but a document."""

_E = TypeVar("_E", bound=StrEnum)
_T = TypeVar("_T")


def kind_of(value: JSON) -> str:
    """What a JSON value is, in JSON's words, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    return "a number"


class Fields:
    """The fields of one object. Every reader returns its default where the field is absent or at fault.

    ``faults`` is shared between an object and the objects inside it. An explicit null counts as absent.
    """

    def __init__(self, value: JSON, *, pointer: str = "", faults: list[Fault] | None = None) -> None:
        self.faults: list[Fault] = [] if faults is None else faults
        self.pointer = pointer
        self._left: dict[str, JSON] = {}
        self._known: list[str] = []
        if isinstance(value, Mapping):
            self._left = dict(value)
        else:
            self.faults.append(Fault(pointer=pointer, message=f"an object is expected, not {kind_of(value)}"))

    def fault(self, name: str, message: str, *, code: str = "invalid") -> None:
        self.faults.append(Fault(pointer=self.at(name), message=message, code=code))

    def at(self, name: str) -> str:
        return f"{self.pointer}/{escape(name)}" if name else self.pointer

    def has(self, name: str) -> bool:
        return self._left.get(name) is not None

    def peek(self, name: str) -> JSON:
        """The raw value without taking it."""
        return self._left.get(name)

    def is_blank(self, name: str) -> bool:
        value = self._left.get(name)
        return isinstance(value, str) and not value.strip()

    def take(self, name: str) -> JSON:
        """The raw value, or None."""
        self._known.append(name)
        return self._left.pop(name, None)

    def text(self, name: str, *, limit: int = MAX_TEXT) -> str | None:
        value = self.take(name)
        if value is None:
            return None
        complaint = _text_complaint(value, limit)
        if complaint:
            self.fault(name, complaint)
            return None
        return str(value)

    def matching(self, name: str, pattern: re.Pattern[str], meaning: str, *, limit: int = 2_000) -> str | None:
        """A text that ``pattern`` matches whole; ``meaning`` completes "this is not …"."""
        value = self.text(name, limit=limit)
        if value is not None and pattern.fullmatch(value) is None:
            self.fault(name, f"{shown(value)} is not {meaning}")
            return None
        return value

    def choice(self, name: str, kind: type[_E]) -> _E | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            return kind(value)
        except ValueError:
            near = difflib.get_close_matches(value.lower(), [str(item) for item in kind], 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            self.fault(name, f"{shown(value)} is none of {', '.join(kind)}{hint}", code="choice")
            return None

    def flag(self, name: str) -> bool | None:
        value = self.take(name)
        if value is None or isinstance(value, bool):
            return value
        self.fault(name, f"true or false is expected, not {kind_of(value)}")
        return None

    def number(self, name: str, holds: Callable[[float], bool], meaning: str) -> float | None:
        """A finite number for which ``holds``; ``meaning`` completes "this must be …"."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            # A Decimal is a number no double holds: the canonical check names it with the others.
            if kind_of(value) != "a number":
                self.fault(name, f"a number is expected, not {kind_of(value)}")
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        if number - number == 0 and holds(number):
            return number
        self.fault(name, f"this must be {meaning}")
        return None

    def texts(self, name: str, *, pattern: re.Pattern[str] | None = None, meaning: str = "") -> tuple[str, ...]:
        """A set of strings: sorted, each once, whatever the order in the source."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            self.fault(name, f"a list of strings is expected, not {kind_of(value)}")
            return ()
        found: set[str] = set()
        for index, item in enumerate(value):
            complaint = _text_complaint(item, 2_000)
            if not complaint and pattern is not None and pattern.fullmatch(item) is None:
                complaint = f"{shown(item)} is not {meaning}"
            if complaint:
                self.faults.append(Fault(pointer=f"{self.at(name)}/{index}", message=complaint))
            else:
                found.add(item)
        return tuple(sorted(found))

    def each(self, name: str, read: Callable[[JSON, str], _T | None]) -> tuple[_T, ...]:
        """A list of objects, each read by ``read(value, pointer)``; None leaves one out."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            self.fault(name, f"a list is expected, not {kind_of(value)}")
            return ()
        items = (read(item, f"{self.at(name)}/{index}") for index, item in enumerate(value))
        return tuple(item for item in items if item is not None)

    def inside(self, name: str) -> Fields | None:
        """The fields of an object inside this one, or None if it is absent."""
        value = self.take(name)
        return None if value is None else Fields(value, pointer=self.at(name), faults=self.faults)

    def close(self) -> None:
        """Every field nobody asked for is a fault."""
        for index, name in enumerate(self._left):
            # A hint costs half a millisecond, and nobody reads the hundredth.
            hinted = index < 20 and len(name) <= 64
            near = difflib.get_close_matches(name, self._known, 1) if hinted else []
            hint = f'; did you mean "{near[0]}"?' if near else ""
            self.fault(name, f"nobody knows the field {shown(name)}{hint}", code="unknown-field")


def repeated(items: Iterable[str]) -> list[int]:
    """Indexes of the items that stood before."""
    seen: set[str] = set()
    found: list[int] = []
    for index, item in enumerate(items):
        if item in seen:
            found.append(index)
        seen.add(item)
    return found


def _text_complaint(value: JSON, limit: int) -> str:
    if not isinstance(value, str):
        quotes = "" if value is None or isinstance(value, list | tuple | Mapping) else "; put it in quotes"
        return f"a string is expected, not {kind_of(value)}{quotes}"
    if "\x00" in value:
        return "text must not hold NUL"
    if len(value) > limit:
        return f"the text has {len(value):,} characters, {limit:,} are allowed"
    return ""
