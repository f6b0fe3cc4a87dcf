"""What is no schema is told with its place, in bounded time, before anything is asked of it."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Side, Verdict
from governance.core.schema.load import MAX_DEPTH, MAX_NODES, accepts_only_objects, schema_faults

DRAFT_4, DRAFT_6, DRAFT_7 = (f"http://json-schema.org/draft-0{draft}/schema#" for draft in (4, 6, 7))
LATEST = "https://json-schema.org/draft/2020-12/schema"


def nested(depth: int) -> Any:
    schema: Any = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        (3, "schema-type", ""),
        (None, "schema-type", ""),
        ({"$schema": "https://example.com/mine"}, "schema-dialect", "/$schema"),
        ({"$schema": 4}, "schema-dialect", "/$schema"),
        ({"type": "strng"}, "schema-metaschema", "/type"),
        ({"properties": {"a/b": {"minimum": "1"}}}, "schema-metaschema", "/properties/a~1b/minimum"),
        ({"required": ["a", "a"]}, "schema-metaschema", "/required"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "schema-reference", "/properties/a/$ref"),
        ({"$ref": "https://example.com/elsewhere"}, "schema-reference", "/$ref"),
        ({"$ref": "#/x-shared", "x-shared": {"type": 3}}, "schema-metaschema", "/x-shared/type"),
        ({"properties": {"a": {"$ref": "#/default"}}, "default": {"enum": 3}}, "schema-metaschema", "/default/enum"),
        ({"$ref": "#/x-a", "x-a": {"items": {"$ref": "#/x-b"}}, "x-b": {"not": 3}}, "schema-metaschema", "/x-b/not"),
        ({"$ref": "#/x-shared", "x-shared": {"items": {"pattern": "("}}}, "schema-pattern", "/x-shared/items/pattern"),
        ({"$schema": DRAFT_7, "$ref": "#/$defs/t", "$defs": {"t": {"type": 3}}}, "schema-metaschema", "/$defs/t/type"),
        ({"$schema": DRAFT_6, "not": {"$ref": "#/else"}, "else": {"type": 3}}, "schema-metaschema", "/else/type"),
        ({"$schema": DRAFT_4, "items": {"$schema": LATEST, "contains": 3}}, "schema-metaschema", "/items/contains"),
        ({"items": {"pattern": "("}}, "schema-pattern", "/items/pattern"),
        ({"patternProperties": {"(": {}}}, "schema-pattern", "/patternProperties/("),
        ({"properties": {"\ud83d": {}}}, "schema-text", ""),
        ({"enum": list(range(MAX_NODES + 1))}, "schema-size", ""),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_fault_is_told_with_its_place(schema: Any, code: str, pointer: str) -> None:
    faults = schema_faults(schema)
    assert [(fault.code, fault.pointer) for fault in faults] == [(code, pointer)]
    assert faults[0].message


def test_a_schema_may_nest_as_deep_as_the_validator_follows() -> None:
    assert schema_faults(nested(MAX_DEPTH)) == []
    (fault,) = schema_faults(nested(MAX_DEPTH + 1))
    assert fault.code == "schema-depth"
    assert fault.pointer == "/not" * MAX_DEPTH
    assert schema_faults(nested(100_000))[0].code == "schema-depth"


@pytest.mark.parametrize(
    "unknown",
    [
        {"$schema": DRAFT_6, "if": 3, "then": {"type": 3}, "else": {"required": 3}},
        {"$schema": DRAFT_4, "contains": {"type": 3}, "propertyNames": 3, "const": 3, "if": True},
        {"$schema": DRAFT_7, "dependentSchemas": {"a": 3}, "$defs": {"t": {"type": 3}}, "$dynamicRef": "#/nothing"},
        {"$schema": DRAFT_7, "prefixItems": 3, "unevaluatedProperties": 3, "minContains": "a", "$recursiveRef": 3},
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_keyword_that_a_dialect_does_not_know_may_hold_anything(unknown: dict[str, Any]) -> None:
    assert schema_faults(unknown) == []
    object_ = {"type": "object", "properties": {"a": {"type": "string"}}}
    for side in Side:
        if side is not Side.CONTRACT:
            assert check_schemas(unknown | object_, object_, side=side).verdict is not Verdict.INVALID
            assert check_schemas(object_, unknown | object_, side=side).verdict is not Verdict.INVALID


def test_draft_4_has_no_boolean_schemas() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": True}}
    assert schema_faults(schema)[0].code == "schema-metaschema"


def test_every_fault_of_a_document_is_told() -> None:
    schema = {"properties": {"a": {"$ref": "#/none"}, "b": {"pattern": "["}, "c": {"$ref": "#/nothing"}}}
    assert len(schema_faults(schema)) == 3


@pytest.mark.parametrize(
    ("schema", "proved"),
    [
        ({"type": "object"}, True),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"type": "object"}}}, True),
        ({"allOf": [{"type": ["object", "string"]}, {"type": ["object", "null"]}]}, True),
        ({"anyOf": [{"type": "object"}, {"const": {}}]}, True),
        ({"anyOf": [{"type": "object"}, {"type": "string", "maxLength": 0, "minLength": 1}]}, True),
        ({"properties": {"a": {}}}, False),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, False),
        (True, False),
        (False, True),
        ({"not": {"type": ["array", "string", "number", "boolean", "null"]}}, True),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_whether_only_objects_pass_is_proved(schema: Any, proved: bool) -> None:
    assert accepts_only_objects(schema) is proved
