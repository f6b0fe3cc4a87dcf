"""Do two schemas tell a sender of the same names? Two that hold the same values as written may still differ in that.

A union's branch tells of its names only where it passes, so what one branch tells beyond its surroundings is compared
with the branch as a whole. Where it is not plain that both tell the same, the answer is no.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from governance.core.schema.budget import BudgetExceeded
from governance.core.schema.kinds import ARRAY, OBJECT, Kind, Mode
from governance.core.schema.nodes import Forest, Node

_STEPS_A_NODE: Final = 4

_Part = tuple[Node, Node | None]
"""What is said at a position, and the branch on which that depends; None: it always holds."""


class _Names(NamedTuple):
    """What is told at one position: names and patterns, whether the rest is described, whether it has structure."""

    names: frozenset[str]
    patterns: frozenset[str]
    rest: bool
    structured: bool

    def beyond(self, other: _Names) -> bool:
        """Is more told here than there?"""
        more = self.names - other.names or self.patterns - other.patterns
        return bool(more) or self.rest > other.rest or self.structured > other.structured


def tell_alike(forest: Forest, one: Node, other: Node) -> bool:
    """Is it plain that both tell a sender of the same names, at every position?"""
    try:
        return _Telling(forest).alike(frozenset({(one, None)}), frozenset({(other, None)}))
    except BudgetExceeded:
        return False


class _Telling:
    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self._seen: set[tuple[frozenset[_Part], frozenset[_Part]]] = set()

    def alike(self, one: frozenset[_Part], other: frozenset[_Part]) -> bool:
        stack = [(one, other)]
        while stack:
            pair = stack.pop()
            if pair[0] == pair[1] or pair in self._seen:
                continue
            self._seen.add(pair)
            for below in (self._objects, self._arrays):
                left, right = below(pair[0]), below(pair[1])
                if left[0] != right[0]:
                    return False
                nothing: frozenset[_Part] = frozenset()
                places = left[1].keys() | right[1].keys()
                stack.extend((left[1].get(at, nothing), right[1].get(at, nothing)) for at in places)
        return True

    def _objects(self, parts: frozenset[_Part]) -> tuple[object, dict[object, frozenset[_Part]]]:
        """What is told of an object's names, and what is said under each."""
        said = list(self._said(parts, OBJECT))
        sure = _joined(node for node, branch in said if branch is None)
        unsure = frozenset(branch for node, branch in said if branch is not None and _joined([node]).beyond(sure))
        props = [part for part in said if part[0].kind is Kind.PROPS]
        names = {name for node, _ in props for name, _ in node.args[0]}
        below: dict[object, set[_Part]] = {}
        for node, branch in props:
            named = dict(node.args[0])
            for name in names:
                below.setdefault(name, set()).add((named.get(name, node.args[2]), branch))
            for pattern, child in node.args[1]:
                below.setdefault((pattern,), set()).add((child, branch))
            below.setdefault(None, set()).add((node.args[2], branch))
        return (sure, unsure), {at: _telling(children) for at, children in below.items()}

    def _arrays(self, parts: frozenset[_Part]) -> tuple[object, dict[object, frozenset[_Part]]]:
        """What is told of the items that ``contains`` picks, and what is said of each position."""
        said = list(self._said(parts, ARRAY))
        picked = frozenset(part for part in said if part[0].kind is Kind.CONTAINS)
        lists = [part for part in said if part[0].kind is Kind.ITEMS]
        longest = max((len(node.args[0]) for node, _ in lists), default=0)
        self.forest.budget.spend(longest * len(lists))
        below: dict[object, frozenset[_Part]] = {}
        for position in range(longest + 1):
            children = [
                (node.args[0][position] if position < len(node.args[0]) else node.args[1], branch)
                for node, branch in lists
            ]
            below[position if position < longest else None] = _telling(children)
        return picked, below

    def _said(self, parts: Iterable[_Part], of: int) -> Iterator[_Part]:
        """The literals about one type of value that apply at a position, each with the branch it depends on."""
        stack, seen = list(parts), set[_Part]()
        while stack:
            part = stack.pop()
            node, branch = part
            if part in seen or not node.can_hold & of:
                continue
            seen.add(part)
            self.forest.budget.spend(_STEPS_A_NODE)
            if node.kind is Kind.REF:
                stack.append((self.forest.targets[node.args[0]], branch))
            elif node.kind is Kind.AND:
                stack.extend((child, branch) for child in node.args)
            elif node.kind in (Kind.OR, Kind.ONEOF):
                live = [child for child in _branches(node) if child.can_hold & of]
                alone = len(live) == 1
                stack.extend((child, branch if alone else branch or child) for child in live)
            elif node.tells & of:
                yield part


def _branches(node: Node) -> tuple[Node, ...]:
    branches: tuple[Node, ...] = node.args[0] if node.kind is Kind.ONEOF else node.args
    return branches


def _joined(nodes: Iterable[Node]) -> _Names:
    """What literals that hold together tell."""
    names: set[str] = set()
    patterns: set[str] = set()
    rest = structured = False
    for node in nodes:
        if node.kind is Kind.REQUIRED:
            names.add(node.args[0])
            continue
        names.update(name for name, _ in node.args[0])
        patterns.update(pattern for pattern, _ in node.args[1])
        rest = rest or bool(node.args[2].can_fail and node.args[2].can_hold)
        structured = structured or node.args[3] is Mode.STRUCTURES
    return _Names(frozenset(names), frozenset(patterns), rest, structured)


def _telling(parts: Iterable[_Part]) -> frozenset[_Part]:
    """Those that tell of any name, here or below."""
    return frozenset(part for part in parts if part[0].tells)
