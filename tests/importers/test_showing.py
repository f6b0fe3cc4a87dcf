"""A client is shown all of a contract but what it refuses, and never less than the contract accepts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from governance.core.lint.clients import CLIENTS
from governance.importers.showing import shown_description, shown_name, shown_schema
from governance.importers.values import same

OPENAI, ANTHROPIC = CLIENTS["openai"], CLIENTS["anthropic"]

_NAMES = st.sampled_from(["a", "b", "c"])
_LEAVES = st.sampled_from(
    [
        {"type": "integer"},
        {"type": "string", "description": "A word."},
        {"const": True},
        {"type": "array"},
        {},
        True,
        {"$ref": "#"},
        {"$ref": "#/$defs/d"},
        {"$ref": "#/allOf/0"},
        {"$ref": "#/properties/a"},
    ]
)
_PLAIN = st.fixed_dictionaries(
    {},
    optional={
        "type": st.just("object"),
        "properties": st.dictionaries(_NAMES, _LEAVES, max_size=3),
        "required": st.lists(_NAMES, max_size=2, unique=True),
        "additionalProperties": st.sampled_from([False, True, {"type": "integer"}]),
        "unevaluatedProperties": st.just(False),
        "$ref": st.just("#/$defs/d"),
    },
)
_BRANCHES = st.recursive(
    _PLAIN,
    lambda inside: st.builds(
        lambda plain, keyword, ways: {**plain, keyword: ways},
        _PLAIN,
        st.sampled_from(["allOf", "anyOf", "oneOf"]),
        st.lists(inside, min_size=1, max_size=3),
    ),
    max_leaves=5,
)
_SCHEMAS = st.builds(
    lambda schema, other, never: {
        **schema,
        "type": "object",
        "$defs": {"d": {key: value for key, value in other.items() if key != "$ref"}},
        **never,
    },
    _BRANCHES,
    _PLAIN,
    st.sampled_from([{}, {"not": {"required": ["c"]}}, {"enum": [{"a": 1}, {}]}]),
)
_VALUES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["a", "b", "c", "z"]),
    st.sampled_from([1, True, "x", [], {}, {"a": 1}, None]),
    max_size=3,
)


@given(_SCHEMAS, st.lists(_VALUES, min_size=1, max_size=6), st.sampled_from([OPENAI, ANTHROPIC]))
def test_whatever_the_contract_accepts_the_shown_schema_accepts(
    schema: dict[str, Any], values: list[Any], client: Any
) -> None:
    before = json.dumps(schema)
    shown = shown_schema(schema, client).schema
    assert json.dumps(schema) == before
    assert client.root_keywords.isdisjoint(shown)
    assert shown["type"] == "object"
    try:
        contract = Draft202012Validator(schema)
    except ValueError:
        return  # a reference leads nowhere
    validator = Draft202012Validator(shown)
    for value in values:
        try:
            accepted = contract.is_valid(value)
        except ValueError:
            continue
        assert not accepted or validator.is_valid(value)


def test_what_the_client_takes_is_shown_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}}, "if": {}}
    assert shown_schema(schema, OPENAI).schema == schema
    assert shown_schema(schema, OPENAI).losses == ()


def test_fields_that_stand_in_the_branches_stay_known() -> None:
    word, number = {"type": "string"}, {"type": "integer", "description": "How many."}
    schema = {
        "type": "object",
        "allOf": [{"properties": {"a": word}, "required": ["a"]}],
        "oneOf": [{"properties": {"b": word, "c": number}}, {"properties": {"b": number}, "required": ["b"]}],
    }
    shown = shown_schema(schema, OPENAI)
    assert shown.schema == {
        "type": "object",
        "properties": {"a": word, "b": {"anyOf": [word, number]}, "c": {"description": "How many."}},
        "required": ["a"],
    }
    assert shown.losses == ("allOf at the root is not taken", "oneOf at the root is not taken")


def test_a_reference_at_the_root_is_followed_where_the_client_follows_none() -> None:
    schema = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#"}}}}}
    shown = shown_schema(schema, OPENAI).schema
    assert shown["properties"] == {"next": {"$ref": "#/$defs/contract"}}
    assert shown["$defs"]["contract"]["$ref"] == "#/$defs/contract/$defs/node"
    assert shown_schema(schema, ANTHROPIC).schema["$ref"] == "#/$defs/node"


def test_in_old_drafts_nothing_counts_beside_a_reference() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/x",
        "required": ["a"],
        "definitions": {"x": {"type": "object"}},
    }
    assert "required" not in shown_schema(schema, OPENAI).schema


def test_an_array_without_items_gets_items_that_say_nothing() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["array", "null"]}}}
    assert shown_schema(schema, OPENAI).schema["properties"]["a"] == {"type": ["array", "null"], "items": {}}
    assert shown_schema(schema, ANTHROPIC).schema == schema


def test_a_field_the_client_cannot_name_is_left_out_and_told() -> None:
    schema = {"type": "object", "properties": {"a b": {}, "c": {}}, "required": ["a b", "c"]}
    shown = shown_schema(schema, ANTHROPIC)
    assert shown.schema == {"type": "object", "properties": {"c": {}}, "required": ["c"]}
    assert shown.losses == ("the name of the field /properties/a b is not taken",)


@pytest.mark.parametrize("schema", [None, True, False, [], "x", {"properties": []}, {"allOf": {}, "oneOf": []}])
def test_what_is_no_schema_is_shown_as_an_object(schema: Any) -> None:
    assert shown_schema(schema, OPENAI).schema["type"] == "object"


def test_names_keep_to_the_characters_and_the_length_of_the_client() -> None:
    assert shown_name("get_user-2", OPENAI) == "get_user-2"
    assert shown_name("a.b c", OPENAI) == "a_b_c"
    long = shown_name("x" * 80, OPENAI)
    assert len(long) == 64
    assert long != shown_name("x" * 81, OPENAI)


def test_descriptions_are_cut_only_where_the_client_refuses_them() -> None:
    assert shown_description("x" * 1_024, OPENAI) == "x" * 1_024
    assert len(shown_description("x" * 5_000, OPENAI)) == 1_024
    assert shown_description("x" * 5_000, ANTHROPIC) == "x" * 5_000
    assert shown_description("x" * 5_000, replace(OPENAI, description_length=0)) == "x" * 5_000


def test_true_is_not_one() -> None:
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same({"const": True}, {"const": 1})


@pytest.mark.timeout(60)
def test_branches_that_multiply_are_cut_off() -> None:
    schema: dict[str, Any] = {"type": "object", "$ref": "#/$defs/n0", "$defs": {}}
    for level in range(60):
        schema["$defs"][f"n{level}"] = {"allOf": [{"$ref": f"#/$defs/n{level + 1}"}] * 2}
    schema["$defs"]["n60"] = {"allOf": [{"$ref": "#/$defs/n0"}], "properties": {"a": {}}}
    assert shown_schema(schema, OPENAI).schema["type"] == "object"


def test_where_references_depend_on_their_place_only_words_are_shown() -> None:
    inner = {"$id": "inner.json", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"const": 1}}}
    schema = {
        "type": "object",
        "properties": {"b": {"$ref": "inner.json", "description": "Some."}},
        "required": ["b"],
        "anyOf": [inner],
        "$defs": {"x": {"const": 2}},
    }
    assert shown_schema(schema, OPENAI).schema == {
        "type": "object",
        "properties": {"b": {"description": "Some."}, "a": {}},
        "required": ["b"],
    }


def test_a_field_told_a_hundred_times_is_told_once_with_each_of_its_schemas() -> None:
    schema = {"type": "object", "allOf": [{"properties": {"a": {"enum": [n, True]}}} for n in range(2_000)]}
    (field,) = shown_schema(schema, OPENAI).schema["properties"].values()
    assert len(field["allOf"]) == 2_000


@pytest.mark.timeout(60)
def test_great_schemas_in_many_branches_take_bounded_time() -> None:
    great = {"properties": {"a": {"enum": [str(n) for n in range(50_000)]}}}
    schema = {"type": "object", "oneOf": [{"$ref": "#/$defs/great"}] * 5_000, "$defs": {"great": great}}
    assert shown_schema(schema, OPENAI).schema["properties"]["a"] == great["properties"]["a"]
