"""Derivatives: what may follow each character, for every kind of expression at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.charset import ANY, CharSet
from governance.core.schema.expressions import Chars, Concat, Inter, Knot, Loop, Moves, Not, Regex, Union
from governance.core.schema.language import ALL, EPSILON, NONE, complement, concat, intersection, loop, union

_STEPS_A_MOVE: Final = 16
_STEPS_A_WAY: Final = 4
_RANGES_A_STEP: Final = 8
_GENEROUS: Final = 5_000_000


def moves(regex: Regex, budget: Budget) -> Moves:
    """Disjoint character sets with the language of what may follow each, the most readable first.

    Characters in none of them lead nowhere. Remembered on the expression, and charged once to every budget as if
    it were not remembered: a question costs the same in a cold and in a warm process.
    """
    known = regex._moves
    if known is not None and regex in budget.charged:
        budget.spend()
        return known
    layers = [moves(part, budget) for part in _parts(regex)]
    if known is None:
        before = budget.remaining
        known = _grouped(_derive(regex, layers, budget))
        budget.spend(_STEPS_A_MOVE * (1 + len(known)))
        regex._cost = before - budget.remaining
        regex._moves = known
    else:
        budget.spend(regex._cost)
    budget.charged.add(regex)
    return known


def _parts(regex: Regex) -> Sequence[Regex]:
    """The expressions whose moves make up the moves of this one."""
    match regex:
        case Concat():
            parts: list[Regex] = []
            node: Regex = regex
            while isinstance(node, Concat):
                parts.append(node.head)
                if not node.head.nullable:
                    return parts
                node = node.tail
            return [*parts, node]
        case Loop():
            return (regex.body,)
        case Union() | Inter():
            return regex.members
        case Not():
            return (regex.inner,)
        case Knot():
            return (regex.definition,)
        case _:
            return ()


def _derive(regex: Regex, layers: Sequence[Moves], budget: Budget) -> Iterable[tuple[CharSet, Regex]]:
    match regex:
        case Chars():
            return ((regex.chars, EPSILON),)
        case Concat():
            return _derive_concat(regex, layers, budget)
        case Loop():
            high = None if regex.high is None else regex.high - 1
            rest = loop(regex.body, max(regex.low - 1, 0), high)
            return [(first, concat(then, rest, budget)) for first, then in layers[0]]
        case Union():
            return _united(_overlay(layers, budget), budget)
        case Inter():
            return [(first, intersection(*then)) for first, then in _common(layers, budget)]
        case Not():
            rest_of_all = ANY
            for first, _ in layers[0]:
                rest_of_all = rest_of_all - first
            return [*((first, complement(then)) for first, then in layers[0]), (rest_of_all, ALL)]
        case Knot():
            return layers[0]
        case _:
            return ()


def _derive_concat(regex: Concat, layers: Sequence[Moves], budget: Budget) -> Iterable[tuple[CharSet, Regex]]:
    whole: list[Sequence[tuple[CharSet, Regex]]] = []
    node: Regex = regex
    for layer in layers:
        if isinstance(node, Concat):
            tail = node.tail
            whole.append([(first, concat(then, tail, budget)) for first, then in layer])
            node = tail
        else:
            whole.append(layer)
    if len(whole) == 1:
        return whole[0]
    return _united(_overlay(whole, budget), budget)


def _united(blocks: Iterable[tuple[CharSet, list[Regex]]], budget: Budget) -> Iterable[tuple[CharSet, Regex]]:
    for first, ways in blocks:
        budget.spend(_STEPS_A_WAY * len(ways))
        yield first, union(*ways)


def _overlay(layers: Sequence[Iterable[tuple[CharSet, Regex]]], budget: Budget) -> list[tuple[CharSet, list[Regex]]]:
    """Each block of characters with the targets of every layer that moves on it."""
    blocks: list[tuple[CharSet, list[Regex]]] = [(first, [then]) for first, then in layers[0]]
    for layer in layers[1:]:
        for first, then in layer:
            budget.spend(len(blocks) * (2 + len(first.ranges) // _RANGES_A_STEP))
            left = first
            refined: list[tuple[CharSet, list[Regex]]] = []
            for block, targets in blocks:
                inside, outside = block.split(left) if left else (left, block)
                if outside:
                    refined.append((outside, targets))
                if inside:
                    refined.append((inside, [*targets, then]))
                    left = left - block
            if left:
                refined.append((left, [then]))
            blocks = refined
    return blocks


def _common(layers: Sequence[Iterable[tuple[CharSet, Regex]]], budget: Budget) -> list[tuple[CharSet, list[Regex]]]:
    """Each block of characters on which every layer moves, with the targets."""
    blocks: list[tuple[CharSet, list[Regex]]] = [(first, [then]) for first, then in layers[0]]
    for layer in layers[1:]:
        refined: list[tuple[CharSet, list[Regex]]] = []
        for block, targets in blocks:
            for first, then in layer:
                budget.spend(2 + len(first.ranges) // _RANGES_A_STEP)
                inside = block & first
                if inside:
                    refined.append((inside, [*targets, then]))
        blocks = refined
    return blocks


def _grouped(pairs: Iterable[tuple[CharSet, Regex]]) -> Moves:
    by_target: dict[Regex, CharSet] = {}
    for first, then in pairs:
        if first and then is not NONE:
            by_target[then] = by_target[then] | first if then in by_target else first
    return tuple(sorted(((first, then) for then, first in by_target.items()), key=lambda move: move[0].rank))


def derivative(regex: Regex, codepoint: int, budget: Budget | None = None) -> Regex:
    """The strings that may follow ``codepoint`` in a string of ``regex``."""
    for first, then in moves(regex, budget or Budget(_GENEROUS)):
        if codepoint in first:
            return then
    return NONE


def classes(regex: Regex, budget: Budget | None = None) -> tuple[CharSet, ...]:
    """A partition of the alphabet: all characters of a block have the same derivative."""
    blocks = [first for first, _ in moves(regex, budget or Budget(_GENEROUS))]
    rest = ANY
    for block in blocks:
        rest = rest - block
    return (*blocks, rest) if rest else tuple(blocks)


def matches(regex: Regex, text: str, budget: Budget | None = None) -> bool:
    """Is ``text`` in the language? A text with a lone surrogate is in none.

    Raises:
        BudgetExceeded: the expression grows too much on the way, or the caller stands too deep.
    """
    budget = budget or Budget(_GENEROUS)
    try:
        for character in text:
            regex = derivative(regex, ord(character), budget)
            if regex is NONE:
                return False
    except RecursionError:
        raise BudgetExceeded("the pattern nests too deep") from None
    return regex.nullable


def surely_within(left: Regex, right: Regex, fuel: int = 60) -> bool:
    """A proof by shape that ``left`` lies within ``right``; False says nothing."""
    return _within(left, right, [fuel])


def _within(left: Regex, right: Regex, fuel: list[int]) -> bool:
    fuel[0] -= 1
    if left is right or right is ALL or left is NONE:
        return True
    if fuel[0] < 0:
        return False
    match left, right:
        case (Not(), Not()):
            return _within(right.inner, left.inner, fuel)
        case (Union(), _):
            return all(_within(member, right, fuel) for member in left.members)
        case (_, Inter()):
            return all(_within(left, member, fuel) for member in right.members)
        case (Chars(), Chars()):
            return not left.chars - right.chars
        case (Loop(), Loop()):
            counts = right.low <= left.low and (right.high is None or (left.high or right.high + 1) <= right.high)
            return counts and _within(left.body, right.body, fuel)
        case (_, Loop()) if right.low <= 1 and _within(left, right.body, fuel):
            return True
        case (Concat(), Concat()) if _within(left.head, right.head, fuel) and _within(left.tail, right.tail, fuel):
            return True
        case (_, Union()):
            return any(_within(left, member, fuel) for member in right.members)
        case (Inter(), _):
            return any(_within(member, right, fuel) for member in left.members)
        case _:
            return left is EPSILON and right.nullable
