"""The lowered form: hash-consed nodes over JSON values, with no dialect, no names and no annotations.

A *literal* speaks of one type and is true of every other: ``MINLENGTH 3`` holds for all numbers. Only TYPES,
ENUM and the connectives look at more than one. Equal nodes are one object within a :class:`Forest`, so "the
same thing asked and denied" is an identity test.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from governance.core.schema.apart import surely_disjoint
from governance.core.schema.budget import READING_STEPS, Budget
from governance.core.schema.kinds import ALL_TYPES, ARRAY, LITERAL_TYPES, OBJECT, Kind, Mode


class Node:
    """One node; compare by identity.

    ``can_hold`` and ``can_fail`` are masks of the types in which a value may satisfy, or violate, the node;
    both over-approximate. ``tells`` is a mask too: in objects a node may tell a sender of property names in
    place, in arrays of the names in items.
    """

    __slots__ = ("args", "can_fail", "can_hold", "id", "kind", "tells")

    def __init__(self, kind: Kind, args: tuple[Any, ...], number: int) -> None:
        self.kind = kind
        self.args = args
        self.id = number
        self.tells = 0
        self.can_hold = ALL_TYPES
        self.can_fail = ALL_TYPES

    def __repr__(self) -> str:
        inner = ", ".join(repr(arg) for arg in self.args)
        return f"{self.kind.name.lower()}({inner})" if inner else self.kind.name.lower()


MAX_NODES: Final = 20_000
_STEPS_A_NODE: Final = 3
_PARTS_A_STEP: Final = 4


class Forest:
    """All nodes of one question. Constructors simplify; nothing is ever mutated once made."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget(READING_STEPS)
        """What reading draws on: every constructor, and whoever lowers a document into this forest."""
        self._known: dict[tuple[Any, ...], Node] = {}
        self.by_id: list[Node] = []
        self.targets: dict[Any, Node] = {}
        """What each REF key stands for."""
        self.true = self._make(Kind.TRUE)
        self.true.can_fail = 0
        self.false = self._make(Kind.FALSE)
        self.false.can_hold = 0

    def _make(self, kind: Kind, *args: Any) -> Node:
        key = (kind, *args)
        node = self._known.get(key)
        if node is None:
            self.budget.spend(_STEPS_A_NODE)
            node = Node(kind, args, len(self.by_id))
            self._known[key] = node
            self.by_id.append(node)
            _measure(node)
        return node

    def is_full(self) -> bool:
        """Are there more nodes than one question is worth? Then whoever makes more calls the rest opaque."""
        return len(self.by_id) > MAX_NODES

    def literal(self, kind: Kind, *args: Any) -> Node:
        return self._make(kind, *args)

    def types(self, mask: int) -> Node:
        if mask == ALL_TYPES:
            return self.true
        return self._make(Kind.TYPES, mask) if mask else self.false

    def enum(self, keys: Iterable[tuple[int, Any]]) -> Node:
        members = frozenset(keys)
        return self._make(Kind.ENUM, members) if members else self.false

    def ref(self, key: Any) -> Node:
        return self._make(Kind.REF, key)

    def opaque(self, reason: str, identity: Any) -> Node:
        return self._make(Kind.OPAQUE, reason, identity)

    def items(self, prefix: tuple[Node, ...], rest: Node) -> Node:
        length = len(prefix)
        while length and prefix[length - 1] is rest:
            length -= 1
        prefix = prefix[:length]
        if not prefix and rest is self.true:
            return self.true
        return self._make(Kind.ITEMS, prefix, rest)

    def contains(self, node: Node, minimum: int, maximum: int | None) -> Node:
        # One that demands nothing may still tell a sender of names: it applies to the items that pass it.
        if minimum <= 0 and maximum is None and not node.tells:
            return self.true
        return self._make(Kind.CONTAINS, node, max(minimum, 0), maximum)

    def props(
        self, names: Iterable[tuple[str, Node]], patterns: Iterable[tuple[str, Node]], rest: Node, mode: Mode
    ) -> Node:
        sorted_names = tuple(sorted(names, key=lambda pair: pair[0]))
        sorted_patterns = tuple(sorted(patterns, key=lambda pair: (pair[0], pair[1].id)))
        free = rest is self.true and all(node is self.true for _, node in (*sorted_names, *sorted_patterns))
        if free and (mode is Mode.SILENT or (mode is Mode.DECLARES and not sorted_names and not sorted_patterns)):
            return self.true
        return self._make(Kind.PROPS, sorted_names, sorted_patterns, rest, mode)

    def lacking(self, name: str) -> Node:
        """No object with the property. Unlike a denied REQUIRED it tells a sender of no name, denied or not."""
        return self.props([(name, self.false)], (), self.true, Mode.SILENT)

    def negate(self, node: Node) -> Node:
        # What is denied twice holds again, but tells a sender of no name.
        if node.kind is Kind.NOT and not node.args[0].tells:
            inner: Node = node.args[0]
            return inner
        if node is self.true:
            return self.false
        if node is self.false:
            return self.true
        return self._make(Kind.NOT, node)

    def conjunction(self, nodes: Iterable[Node]) -> Node:
        parts = self._parts(nodes, Kind.AND, neutral=self.true)
        if self.false in parts:
            return self.false
        if any(part.kind is Kind.NOT and part.args[0] in parts for part in parts):
            return self.false
        return self._joined(Kind.AND, parts, self.true)

    def disjunction(self, nodes: Iterable[Node]) -> Node:
        parts = self._merged(self._parts(nodes, Kind.OR, neutral=self.false))
        # ``true or x`` is true, but a sender that took ``x`` was told of x's names: keep what declares.
        trivially = self.true in parts or any(p.kind is Kind.NOT and p.args[0] in parts for p in parts)
        if trivially and not any(part.tells for part in parts):
            return self.true
        return self._joined(Kind.OR, parts, self.false)

    def exactly_one(self, nodes: Iterable[Node]) -> Node:
        parts = tuple(node for node in nodes if node is not self.false)
        if not parts:
            return self.false
        if len(parts) == 1:
            return parts[0]
        # A union is the simpler question wherever no value can fit twice.
        self.budget.spend(len(parts))
        return self.disjunction(parts) if surely_disjoint(parts) else self._make(Kind.ONEOF, parts)

    def _merged(self, parts: dict[Node, None]) -> dict[Node, None]:
        """Finite sets joined into one, bare types likewise."""
        for kind in (Kind.ENUM, Kind.TYPES):
            alike = [part for part in parts if part.kind is kind]
            if len(alike) < 2:
                continue
            for part in alike:
                del parts[part]
            if kind is Kind.ENUM:
                parts[self.enum(key for part in alike for key in part.args[0])] = None
            else:
                mask = 0
                for part in alike:
                    mask |= part.args[0]
                parts[self.types(mask)] = None
        return parts

    def _parts(self, nodes: Iterable[Node], kind: Kind, *, neutral: Node) -> dict[Node, None]:
        parts: dict[Node, None] = {}
        for node in nodes:
            if node.kind is kind:
                parts.update(dict.fromkeys(node.args))
            elif node is not neutral:
                parts[node] = None
        self.budget.spend(1 + len(parts) // _PARTS_A_STEP)
        return parts

    def _joined(self, kind: Kind, parts: dict[Node, None], empty: Node) -> Node:
        if not parts:
            return empty
        if len(parts) == 1:
            return next(iter(parts))
        return self._make(kind, *sorted(parts, key=lambda node: node.id))


def _measure(node: Node) -> None:
    """Set the masks from the children, which are complete by now."""
    kind, args = node.kind, node.args
    if (literal_type := LITERAL_TYPES.get(kind)) is not None:
        node.can_fail = literal_type
        if kind is Kind.PROPS:
            names, patterns, rest, mode = args
            node.tells = OBJECT if mode > Mode.SILENT else 0
            if rest.can_fail == 0 and all(child.can_fail == 0 for _, child in (*names, *patterns)):
                node.can_fail = 0
        elif kind is Kind.REQUIRED:
            node.tells = OBJECT
        elif kind is Kind.ITEMS:
            node.tells = ARRAY if any(child.tells for child in (*args[0], args[1])) else 0
        elif kind is Kind.CONTAINS:
            node.tells = ARRAY if args[0].tells else 0
            if args[1] == 0 and args[2] is None:
                node.can_fail = 0
    elif kind is Kind.TYPES:
        node.can_hold, node.can_fail = args[0], ALL_TYPES & ~args[0]
    elif kind is Kind.ENUM:
        node.can_hold = 0
        for type_mask, _ in args[0]:
            node.can_hold |= type_mask
    elif kind is Kind.AND:
        node.can_hold, node.can_fail = ALL_TYPES, 0
        for child in args:
            node.can_hold &= child.can_hold
            node.can_fail |= child.can_fail
            node.tells |= child.tells
    elif kind is Kind.OR:
        node.can_hold, node.can_fail = 0, ALL_TYPES
        for child in args:
            node.can_hold |= child.can_hold
            node.can_fail &= child.can_fail
            node.tells |= child.tells
    elif kind is Kind.ONEOF:
        node.can_hold = 0
        for child in args[0]:
            node.can_hold |= child.can_hold
            node.tells |= child.tells
    elif kind is Kind.NOT:
        node.can_hold, node.can_fail = args[0].can_fail, args[0].can_hold
    elif kind is Kind.REF:
        node.tells = OBJECT | ARRAY
