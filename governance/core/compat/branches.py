"""A union's branches told apart: what a value that is meant for one of them looks like, and what may fit beside it."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from governance.core.compat.places import Places, Spot
from governance.core.schema.apart import constants_of, tags_of
from governance.core.schema.kinds import ALL_TYPES, OBJECT, Kind, Mode
from governance.core.schema.nodes import Node
from governance.core.schema.references import Scope


class Branches:
    """The branches of one union of the receiver's, and the sender's spots beside them.

    A branch's *head* is its type, the constants among its fields, and the fields that it requires as the sender did
    somewhere; ``true`` where it has none of them.
    """

    def __init__(self, places: Places, schemas: list[Any], scope: Scope, *, lifted: bool) -> None:
        self._forest = places.lowering.forest
        self.nodes = [places.lowering.lower(schema, scope, lifted=lifted) for schema in schemas]
        self.union = self._forest.disjunction(self.nodes)
        self._tags = tags_of(tuple(self.nodes)) if len(set(self.nodes)) == len(self.nodes) else None
        self._places = places
        self._schemas, self._scope = schemas, scope

    def heads(self, partners: Iterable[Spot]) -> list[Node]:
        """What tells each branch from the others; ``partners`` are the sender's spots at the place."""
        sent = {name for spot in partners for name in spot.schema.get("required", ())}
        return [self._head(schema, node, sent) for schema, node in zip(self._schemas, self.nodes, strict=True)]

    def beside(self, index: int, head: Node) -> list[Node]:
        """The other branches that a value with the head of this one may fit."""
        others = [node for other, node in enumerate(self.nodes) if other != index and node.can_hold & head.can_hold]
        if self._tags is None:
            return others
        constants = constants_of(head).get(self._tags.name)
        if constants is None:
            return others
        reached = set(self._tags.reached(constants))
        return [node for node in others if node in reached or node.can_hold & head.can_hold & ~OBJECT]

    def _head(self, schema: Any, node: Node, sent: Container[str]) -> Node:
        forest = self._forest
        if not isinstance(schema, dict):
            return forest.true
        parts: list[Node] = []
        if node.can_hold != ALL_TYPES:
            parts.append(forest.types(node.can_hold))
        for spot in self._places.in_place([Spot(schema, "", self._scope)]):
            if not spot.sure:
                continue
            # What lacks them was meant for another branch, and so is no loss of this one.
            parts.extend(
                forest.literal(Kind.REQUIRED, name) for name in spot.schema.get("required", ()) if name in sent
            )
            for name, child in spot.schema.get("properties", {}).items():
                if isinstance(child, dict) and ("const" in child or "enum" in child):
                    value = self._places.lowering.lower(child, spot.scope)
                    parts.append(forest.props([(name, value)], (), forest.true, Mode.SILENT))
                    parts.append(forest.literal(Kind.REQUIRED, name))
        return forest.conjunction(parts)


class Partners:
    """The sender's spots at one position, each with what it surely says of a value."""

    def __init__(self, places: Places, spots: list[Spot]) -> None:
        nodes = [places.lowering.lower(spot.schema, spot.scope) for spot in spots]
        self._spots = [(spot, node, constants_of(node)) for spot, node in zip(spots, nodes, strict=True)]

    def meant_for(self, head: Node) -> list[Spot]:
        """Those that a value with this head may fit, as far as it is plain to see."""
        wanted = constants_of(head)
        kept: list[Spot] = []
        under: str | None = None
        for spot, node, constants in self._spots:
            if under is not None and spot.pointer.startswith(under):
                continue
            shared = node.can_hold & head.can_hold
            apart = not shared & ~OBJECT and any(
                found.isdisjoint(constants[name]) for name, found in wanted.items() if name in constants
            )
            if apart or not shared:
                under = spot.pointer + "/"
            else:
                kept.append(spot)
        return kept
