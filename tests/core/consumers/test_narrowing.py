"""A narrowed contract: no input more, no output less, and nothing forgotten of the fields that are used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, dialects, schemas, values

from governance.core.consumers import narrowed
from governance.core.contract import manifest_from_document
from governance.core.schema.dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from governance.core.skill import SkillManifest

ANY = manifest_from_document(
    {"name": "a.b", "version": "1.0.0", "description": "x", "input_schema": {"type": "object"}}, native=False
)


def skill(*, takes: Any = None, gives: Any = None) -> SkillManifest:
    return replace(ANY, input_schema=takes, output_schema=gives)


def accepts(schema: Any, value: Any, dialect: Dialect = DEFAULT_DIALECT) -> bool:
    return bool(dialect.validator(schema, offline=True).is_valid(value))


@given(data=st.data(), dialect=dialects, sent=st.sets(st.sampled_from(NAMES)))
def test_the_input_is_narrowed_to_exactly_the_calls_that_send_these_fields_alone(
    data: st.DataObject, dialect: Dialect, sent: set[str]
) -> None:
    whole = data.draw(schemas(dialect))
    mine = narrowed(skill(takes=whole), sends=[f"/{name}" for name in sorted(sent)], reads=None).input_schema
    for value in data.draw(
        st.lists(st.dictionaries(st.sampled_from(NAMES), values(depth=1), max_size=3), min_size=1, max_size=5)
    ):
        is_own = value.keys() <= sent
        if mine == whole:
            continue
        assert accepts(mine, value, dialect) == (is_own and accepts(whole, value, dialect))


@given(data=st.data(), dialect=dialects, read=st.sets(st.sampled_from(NAMES)))
def test_whoever_reads_less_is_content_with_more(data: st.DataObject, dialect: Dialect, read: set[str]) -> None:
    whole = data.draw(schemas(dialect))
    mine = narrowed(skill(gives=whole), sends=None, reads=[f"/{name}" for name in sorted(read)]).output_schema
    for value in data.draw(st.lists(values(), min_size=1, max_size=5)):
        if accepts(whole, value, dialect):
            assert accepts(mine, value, dialect)


@given(data=st.data(), dialect=dialects, read=st.sets(st.sampled_from(NAMES), min_size=1))
def test_what_is_read_of_an_answer_is_held_to_all_that_was_said_of_it(
    data: st.DataObject, dialect: Dialect, read: set[str]
) -> None:
    """An answer that the narrowed contract allows differs from an allowed one in fields that nobody reads."""
    inner = {name: data.draw(schemas(dialect, depth=0, plain=True, references=False)) for name in NAMES}
    for one in inner.values():
        if isinstance(one, dict):
            one.pop("$schema", None)
    required = sorted(data.draw(st.sets(st.sampled_from(NAMES))))
    whole = {"$schema": dialect.uri, "type": "object", "properties": inner}
    if required:
        whole["required"] = required
    mine = narrowed(skill(gives=whole), sends=None, reads=[f"/{name}" for name in sorted(read)]).output_schema
    value = data.draw(st.dictionaries(st.sampled_from(NAMES), values(depth=1), max_size=3))
    unread = [name for name in NAMES if name not in read]
    seen = {name: inner[name] for name in NAMES if name in read}
    by_hand = {"$schema": dialect.uri, "type": "object", "properties": seen}
    if kept := [name for name in required if name in read]:
        by_hand["required"] = kept
    without = {name: one for name, one in value.items() if name not in unread}
    assert accepts(mine, without, dialect) == accepts(by_hand, without, dialect)


TREE = {
    "type": "object",
    "properties": {
        "user": {"$ref": "#/$defs/user"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "note": {"anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}]},
    },
    "required": ["user", "items"],
    "$defs": {
        "user": {"type": "object", "properties": {"id": {"type": "string"}, "age": {"type": "integer"}},
                 "required": ["id", "age"]},
        "item": {"type": "object", "properties": {"sku": {"type": "string"}, "price": {"type": "number"}},
                 "required": ["sku", "price"]},
    },
}  # fmt: skip

GOOD = {"user": {"id": "x", "age": 1}, "items": [{"sku": "s", "price": 1}], "note": None}


@pytest.mark.parametrize(
    ("reads", "allowed", "refused"),
    [
        (["/user/id"], {"user": {"id": "x"}}, {"user": {"age": 1}}),
        (["/user/id"], {"user": {"id": "x", "age": "old"}, "items": 7}, {"items": []}),
        (["/items/*/sku"], {"items": [{"sku": "s"}]}, {"items": [{"price": 1}]}),
        (["/note/id"], {"note": None}, {"note": {"age": 1}}),
        (["/note/id"], {"note": {"id": "x"}}, {"note": "text"}),
        (["/user"], {"user": {"id": "x", "age": 1}}, {"user": {"id": "x"}}),
        ([], {}, "text"),
    ],
)
def test_a_read_field_is_followed_through_references_items_and_choices(
    reads: list[str], allowed: Any, refused: Any
) -> None:
    mine = narrowed(skill(gives=TREE), sends=None, reads=reads).output_schema
    assert accepts(mine, GOOD)
    assert accepts(mine, allowed)
    assert not accepts(mine, refused)


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["a"]}]},
        {"properties": {"a": {}}, "dependentRequired": {"b": ["a"]}},
        {"properties": {"a": {}}, "patternProperties": {"^a": {"type": "string"}}},
        {"properties": {"b": {}}, "additionalProperties": {"type": "string"}},
        {"if": {"required": ["b"]}, "then": {"required": ["a"]}},
        {"oneOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["b"]}]},
        {"not": {"required": ["a"]}},
        {"enum": [{"a": 1}]},
        {"$ref": "other.json"},
    ],
)
def test_where_fields_hang_together_the_whole_stays(schema: Any) -> None:
    assert narrowed(skill(gives=schema), sends=None, reads=["/a"]).output_schema == schema


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda one: one.name)
def test_a_schema_that_refers_to_its_own_root_is_not_restricted(dialect: Dialect) -> None:
    schema = {"$schema": dialect.uri, "type": "object", "properties": {"a": {"$ref": "#"}, "b": {}}}
    assert narrowed(skill(takes=schema), sends=["/a"], reads=None).input_schema == schema


def test_a_restriction_declares_nothing_that_was_not_declared() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": False}
    mine = narrowed(skill(takes=schema), sends=["/a", "/zz"], reads=None).input_schema
    assert accepts(mine, {"a": 1})
    assert not accepts(mine, {"zz": 1})


def test_fields_below_fields_are_restricted_at_their_place() -> None:
    mine = narrowed(skill(takes=TREE), sends=["/user/id", "/user/age", "/items/*"], reads=None).input_schema
    assert accepts(mine, {key: GOOD[key] for key in ("user", "items")})
    assert not accepts(mine, GOOD)
    assert not accepts(mine, {"user": {"id": "x", "age": 1, "more": 1}, "items": []})
