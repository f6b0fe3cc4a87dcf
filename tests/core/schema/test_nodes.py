"""Different spellings of one set become one node, so that most questions answer themselves."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from governance.core.schema.exact import NumberTooLarge, exact, plain_number, scalar_key
from governance.core.schema.kinds import Kind
from governance.core.schema.lower import Lowering
from governance.core.schema.nodes import MAX_NODES, Forest

S, I, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}  # noqa: E741


def tagged(*names: str) -> list[dict[str, Any]]:
    return [{"type": "object", "properties": {"k": {"const": name}}, "required": ["k"]} for name in names]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"const": "x"}, {"enum": ["x"]}),
        ({"enum": [2, 1]}, {"enum": [1.0, 2]}),
        ({"enum": ["a", "b"]}, {"anyOf": [{"const": "b"}, {"const": "a"}]}),
        ({"enum": ["a", "b"]}, {"oneOf": [{"const": "a"}, {"const": "b"}]}),
        ({"type": ["string", "null"]}, {"anyOf": [NULL, S]}),
        ({"type": ["string", "null"]}, {"oneOf": [NULL, S]}),
        ({"allOf": [S, {"minLength": 2}]}, {"minLength": 2, "type": "string"}),
        ({"anyOf": tagged("a", "b")}, {"oneOf": tagged("b", "a")}),
        ({"anyOf": [S, *tagged("a", "b")]}, {"oneOf": [*tagged("a", "b"), S]}),
        ({"properties": {"a": S, "b": I}}, {"properties": {"b": I, "a": S}}),
        ({"$ref": "#/$defs/t", "$defs": {"t": S}}, S),
        ({"prefixItems": [S, S], "items": S}, {"items": S}),
        ({"not": {"not": S}}, S),
        ({"description": "d", "default": 1, **S}, S),
    ],
)
def test_two_spellings_are_one_node(one: Any, other: Any) -> None:
    forest = Forest()
    assert Lowering(forest, one).lower() is Lowering(forest, other).lower()


@pytest.mark.parametrize(
    "branches",
    [
        [S, {"minimum": 1}],
        [{"const": 1}, {"enum": [1, 2]}],
        [{"const": "a"}, S],
        [*tagged("a"), {"type": "object"}],
        [*tagged("a"), *tagged("a")],
    ],
)
def test_a_choice_stays_one_where_branches_may_overlap(branches: list[Any]) -> None:
    assert Lowering(Forest(), {"oneOf": branches}).lower().kind is Kind.ONEOF


def test_equality_is_that_of_json() -> None:
    assert scalar_key(1) == scalar_key(1.0) == scalar_key(Decimal("1.00"))
    assert len({scalar_key(value) for value in (0, False, "", None)}) == 4
    assert exact(0.1) == Fraction(1, 10)


@pytest.mark.parametrize("value", [10**6_100, Decimal("1e6000"), Decimal("1e-6000"), float("inf")], ids=range(4))
def test_a_number_that_would_fill_the_memory_is_refused(value: Any) -> None:
    with pytest.raises(NumberTooLarge):
        exact(value)


def test_a_number_comes_back_as_it_would_be_written() -> None:
    assert repr(plain_number(Fraction(3))) == "3"
    assert repr(plain_number(Fraction(1, 10))) == "0.1"
    assert plain_number(Fraction(10**25 + 1, 10**25)) == Decimal("1.0000000000000000000000001")
    with pytest.raises(ValueError, match="no finite decimal"):
        plain_number(Fraction(1, 3))


def test_a_forest_that_is_full_calls_the_rest_opaque() -> None:
    forest = Forest()
    node = Lowering(forest, {"enum": [{"a": number} for number in range(MAX_NODES)]}).lower()
    assert len(forest.by_id) < MAX_NODES * 1.1
    assert any(part.kind is Kind.OPAQUE for part in node.args)
