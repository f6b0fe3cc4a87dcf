"""Derivatives: what may follow each character, for every kind of expression at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from governance.core.schema.budget import Budget
from governance.core.schema.charset import ANY, CharSet
from governance.core.schema.language import (
    ALL,
    EPSILON,
    NONE,
    Chars,
    Concat,
    Inter,
    Knot,
    Loop,
    Moves,
    Not,
    Regex,
    Union,
    complement,
    concat,
    intersection,
    loop,
    union,
)


def moves(regex: Regex, budget: Budget) -> Moves:
    """Disjoint character sets with the language of what may follow each, the most readable first.

    Characters in none of them lead nowhere. Remembered on the expression, and charged as if it were not.
    """
    known = regex._moves
    if known is not None:
        budget.spend(regex._cost)
        return known
    before = budget.remaining
    budget.spend()
    made = _grouped(_derive(regex, budget))
    regex._cost = before - budget.remaining
    regex._moves = made
    return made


def _derive(regex: Regex, budget: Budget) -> Iterable[tuple[CharSet, Regex]]:
    match regex:
        case Chars():
            return ((regex.chars, EPSILON),)
        case Concat():
            return _derive_concat(regex, budget)
        case Loop():
            high = None if regex.high is None else regex.high - 1
            rest = loop(regex.body, max(regex.low - 1, 0), high)
            return [(first, concat(then, rest, budget)) for first, then in moves(regex.body, budget)]
        case Union():
            blocks = _overlay([moves(member, budget) for member in regex.members], budget)
            return [(first, union(*then)) for first, then in blocks]
        case Inter():
            blocks = _common([moves(member, budget) for member in regex.members], budget)
            return [(first, intersection(*then)) for first, then in blocks]
        case Not():
            inner = moves(regex.inner, budget)
            rest_of_all = ANY
            for first, _ in inner:
                rest_of_all = rest_of_all - first
            return [*((first, complement(then)) for first, then in inner), (rest_of_all, ALL)]
        case Knot():
            return moves(regex.definition, budget)
        case _:
            return ()


def _derive_concat(regex: Concat, budget: Budget) -> Iterable[tuple[CharSet, Regex]]:
    layers: list[list[tuple[CharSet, Regex]]] = []
    node: Regex = regex
    while isinstance(node, Concat):
        tail = node.tail
        layers.append([(first, concat(then, tail, budget)) for first, then in moves(node.head, budget)])
        if not node.head.nullable:
            break
        node = tail
    else:
        layers.append(list(moves(node, budget)))
    if len(layers) == 1:
        return layers[0]
    return [(first, union(*then)) for first, then in _overlay(layers, budget)]


def _overlay(layers: Sequence[Iterable[tuple[CharSet, Regex]]], budget: Budget) -> list[tuple[CharSet, list[Regex]]]:
    """Each block of characters with the targets of every layer that moves on it."""
    blocks: list[tuple[CharSet, list[Regex]]] = [(first, [then]) for first, then in layers[0]]
    for layer in layers[1:]:
        for first, then in layer:
            budget.spend(len(blocks))
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
                budget.spend()
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
        BudgetExceeded: the expression grows too much on the way.
    """
    budget = budget or Budget(_GENEROUS)
    for character in text:
        regex = derivative(regex, ord(character), budget)
        if regex is NONE:
            return False
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


_GENEROUS = 5_000_000
