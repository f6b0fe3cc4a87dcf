"""A field that is silently ignored, or a value that nothing constrains any more, is seen wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest
from hard_pairs import S, closed, obj

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import FindingLevel, Side

N = {"type": "integer"}
FULL, LESS = obj(a=S, b=S), obj(a=S)


def branch(kind: str, *, shut: bool = False, **fields: Any) -> Any:
    made = closed if shut else obj
    return {**made(kind={"const": kind}, **fields), "required": ["kind"]}


def union(*branches: Any) -> Any:
    return obj(x={"oneOf": list(branches)})


def risky(old: Any, new: Any, side: Side) -> list[tuple[str, str | None]]:
    findings = check_schemas(old, new, side=side).findings
    assert FindingLevel.BREAKING not in {one.level for one in findings}
    return [
        (one.code, one.old_pointer if one.new_pointer is None or "dropped" in one.code else one.new_pointer)
        for one in findings
        if one.level is FindingLevel.RISKY
    ]


@pytest.mark.parametrize(
    ("around", "pointer"),
    [
        (lambda part: {"type": "object", "patternProperties": {"^x": part}}, "/patternProperties/^x"),
        (lambda part: {"type": "object", "additionalProperties": part}, "/additionalProperties"),
        (lambda part: {"type": "object", "unevaluatedProperties": part}, "/unevaluatedProperties"),
        (lambda part: obj(l={"type": "array", "prefixItems": [S, part]}), "/properties/l/prefixItems/1"),
        (lambda part: obj(l={"type": "array", "items": part}), "/properties/l/items"),
    ],
)
def test_a_field_is_missed_at_every_kind_of_position(around: Any, pointer: str) -> None:
    old, new = around(FULL), around(LESS)
    assert risky(old, new, Side.INPUT) == [("input.field-ignored", f"{pointer}/properties/b")]
    assert risky(old, new, Side.OUTPUT) == [("output.field-dropped", f"{pointer}/properties/b")]
    dated = around(obj(a={"type": "string", "format": "date"}, b=S))
    assert risky(old, dated, Side.INPUT) == [("input.format-tightened", f"{pointer}/properties/a/format")]


def test_a_field_is_missed_at_a_place_of_a_tuple_that_was_a_list() -> None:
    old = obj(l={"type": "array", "items": FULL})
    new = obj(l={"type": "array", "items": FULL, "prefixItems": [LESS]})
    assert risky(old, new, Side.INPUT) == [("input.field-ignored", "/properties/l/items/properties/b")]


@pytest.mark.parametrize(
    ("old", "pointer"),
    [
        ({"type": "object", "additionalProperties": S}, "/properties/m/additionalProperties"),
        ({"type": "object", "unevaluatedProperties": S}, "/properties/m/unevaluatedProperties"),
        ({"type": "object", "patternProperties": {"^x": S}}, "/properties/m/patternProperties/^x"),
    ],
)
def test_a_map_whose_values_nothing_constrains_any_more_is_risky(old: Any, pointer: str) -> None:
    for free in ({"type": "object"}, {"type": "object", "additionalProperties": True}):
        comparison = check_schemas(obj(m=old), obj(m=free), side=Side.INPUT)
        assert [(one.code, one.old_pointer) for one in comparison.findings] == [("input.unconstrained", pointer)]


def test_a_map_that_is_described_otherwise_is_not_unconstrained() -> None:
    old = obj(m={"type": "object", "additionalProperties": S})
    for new in ({"type": "object", "patternProperties": {"": S}}, {"type": "object", "unevaluatedProperties": S}):
        assert risky(old, obj(m=new), Side.INPUT) == []


def test_a_field_that_only_another_branch_declares_still_is_missed() -> None:
    other, pointer = branch("b", text=S), "/properties/x/oneOf/0/properties/text"
    old, new = union(branch("a", text=S), other), union(branch("a"), other)
    assert risky(old, new, Side.INPUT) == [("input.field-ignored", pointer)]
    assert risky(old, new, Side.OUTPUT) == [("output.field-dropped", pointer)]
    assert risky(union(other, branch("a", text=S)), new, Side.INPUT)
    for side in Side.INPUT, Side.OUTPUT:
        assert risky(new, old, side) == []
        assert risky(old, union(other, branch("a", text=S)), side) == []


def test_a_required_field_of_one_branch_is_missed_too() -> None:
    other = branch("b", text=S)
    old = union({**branch("a", text=S), "required": ["kind", "text"]}, other)
    assert [code for code, _ in risky(old, union(branch("a"), other), Side.INPUT)] == ["input.field-ignored"]


def test_a_field_added_to_one_closed_branch_is_seen_by_strict_readers() -> None:
    other = branch("b", shut=True, text=S)
    old, new = union(branch("a", shut=True), other), union(branch("a", shut=True, text=S), other)
    assert risky(old, new, Side.OUTPUT) == [("output.field-added-to-closed", "/properties/x/oneOf/0/properties/text")]


def test_a_field_of_one_branch_that_is_refused_now_is_a_break_and_nothing_else() -> None:
    other = branch("b", shut=True, text=S)
    old, new = union(branch("a", shut=True, text=S), other), union(branch("a", shut=True), other)
    assert [one.code for one in check_schemas(old, new, side=Side.INPUT).findings] == ["input.field-removed"]


def test_a_name_that_a_pattern_describes_is_not_held_to_the_schema_for_the_rest() -> None:
    old = {"type": "object", "patternProperties": {"^x": S}, "additionalProperties": N}
    new = {**old, "properties": {"xa": N, "q": {"minimum": 3}}}
    breaks = [one for one in check_schemas(old, new, side=Side.INPUT).findings if one.witness is not None]
    assert [(one.code, one.old_pointer, one.new_pointer) for one in breaks] == [
        ("input.minimum-raised", "/additionalProperties", "/properties/q/minimum"),
        ("input.type-narrowed", "/patternProperties/^x/type", "/properties/xa/type"),
    ]
