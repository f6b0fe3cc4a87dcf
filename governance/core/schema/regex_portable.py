"""Patterns for another engine: the same language, printed so that the independent validator reads it as we do.

The validator speaks a dialect of its own: it refuses ``[^]``, ``[\\w-.]``, ``\\uD83D\\uDE00`` and a literal ``{a}``,
reads ``\\b`` by Unicode's words and ``\\<`` as an edge of a word, and lets ``.`` pass line ends once a pattern
looks around. The parsed tree says what ECMA-262 means; here it is printed with sets as explicit code points.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from governance.core.schema import charset
from governance.core.schema.charset import CharSet
from governance.core.schema.regex_syntax import parse
from governance.core.schema.regex_tree import (
    Anchor,
    Behind,
    Choice,
    Look,
    One,
    Pattern,
    Repeat,
    Sequence,
    UnsupportedPattern,
)

_ESCAPE: Final = r"\\(?:[dDwWsStnrvf^$\\.*+?()\[\]{}|/\-]|x[0-9A-Fa-f]{2}|u(?![dD][89a-fA-F])[0-9A-Fa-f]{4})"
_MEMBER: Final = rf"(?:[^\\\[\]&~\-^]|{_ESCAPE})"
_SINGLE: Final = r"(?:[^\\\[\]&~\-^]|\\(?:[tnrvf^$\\.*+?()\[\]{}|/\-]|x[0-9A-Fa-f]{2}))"
_READ_ALIKE: Final = re.compile(
    r"(?:"
    r"[^\\^$.*+?()\[\]{}|]"  # a character that means itself
    rf"|{_ESCAPE}"
    rf"|\[\^?-?(?:{_SINGLE}-{_SINGLE}|{_MEMBER})+-?\]"
    r"|\((?:\?:|(?!\?))(?![\^$()|?:]{0,100}\)[*+?{])"  # it repeats no group that takes nothing
    r"|[)|^$.]"
    r"|(?:[*+?]|\{[0-9]{1,4}(?:,(?:[0-9]{1,4})?)?\})\??"
    r")*+",
    re.DOTALL,
)
_REMEMBERED_LENGTH: Final = 500
_WORD: Final = "[0-9A-Za-z_]"
_BOUNDARY: Final = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_BOUNDARY: Final = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"


def portable(pattern: str) -> str:
    """A pattern of the validator's engine that finds a match in exactly the texts in which ``pattern`` does.

    Raises:
        UnsupportedPattern: it is no ECMA-262 pattern, or uses a feature that is not decided.
    """
    return _printed(parse(pattern))


def spoken(pattern: str) -> str:
    """The pattern as the validator should be given it: as written wherever it reads that alike, or we cannot."""
    return _remembered(pattern) if len(pattern) <= _REMEMBERED_LENGTH else _spoken(pattern)


@lru_cache(maxsize=512)
def _remembered(pattern: str) -> str:
    return _spoken(pattern)


def _spoken(pattern: str) -> str:
    if _READ_ALIKE.fullmatch(pattern):
        return pattern
    try:
        return portable(pattern)
    except UnsupportedPattern:
        return pattern


def _printed(tree: Pattern) -> str:
    match tree:
        case One():
            return _set(tree.chars)
        case Sequence():
            return "".join(map(_grouped, tree.parts)) or "()"
        case Choice():
            return "|".join(map(_printed, tree.branches))
        case Repeat() if _takes_nothing(tree.body):
            return _grouped(tree.body) if tree.low else "()"
        case Repeat():
            return f"(?:{_printed(tree.body)}){_count(tree.low, tree.high)}"
        case Look():
            return f"(?{'!' if tree.negative else '='}{_printed(tree.body)})"
        case Behind():
            return _behind(tree)
        case Anchor.BOUNDARY:
            return _BOUNDARY
        case Anchor.NO_BOUNDARY:
            return _NO_BOUNDARY
        case Anchor():
            return str(tree.value)


def _grouped(part: Pattern) -> str:
    return f"(?:{_printed(part)})" if isinstance(part, Choice) else _printed(part)


def _takes_nothing(tree: Pattern) -> bool:
    match tree:
        case One():
            return False
        case Sequence():
            return all(map(_takes_nothing, tree.parts))
        case Choice():
            return all(map(_takes_nothing, tree.branches))
        case Repeat():
            return tree.high == 0 or _takes_nothing(tree.body)
        case _:
            return True


def _count(low: int, high: int | None) -> str:
    if high is None:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _behind(tree: Behind) -> str:
    seen = _set(tree.chars)
    if tree.negative:
        return f"(?<!{seen})(?!^)" if tree.at_start else f"(?<!{seen})"
    return f"(?:(?<={seen})|^)" if tree.at_start else f"(?<={seen})"


def _set(chars: CharSet) -> str:
    if not chars:
        return "[^" + _ranges(charset.ANY) + "]"
    if len(chars.ranges) == 1 and chars.ranges[0][0] == chars.ranges[0][1]:
        return _character(chars.ranges[0][0])
    return "[" + _ranges(chars) + "]"


def _ranges(chars: CharSet) -> str:
    return "".join(
        _character(low) if low == high else f"{_character(low)}-{_character(high)}" for low, high in chars.ranges
    )


def _character(codepoint: int) -> str:
    return chr(codepoint) if codepoint in charset.WORD else f"\\u{{{codepoint:X}}}"
