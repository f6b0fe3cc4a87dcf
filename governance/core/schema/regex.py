"""Patterns as languages: a search for an ECMA-262 pattern, turned into the set of the strings it finds.

The one door to the algebra: everything else in this package that asks about patterns asks here.
"""

from __future__ import annotations

from typing import Final

from governance.core.schema.budget import BudgetExceeded
from governance.core.schema.charset import CharSet
from governance.core.schema.derivation import classes, derivative, matches
from governance.core.schema.expressions import Regex
from governance.core.schema.language import (
    ALL,
    EPSILON,
    NONE,
    SIGMA,
    chars,
    complement,
    concat,
    intersection,
    keep,
    loop,
    recall,
    union,
)
from governance.core.schema.regex_reading import search
from governance.core.schema.regex_syntax import parse
from governance.core.schema.regex_tree import UnsupportedPattern

__all__ = [
    "ALL",
    "NONE",
    "CharSet",
    "Regex",
    "UnsupportedPattern",
    "classes",
    "compile_pattern",
    "complement",
    "derivative",
    "intersection",
    "length_between",
    "literal",
    "matches",
    "union",
]

_REMEMBERED_LENGTH: Final = 1_000
_REMEMBERED_REFUSALS: Final = 1_000
_refused: dict[str, tuple[str, str]] = {}


def literal(text: str) -> Regex:
    """The language of one string."""
    result = EPSILON
    for character in reversed(text):
        result = concat(chars(CharSet.char(ord(character))), result)
    return result


def length_between(low: int, high: int | None) -> Regex:
    """All strings of ``low`` to ``high`` characters (None: without end)."""
    return NONE if high is not None and low > high else loop(SIGMA, low, high)


def compile_pattern(pattern: str) -> Regex:
    """All strings (of Unicode scalar values) in which the ECMA-262 pattern finds a match somewhere. Remembered.

    Raises:
        UnsupportedPattern: no pattern, or one whose language is not decided; ``reason`` is a permanent code.
    """
    known = recall(pattern)
    if known is not None:
        return known
    if pattern in _refused:
        raise UnsupportedPattern(*_refused[pattern])
    try:
        compiled = search(parse(pattern))
    except BudgetExceeded:
        reason, message = "too-large", "the pattern is too large to decide"
    except UnsupportedPattern as error:
        reason, message = error.reason, str(error)
    else:
        if len(pattern) <= _REMEMBERED_LENGTH:
            keep(pattern, compiled)
        return compiled
    if len(pattern) <= _REMEMBERED_LENGTH:
        if len(_refused) >= _REMEMBERED_REFUSALS:
            _refused.clear()
        _refused[pattern] = (reason, message)
    raise UnsupportedPattern(reason, message)
