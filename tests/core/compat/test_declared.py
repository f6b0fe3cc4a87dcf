"""Two schemas that hold the same values as written are equal only if they also tell a sender of the same names."""

from __future__ import annotations

from typing import Any

import pytest
from hard_pairs import S, obj

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Level, Side, Verdict


def branch(kind: str, **fields: Any) -> Any:
    return {**obj(kind={"const": kind}, **fields), "required": ["kind"]}


def union(*branches: Any) -> Any:
    return {"type": "object", "oneOf": list(branches)}


def level(old: Any, new: Any, side: Side) -> Level:
    comparison = check_schemas(old, new, side=side)
    assert comparison.verdict in (Verdict.COMPATIBLE, Verdict.RISKY)
    return comparison.level


CALLED: tuple[tuple[Any, Any], ...] = (
    (union(branch("a", text=True), branch("b", text=True)), union(branch("a"), branch("b", text=True))),
    (union(branch("a", text=True), branch("b", file=True)), union(branch("a", file=True), branch("b", text=True))),
    ({**obj(a=S), "patternProperties": {"^x-": True}}, obj(a=S)),
    (
        {"type": "object", "patternProperties": {"^x": obj(a=True, b=True)}},
        {"type": "object", "patternProperties": {"^x": obj(a=True)}},
    ),
    (obj(a={"type": "array", "contains": obj(a=True, b=True)}), obj(a={"type": "array", "contains": obj(a=True)})),
    (
        obj(a={"type": "array", "items": obj(a=True, b=True)}),
        obj(a={"type": "array", "items": obj(a=True, b=True), "prefixItems": [obj(a=True)]}),
    ),
    (
        {"type": "object", "unevaluatedProperties": obj(a=True, b=True)},
        {"type": "object", "unevaluatedProperties": obj(a=True)},
    ),
    (obj(a=obj()), obj(a={"type": "object"})),
    (
        {**obj(a=S), "dependentRequired": {"b": ["a"]}},
        {**obj(a=S), "dependentSchemas": {"b": {"properties": {"a": True}, "required": ["a"]}}},
    ),
)


@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
@pytest.mark.parametrize(("old", "new"), CALLED)
def test_a_name_that_is_told_no_more_makes_the_schemas_unequal(old: Any, new: Any, side: Side) -> None:
    assert level(old, new, side) is Level.INPUT_COMPATIBLE
    assert level(new, old, side) is Level.INPUT_COMPATIBLE


REWRITTEN: tuple[tuple[Any, Any], ...] = (
    (union(branch("a", text=S), branch("b")), union(branch("b"), branch("a", text=S))),
    (obj(a={"anyOf": [obj(x=S), {"type": "null"}]}), obj(a={"type": ["object", "null"], "properties": {"x": S}})),
    (obj(a=S, b=S), {"type": "object", "allOf": [{"properties": {"a": S}}, {"properties": {"b": S}}]}),
    (
        obj(a={"items": obj(x=S)}),
        {**obj(a={"$ref": "#/$defs/l"}), "$defs": {"l": {"items": {"$ref": "#/$defs/x"}}, "x": obj(x=S)}},
    ),
    (
        {"$defs": {"t": obj(v=S, kids={"items": {"$ref": "#/$defs/t"}})}, "$ref": "#/$defs/t"},
        obj(v=S, kids={"items": {"$ref": "#"}}),
    ),
    (obj(a={"enum": [1, 2]}), obj(a={"anyOf": [{"const": 2}, {"const": 1}]})),
)


@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
@pytest.mark.parametrize(("old", "new"), REWRITTEN)
def test_another_spelling_that_tells_the_same_stays_equal(old: Any, new: Any, side: Side) -> None:
    assert level(old, new, side) is Level.BACKWARD_COMPATIBLE
    assert level(new, old, side) is Level.BACKWARD_COMPATIBLE
