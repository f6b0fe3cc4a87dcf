"""A parsed pattern: sets, sequences, choices, repetitions and assertions. Groups leave no trace, they only group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from governance.core.schema.charset import CharSet


class UnsupportedPattern(Exception):
    """The pattern is no ECMA-262 pattern, or uses what cannot be decided exactly.

    ``reason`` is a permanent code: ``syntax``, ``too-large``, ``back-reference``, ``look-behind``,
    ``property-escape``, ``case-insensitive``, ``flags``.
    """

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason


class Anchor(Enum):
    START = "^"
    END = "$"
    BOUNDARY = "\\b"
    NO_BOUNDARY = "\\B"


@dataclass(frozen=True, slots=True)
class One:
    """One character out of a set."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``low`` to ``high`` times (None: without end). Greedy and lazy have the same language."""

    body: Pattern
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """A look-ahead: what follows must (or, negative, must not) begin with ``body``."""

    body: Pattern
    negative: bool


@dataclass(frozen=True, slots=True)
class Behind:
    """A look-behind of one place: before it stands one of ``chars`` or (``at_start``) nothing; negative: not so."""

    chars: CharSet
    at_start: bool
    negative: bool


Pattern: TypeAlias = One | Sequence | Choice | Repeat | Look | Behind | Anchor
