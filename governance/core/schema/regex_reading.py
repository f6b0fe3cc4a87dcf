"""A parsed pattern, read into the language of the strings it is found in.

The tree is read from its end: every part is given the language of what may follow it, and answers with the
language from its own start on. So a look-ahead is an intersection with what follows, and what looks back (``^``,
``\\b``, a look-behind of one character) chooses among what follows by the character that came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Several
from typing import Final, TypeAlias

from governance.core.schema import charset
from governance.core.schema.budget import Budget
from governance.core.schema.charset import CharSet
from governance.core.schema.expressions import Chars, Concat, Inter, Knot, Loop, Regex, Union
from governance.core.schema.language import (
    ALL,
    EPSILON,
    NONE,
    SIGMA,
    chars,
    complement,
    concat,
    intersection,
    loop,
    union,
)
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

_COMPILE_STEPS: Final = 20_000
_MOST_BLOCKS: Final = 8
_WORD_FIRST: Final = concat(chars(charset.WORD), ALL)
_NO_WORD_FIRST: Final = complement(_WORD_FIRST)
_LOOKING_BACK: Final = (Anchor.START, Anchor.BOUNDARY, Anchor.NO_BOUNDARY)
_SOMETHING: Final = concat(SIGMA, ALL)

_After: TypeAlias = tuple[Regex, ...]
"""What may follow, by what came before: first if nothing did, then for each block of characters."""


def search(tree: Pattern) -> Regex:
    """The language of all strings in which the pattern finds a match somewhere.

    Raises:
        UnsupportedPattern: it looks back at too many kinds of characters.
        BudgetExceeded: it is too large.
    """
    reader = _Reader(_blocks(tree))
    return reader.from_anywhere(reader.read(tree, reader.anything))


def _blocks(tree: Pattern) -> tuple[CharSet, ...]:
    """The coarsest partition of the alphabet that all parts that look back agree with."""
    blocks = [charset.ANY]
    for part in _walk(tree):
        if isinstance(part, Behind):
            cut = part.chars
        elif part in (Anchor.BOUNDARY, Anchor.NO_BOUNDARY):
            cut = charset.WORD
        else:
            continue
        blocks = [piece for block in blocks for piece in block.split(cut) if piece]
        if len(blocks) > _MOST_BLOCKS:
            raise UnsupportedPattern("too-large", "the pattern looks back at too many kinds of characters")
    return tuple(blocks)


class _Reader:
    def __init__(self, blocks: tuple[CharSet, ...]) -> None:
        self.budget = Budget(_COMPILE_STEPS)
        self.blocks = blocks
        self.anything: _After = (ALL,) * (1 + len(blocks))

    def from_anywhere(self, after: _After) -> Regex:
        if _same(after):
            return concat(ALL, after[0])
        if _same(after[1:]):
            return union(after[0], concat(_SOMETHING, after[1]))
        ways = (concat(concat(ALL, chars(last)), then) for last, then in self.by_last(after))
        return union(after[0], *ways)

    def by_last(self, after: _After) -> Iterator[tuple[CharSet, Regex]]:
        """The languages that may follow, each with all characters that it may follow."""
        merged: dict[Regex, CharSet] = {}
        for block, then in zip(self.blocks, after[1:], strict=True):
            merged[then] = merged[then] | block if then in merged else block
        return ((last, then) for then, last in merged.items())

    def read(self, tree: Pattern, after: _After) -> _After:
        """The language from the start of ``tree`` on, given the one from its end on."""
        self.budget.spend()
        if isinstance(tree, One):
            return self.prepend(chars(tree.chars), after)
        if _is_plain(tree):
            return self.prepend(self.plain(tree), after)
        match tree:
            case Anchor.START:
                return (after[0], *([NONE] * len(self.blocks)))
            case Anchor.END:
                return tuple(EPSILON if then.nullable else NONE for then in after)
            case Anchor():
                return self.boundary(after, negative=tree is Anchor.NO_BOUNDARY)
            case Behind():
                held = (tree.at_start, *(not block - tree.chars for block in self.blocks))
                return tuple(then if hold != tree.negative else NONE for hold, then in zip(held, after, strict=True))
            case Look():
                found = self.read(tree.body, self.anything)
                seen = [complement(way) if tree.negative else way for way in found]
                return tuple(intersection(then, way) for then, way in zip(after, seen, strict=True))
            case Sequence():
                for part in reversed(tree.parts):
                    after = self.read(part, after)
                return after
            case Choice():
                return _either([self.read(branch, after) for branch in tree.branches])
            case Repeat():
                return self.repeat(tree, after)
            case _:
                raise AssertionError(f"no assertion stands in {tree!r}")

    def boundary(self, after: _After, *, negative: bool) -> _After:
        word_before = (False, *(not block - charset.WORD for block in self.blocks))
        return tuple(
            intersection(then, _NO_WORD_FIRST if word != negative else _WORD_FIRST)
            for word, then in zip(word_before, after, strict=True)
        )

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
        if _same(after):
            return (concat(language, after[0], self.budget),) * len(after)
        if _same(after[1:]):
            ahead = intersection(language, _SOMETHING) if language.nullable else language
            moved = concat(ahead, after[1], self.budget)
        else:
            ways = ((_ending(language, last), then) for last, then in self.by_last(after))
            moved = union(*(concat(way, then, self.budget) for way, then in ways))
        if not language.nullable:
            return (moved,) * len(after)
        return tuple(union(then, moved) for then in after)

    def repeat(self, tree: Repeat, after: _After) -> _After:
        """A repetition with assertions inside: counts are written out, the endless part is tied in a knot."""
        if tree.high is None:
            after = self.star(tree.body, after)
        else:
            end = after
            for _ in range(tree.high - tree.low):
                after = _either([end, self.read(tree.body, after)])
        for _ in range(tree.low):
            after = self.read(tree.body, after)
        return after

    def star(self, body: Pattern, after: _After) -> _After:
        knots = [Knot(then) for then in after]
        if _same(after) and not _looks_back(body):
            knots = [knots[0]] * len(after)
        again = self.read(body, tuple(knots))
        for knot, then, more in zip(knots, after, again, strict=True):
            knot.tie(union(then, self.guarded(more, knot)))
        return tuple(knots)

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


def _ending(language: Regex, last: CharSet) -> Regex:
    if isinstance(language, Chars):
        return chars(language.chars & last)
    return intersection(language, concat(ALL, chars(last)))


def _same(after: Several[Regex]) -> bool:
    return all(then is after[0] for then in after)


def _either(ways: list[_After]) -> _After:
    if all(map(_same, ways)):
        return (union(*(way[0] for way in ways)),) * len(ways[0])
    return tuple(union(*by_context) for by_context in zip(*ways, strict=True))


def _is_plain(tree: Pattern) -> bool:
    return not any(isinstance(part, Anchor | Look | Behind) for part in _walk(tree))


def _looks_back(tree: Pattern) -> bool:
    return any(isinstance(part, Behind) or part in _LOOKING_BACK for part in _walk(tree))


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
