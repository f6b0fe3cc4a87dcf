"""What a schema says beside its rules is compared field by field, through references."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.annotations import annotation_changes
from governance.core.compat.model import Finding, Side


def tool(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def changes(old: Any, new: Any, side: Side = Side.INPUT) -> list[Finding]:
    return annotation_changes(old, new, side)


def codes(old: Any, new: Any, side: Side = Side.INPUT) -> list[str]:
    return [finding.code for finding in changes(old, new, side)]


def test_a_moved_default_is_told_with_its_place_and_both_values() -> None:
    old = tool(page={"type": "object", "properties": {"size": {"default": 10}}})
    new = tool(page={"type": "object", "properties": {"size": {"default": 50}}})
    (finding,) = changes(old, new)
    assert finding.code == "input.default-moved"
    assert finding.old_pointer == finding.new_pointer == "/properties/page/properties/size"
    assert (finding.old, finding.new) == (10, 50)
    assert "`page.size`" in finding.message
    assert "10 → 50" in finding.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"default": None}, {"default": False}),
        ({"default": 1}, {"default": True}),
        ({"default": 0}, {"default": False}),
        ({"default": []}, {"default": {}}),
        ({"default": "1"}, {"default": 1}),
    ],
)
def test_defaults_are_compared_as_json_values(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert codes(tool(a=old), tool(a=new)) == ["input.default-moved"]


def test_equal_numbers_and_reordered_keys_are_the_same_default() -> None:
    assert codes(tool(a={"default": {"x": 1, "y": 2}}), tool(a={"default": {"y": 2.0, "x": 1.0}})) == []


def test_a_field_that_became_required_has_no_use_for_its_default() -> None:
    old = tool(a={"default": 1}, b={"default": 1})
    assert codes(old, tool(a={}, b={}) | {"required": ["a"]}) == ["input.default-dropped"]


def test_defaults_of_results_move_nobody() -> None:
    assert codes(tool(a={"default": 1}), tool(a={"default": 2}), Side.OUTPUT) == []


def test_moving_a_field_behind_a_reference_changes_nothing() -> None:
    plain = tool(a={"type": "string", "default": "x", "description": "One."})
    behind = tool(a={"$ref": "#/$defs/A"}) | {
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "string", "default": "x", "description": "One."}}
    }
    beside = tool(a={"$ref": "#/$defs/A", "default": "x", "description": "One."}) | {
        "$defs": {"A": {"type": "string", "default": "y"}}
    }
    for one in (plain, behind, beside):
        for other in (plain, behind, beside):
            assert codes(one, other) == []


def test_a_default_behind_a_shared_reference_is_told_once() -> None:
    def shared(default: int) -> dict[str, Any]:
        fields = {name: {"$ref": "#/$defs/N"} for name in "abcde"}
        return tool(**fields) | {"$defs": {"N": {"type": "integer", "default": default}}}

    assert codes(shared(1), shared(2)) == ["input.default-moved"]


def test_forty_reworded_fields_are_one_note_that_lists_where() -> None:
    old = tool(**{f"f{n}": {"description": f"Field {n}."} for n in range(40)})
    new = tool(**{f"f{n}": {"description": f"The field {n}."} for n in range(40)})
    (finding,) = changes(old, new)
    assert finding.code == "input.wording-changed"
    assert "and 39 more" in finding.message
    assert finding.evidence is not None
    assert finding.evidence.new["/properties/f0/description"] == "The field 0."
    assert len(finding.evidence.new) == 20


def test_a_field_may_itself_be_called_description_or_default() -> None:
    old = tool(description={"type": "string"}, default={"type": "string"}, title={"type": "string"})
    new = tool(description={"type": "string", "minLength": 1}, default={"type": "integer"}, title=True)
    assert codes(old, new) == []


def test_added_and_removed_fields_are_none_of_its_business() -> None:
    assert codes(tool(a={"default": 1, "description": "A."}), tool(b={"default": 2, "description": "B."})) == []


def test_a_dropped_sensitivity_is_told_on_both_sides() -> None:
    old, new = tool(token={"x-sensitive": True}), tool(token={})
    assert codes(old, new) == ["input.sensitivity-dropped"]
    assert codes(old, new, Side.OUTPUT) == ["output.sensitivity-dropped"]
    assert codes(new, old) == []


def test_rules_are_no_annotations() -> None:
    old = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "format": "uri"}}}
    new = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 3}}, "required": ["a"]}
    assert codes(old, new) == []


@pytest.mark.parametrize("schema", [True, False, {}, None, [], "x", {"properties": []}, {"$ref": 5}, {"required": {}}])
def test_whatever_stands_there_is_walked_without_falling_over(schema: Any) -> None:
    for other in (True, {}, None, {"properties": {"a": {"default": 1}}}):
        assert codes(schema, other) == []
        assert codes(other, schema) == []


def test_references_in_a_circle_end() -> None:
    for circle in (
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
        {"type": "object", "properties": {"child": {"$ref": "#"}}, "description": "old"},
        {"$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}}, "properties": {"t": {"$ref": "#/$defs/T"}}},
    ):
        assert codes(circle, {**circle, "title": "new"}) == ["input.wording-changed"]


@pytest.mark.timeout(60)
def test_a_hostile_schema_costs_bounded_time() -> None:
    deep: dict[str, Any] = {"default": 1}
    for _ in range(3_000):
        deep = {"properties": {"a": deep}}
    branching = {
        "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 8} for n in range(200)},
        "$ref": "#/$defs/d0",
    }
    wide = tool(**{f"f{n}": {"default": n, "description": str(n)} for n in range(30_000)})
    changes(deep, {**deep})
    changes(branching, {**branching, "title": "x"})
    changes(wide, tool(**{f"f{n}": {"default": n + 1} for n in range(30_000)}))
