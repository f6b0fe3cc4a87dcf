"""Constant JSON values as nodes: scalars as finite sets, arrays and objects by their structure."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from governance.core.schema import kinds as n
from governance.core.schema.exact import NumberTooLarge, scalar_key, spelled
from governance.core.schema.kinds import Kind, Mode
from governance.core.schema.nodes import Forest, Node

_CONSTANTS_A_STEP: Final = 4
_STEPS_A_FRACTION: Final = 6


def one_of_values(forest: Forest, values: Iterable[Any]) -> Node:
    """The node that holds for exactly ``values``, under JSON equality."""
    scalars: list[tuple[int, Any]] = []
    branches: list[Node] = []
    for count, value in enumerate(values):
        if count % _CONSTANTS_A_STEP == 0:
            forest.budget.spend()
        if forest.is_full():
            # One of its own each time: what two long lists leave out is not the same.
            branches.append(forest.opaque("budget", len(forest.by_id)))
            break
        if type(value) is str:
            scalars.append((n.STRING, value))
        elif isinstance(value, dict):
            branches.append(_object(forest, value))
        elif isinstance(value, list | tuple):
            branches.append(_array(forest, value))
        else:
            if isinstance(value, float | Decimal):
                forest.budget.spend(_STEPS_A_FRACTION)
            try:
                scalars.append(scalar_key(value))
            except NumberTooLarge:
                branches.append(forest.opaque("number-too-large", spelled(value)))
    return forest.disjunction([forest.enum(scalars), *branches])


def none_of_values(forest: Forest, values: Iterable[Any]) -> Node:
    """The node that holds where none of the scalar ``values`` stands, at any depth."""
    members = tuple(values)
    key = ("none of", members)
    deeper = forest.ref(key)
    here = forest.negate(one_of_values(forest, members))
    node = forest.conjunction([here, forest.items((), deeper), forest.props((), (), deeper, Mode.SILENT)])
    forest.targets[key] = node
    return node


def _object(forest: Forest, value: dict[str, Any]) -> Node:
    names = [(name, one_of_values(forest, [child])) for name, child in value.items()]
    required = [forest.literal(Kind.REQUIRED, name) for name in value]
    props = forest.props(names, (), forest.false, Mode.SILENT)
    return forest.conjunction([forest.types(n.OBJECT), props, *required])


def _array(forest: Forest, value: Iterable[Any]) -> Node:
    prefix = tuple(one_of_values(forest, [child]) for child in value)
    minimum = [forest.literal(Kind.MINITEMS, len(prefix))] if prefix else []
    return forest.conjunction([forest.types(n.ARRAY), forest.items(prefix, forest.false), *minimum])
