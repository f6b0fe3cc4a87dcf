"""Is it plain, without a search, that branches of a union share no value?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from governance.core.schema.kinds import OBJECT, Kind

if TYPE_CHECKING:
    from governance.core.schema.nodes import Node


def surely_disjoint(branches: tuple[Node, ...]) -> bool:
    """Is it plain that no value fits two branches: by type, by constants, or by one required field's constants?"""
    held = 0
    constants: list[Node] = []
    objects: list[Node] = []
    for branch in branches:
        if branch.kind is Kind.ENUM:
            constants.append(branch)
        elif branch.can_hold == OBJECT:
            objects.append(branch)
        elif branch.can_hold & held:
            return False
        else:
            held |= branch.can_hold
    points = [key for branch in constants for key in branch.args[0]]
    if len(points) != len(set(points)) or any(type_mask & held for type_mask, _ in points):
        return False
    if not objects:
        return True
    tags = [constants_of(branch) for branch in objects]
    shared = set(tags[0]).intersection(*tags[1:])
    return not held & OBJECT and (len(objects) == 1 or any(_apart([tag[name] for tag in tags]) for name in shared))


class Tags(NamedTuple):
    """What tells a union's branches apart for objects: a field that each requires, and where its constants lead."""

    name: str
    branches: Mapping[Any, tuple[Node, ...]]

    def reached(self, constants: frozenset[Any]) -> tuple[Node, ...]:
        """The branches that an object may fit whose field, if it is there, is one of ``constants``."""
        found = {branch for key in constants for branch in self.branches.get(key, ())}
        return tuple(sorted(found, key=lambda branch: branch.id))


def tags_of(branches: tuple[Node, ...]) -> Tags | None:
    """The tags of a union, where every branch that may hold for an object has one; the most telling field's."""
    live = [branch for branch in branches if branch.can_hold & OBJECT]
    if len(live) < 2:
        return None
    told: list[dict[str, frozenset[Any]]] = []
    for branch in live:
        if not (tags := constants_of(branch)):
            return None
        told.append(tags)
    keys = {name: frozenset().union(*(tags[name] for tags in told)) for name in set(told[0]).intersection(*told[1:])}
    if not keys:
        return None
    name = max(sorted(keys), key=lambda shared: len(keys[shared]))
    led: dict[Any, list[Node]] = {}
    for branch, tags in zip(live, told, strict=True):
        for key in tags[name]:
            led.setdefault(key, []).append(branch)
    return Tags(name, {key: tuple(found) for key, found in led.items()})


def finite_set(node: Node) -> frozenset[Any] | None:
    """The scalar keys that a node admits, if it is plain that it admits no others."""
    if node.kind is Kind.ENUM:
        keys: frozenset[Any] = node.args[0]
        return keys
    if node.kind is Kind.AND:
        return next((part.args[0] for part in node.args if part.kind is Kind.ENUM), None)
    return None


def _apart(sets: list[frozenset[Any]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))


def constants_of(branch: Node) -> dict[str, frozenset[Any]]:
    """The required fields of an object branch whose values are a finite set."""
    parts = branch.args if branch.kind is Kind.AND else (branch,)
    required = {part.args[0] for part in parts if part.kind is Kind.REQUIRED}
    tags: dict[str, frozenset[Any]] = {}
    for part in parts:
        if part.kind is Kind.PROPS:
            for name, child in part.args[0]:
                if name in required and (found := finite_set(child)) is not None:
                    tags[name] = found
    return tags
