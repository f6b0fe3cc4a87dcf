"""Patterns as languages: a search for an ECMA-262 pattern, turned into the set of the strings it finds.

The tree is read from its end: every part is given the language of what may follow it, and answers with the
language from its own start on. So a look-ahead is an intersection with what follows, and ``^``, ``$``, ``\\b``
choose among what follows by what came before: nothing, a word character, or another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from governance.core.schema import charset
from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.charset import CharSet
from governance.core.schema.derivation import classes, derivative, matches
from governance.core.schema.expressions import Concat, Inter, Knot, Loop, Regex, Union
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
from governance.core.schema.regex_syntax import parse
from governance.core.schema.regex_tree import (
    Anchor,
    Choice,
    Look,
    One,
    Pattern,
    Repeat,
    Sequence,
    UnsupportedPattern,
)

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

_COMPILE_STEPS: Final = 50_000
_REMEMBERED_LENGTH: Final = 1_000
_REMEMBERED_REFUSALS: Final = 1_000
_refused: dict[str, tuple[str, str]] = {}
_OTHER: Final = charset.ANY - charset.WORD
_WORD_FIRST: Final = concat(chars(charset.WORD), ALL)
_NO_WORD_FIRST: Final = union(EPSILON, concat(chars(_OTHER), ALL))
_WORD_LAST: Final = concat(ALL, chars(charset.WORD))
_OTHER_LAST: Final = concat(ALL, chars(_OTHER))
_SOMETHING: Final = concat(SIGMA, ALL)


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
        compiled = _Builder().search(parse(pattern))
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


class _After(NamedTuple):
    """What may follow, by what came before: nothing, a word character, another character."""

    start: Regex
    word: Regex
    other: Regex

    @property
    def uniform(self) -> bool:
        return self.start is self.word is self.other


_ANYTHING: Final = _After(ALL, ALL, ALL)


class _Builder:
    def __init__(self) -> None:
        self.budget = Budget(_COMPILE_STEPS)

    def search(self, tree: Pattern) -> Regex:
        found = self.build(tree, _ANYTHING)
        if found.uniform:
            return concat(ALL, found.start)
        if found.word is found.other:
            return union(found.start, concat(_SOMETHING, found.word))
        after = (concat(_WORD_LAST, found.word), concat(_OTHER_LAST, found.other))
        return union(found.start, *after)

    def build(self, tree: Pattern, after: _After) -> _After:
        self.budget.spend()
        if isinstance(tree, One):
            return self.prepend(chars(tree.chars), after)
        if _is_plain(tree):
            return self.prepend(self.plain(tree), after)
        match tree:
            case Anchor():
                return self.anchor(tree, after)
            case Sequence():
                for part in reversed(tree.parts):
                    after = self.build(part, after)
                return after
            case Choice():
                return _either([self.build(branch, after) for branch in tree.branches])
            case Look():
                found = self.build(tree.body, _ANYTHING)
                seen = [complement(way) if tree.negative else way for way in found]
                return _After(*(intersection(then, way) for then, way in zip(after, seen, strict=True)))
            case Repeat():
                return self.repeat(tree, after)
            case _:
                raise AssertionError(f"no assertion stands in {tree!r}")

    def plain(self, tree: Pattern) -> Regex:
        """The language of a tree without assertions."""
        self.budget.spend()
        match tree:
            case One():
                return chars(tree.chars)
            case Sequence():
                result = EPSILON
                for part in reversed(tree.parts):
                    result = concat(self.plain(part), result, self.budget)
                return result
            case Choice():
                return union(*map(self.plain, tree.branches))
            case Repeat():
                return loop(self.plain(tree.body), tree.low, tree.high)
            case _:
                raise AssertionError(f"an assertion stands in {tree!r}")

    def prepend(self, language: Regex, after: _After) -> _After:
        if after.uniform:
            whole = concat(language, after.start, self.budget)
            return _After(whole, whole, whole)
        if after.word is after.other:
            ahead = intersection(language, _SOMETHING) if language.nullable else language
            moved = concat(ahead, after.word, self.budget)
        else:
            to_word = concat(intersection(language, _WORD_LAST), after.word, self.budget)
            to_other = concat(intersection(language, _OTHER_LAST), after.other, self.budget)
            moved = union(to_word, to_other)
        if not language.nullable:
            return _After(moved, moved, moved)
        return _After(union(after.start, moved), union(after.word, moved), union(after.other, moved))

    def anchor(self, anchor: Anchor, after: _After) -> _After:
        match anchor:
            case Anchor.START:
                return _After(after.start, NONE, NONE)
            case Anchor.END:
                return _After(*(EPSILON if then.nullable else NONE for then in after))
            case Anchor.BOUNDARY | Anchor.NO_BOUNDARY:
                word, other = _NO_WORD_FIRST, _WORD_FIRST
                if anchor is Anchor.NO_BOUNDARY:
                    word, other = other, word
                return _After(
                    intersection(after.start, other), intersection(after.word, word), intersection(after.other, other)
                )

    def repeat(self, tree: Repeat, after: _After) -> _After:
        """A repetition with assertions inside: counts are written out, the endless part is tied in a knot."""
        if tree.high is None:
            after = self.star(tree.body, after)
        else:
            end = after
            for _ in range(tree.high - tree.low):
                after = _either([end, self.build(tree.body, after)])
        for _ in range(tree.low):
            after = self.build(tree.body, after)
        return after

    def star(self, body: Pattern, after: _After) -> _After:
        knots = [Knot(then) for then in after]
        if after.uniform and not _looks_back(body):
            knots = [knots[0]] * 3
        again = self.build(body, _After(*knots))
        for knot, then, more in zip(knots, after, again, strict=True):
            knot.tie(union(then, self.guarded(more, knot)))
        return _After(*knots)

    def guarded(self, regex: Regex, knot: Knot) -> Regex:
        """``regex`` without the ways into ``knot`` that take no character: a round that takes none is no round."""
        self.budget.spend()
        match regex:
            case Knot():
                return NONE if regex is knot else self.guarded(regex.definition, knot)
            case Union():
                return union(*(self.guarded(member, knot) for member in regex.members))
            case Inter():
                return intersection(*(self.guarded(member, knot) for member in regex.members))
            case Loop() if regex.high == 1:
                return loop(self.guarded(regex.body, knot), regex.low, 1)
            case Concat() if regex.head.nullable:
                taken = concat(intersection(regex.head, _SOMETHING), regex.tail, self.budget)
                return union(taken, self.guarded(regex.tail, knot))
            case _:
                return regex


def _either(ways: list[_After]) -> _After:
    if all(way.uniform for way in ways):
        whole = union(*(way.start for way in ways))
        return _After(whole, whole, whole)
    return _After(*(union(*by_context) for by_context in zip(*ways, strict=True)))


def _is_plain(tree: Pattern) -> bool:
    return not any(isinstance(part, Anchor | Look) for part in _walk(tree))


def _looks_back(tree: Pattern) -> bool:
    return any(isinstance(part, Anchor) and part is not Anchor.END for part in _walk(tree))


def _walk(tree: Pattern) -> Iterator[Pattern]:
    stack = [tree]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Sequence():
                stack.extend(part.parts)
            case Choice():
                stack.extend(part.branches)
            case Repeat() | Look():
                stack.append(part.body)
