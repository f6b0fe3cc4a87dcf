"""The walk for risks passes over what stayed as it was, and looks wherever something may have changed."""

from __future__ import annotations

from typing import Any

from hard_pairs import S, closed, needs, obj

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Side


def codes(old: Any, new: Any) -> list[tuple[str, str | None]]:
    found = check_schemas(old, new, side=Side.INPUT).findings
    return [(one.code, one.old_pointer or one.new_pointer) for one in found]


def test_a_field_is_the_same_only_if_its_reference_leads_to_the_same() -> None:
    def document(target: Any) -> Any:
        return {"$defs": {"t": target}, **obj(a=obj(b={"$ref": "#/$defs/t"}), c=S)}

    assert codes(document(obj(x=S, y=S)), document(obj(x=S))) == [("input.field-ignored", "/$defs/t/properties/y")]


def test_a_field_that_cannot_be_filled_closes_nothing() -> None:
    new = {**obj(a={"type": "integer", "enum": ["x"]}), **needs("a")}
    found = [code for code, _ in codes(obj(a=S, b=S), new)]
    assert found == ["input.became-required", "input.type-narrowed", "input.field-ignored"]


def test_an_object_is_closed_by_whatever_leaves_no_room() -> None:
    old = obj(a=S, b=S)
    for new in (closed(a=S, b=S), {**old, "propertyNames": {"enum": ["a", "b"]}}):
        assert "input.closed" in [code for code, _ in codes(old, new)], new
