"""The literals of one object position, sorted by what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from governance.core.schema.answers import ASKED, DENIED, FORCED, ROOT, SENT
from governance.core.schema.kinds import Kind, Mode
from governance.core.schema.nodes import Node

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver


@dataclass
class ObjectShape:
    """The literals of one object position, sorted by what they say."""

    asked: list[tuple[Node, int]] = field(default_factory=list)
    denied: list[Node] = field(default_factory=list)
    required: dict[str, None] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    fewest: int = 0
    most: int | None = None
    names: list[int] = field(default_factory=list)
    denied_names: list[Node] = field(default_factory=list)
    closed: bool = False
    forced: bool = False
    told: set[str] = field(default_factory=set)
    """Names that ``required`` of the sender's own schemas mentions: they count as declared."""


def object_shape(solver: Solver, literals: list[int]) -> ObjectShape:
    shape = ObjectShape()
    for item in literals:
        if item < 0:
            shape.closed = shape.closed or item == ROOT
            shape.forced = shape.forced or item == FORCED
            continue
        node, sign = solver.forest.by_id[item >> 2], item & 3
        kind, args = node.kind, node.args
        if kind is Kind.PROPS:
            if sign == DENIED:
                shape.denied.append(node)
            else:
                shape.asked.append((node, sign))
                shape.closed = shape.closed or (sign == SENT and args[3] is Mode.STRUCTURES)
        elif kind is Kind.REQUIRED:
            if sign == DENIED:
                shape.absent.add(args[0])
            else:
                shape.required[args[0]] = None
                if sign == SENT:
                    shape.told.add(args[0])
        elif kind is Kind.NAMES:
            if sign == DENIED:
                shape.denied_names.append(args[0])
            else:
                shape.names.append(args[0].id * 4 + ASKED)
        elif (kind is Kind.MINPROPS) != (sign == DENIED):
            shape.fewest = max(shape.fewest, args[0] + (1 if kind is Kind.MAXPROPS else 0))
        else:
            bound = args[0] - (1 if kind is Kind.MINPROPS else 0)
            shape.most = bound if shape.most is None else min(shape.most, bound)
    return shape
