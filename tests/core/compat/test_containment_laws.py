"""Containment obeys the laws of sets, over random schemas of every dialect, and no validator contradicts it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from asking import VALUES, contained, judge, second_judge, separating, valid
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import dialects, mixed_pairs, pairs, schemas

from governance.core.schema.dialects import DIALECTS, Dialect

DRAFT_7 = DIALECTS["http://json-schema.org/draft-07/schema"]
LATEST = DIALECTS["https://json-schema.org/draft/2020-12/schema"]


def inner(schema: Any) -> Any:
    """The schema as a part of another document of its dialect."""
    return {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema


def combined(dialect: Dialect, keyword: str, *parts: Any) -> dict[str, Any]:
    return {"$schema": dialect.uri, keyword: [inner(part) for part in parts]}


@given(dialects.flatmap(pairs) | mixed_pairs())
def test_no_validator_contradicts_an_answer(pair: tuple[Any, Any]) -> None:
    old, new = pair
    assume(valid(old, new))
    answer = separating(old, new)
    accepts, refuses = judge(old), judge(new)
    if answer.found:
        assert accepts.is_valid(answer.value)
        assert not refuses.is_valid(answer.value)
    elif answer.found is False:
        for value in VALUES:
            assert refuses.is_valid(value) or not accepts.is_valid(value), value


@given(dialects.flatmap(pairs))
def test_two_validators_confirm_every_witness(pair: tuple[Any, Any]) -> None:
    old, new = pair
    # The second one is known to misread unevaluated items beside contains and numbers in binary floating point.
    assume("unevaluated" not in json.dumps(pair) and "multipleOf" not in json.dumps(pair))
    assume(valid(old, new))
    answer = separating(old, new)
    if answer.found:
        try:
            verdicts = second_judge(old).is_valid(answer.value), second_judge(new).is_valid(answer.value)
        except RecursionError:  # it follows a reference that leads back to itself for ever
            assume(False)
            raise
        assert verdicts == (True, False)


@given(pairs(LATEST, references=False))
def test_the_second_opinion_never_disagrees(pair: tuple[Any, Any]) -> None:
    old, new = pair
    assume(valid(old, new))
    ours = contained(old, new)
    try:
        forms = [jsonschema_rs.canonicalize(schema, draft=jsonschema_rs.Draft202012) for schema in (new, old)]
        theirs = str(forms[0].covers(forms[1]))
    except Exception:  # it has classes of its own for what it does not know
        theirs = "unknown"
    assert (theirs, ours) not in {("yes", False), ("no", True)}


@given(dialects.flatmap(schemas))
def test_every_schema_is_contained_in_itself(schema: Any) -> None:
    assume(valid(schema))
    answer = separating(schema, json.loads(json.dumps(schema)))
    # A schema that refers to itself in place means nothing, so nothing can be said of it.
    assert answer.found is False or answer.reason in ("reference-loop", "unevaluated-width")


@given(st.data(), dialects)
def test_a_conjunction_lies_within_its_parts_and_they_within_their_union(data: st.DataObject, dialect: Dialect) -> None:
    one, other = data.draw(pairs(dialect, references=False))
    assume(valid(one, other) and one not in (True, False) and other not in (True, False))
    assert contained(combined(dialect, "allOf", one, other), one) is not False
    assert contained(one, combined(dialect, "anyOf", one, other)) is not False


@given(st.data(), dialects)
def test_containment_is_transitive(data: st.DataObject, dialect: Dialect) -> None:
    one, two = data.draw(pairs(dialect, references=False))
    three = data.draw(schemas(dialect, references=False))
    assume(valid(one, two, three) and all(isinstance(schema, dict) for schema in (one, two, three)))
    # Chains are rare by chance, so one is made: a part of a conjunction of a union.
    low, middle = combined(dialect, "allOf", one, two), one
    high = combined(dialect, "anyOf", middle, three)
    assert contained(low, high) is not False
    if contained(one, two) and contained(two, three):
        assert contained(one, three) is not False


@given(st.data(), dialects)
def test_a_double_negation_changes_nothing(data: st.DataObject, dialect: Dialect) -> None:
    schema = data.draw(schemas(dialect, references=False))
    assume(valid(schema) and isinstance(schema, dict))
    twice = {"$schema": dialect.uri, "not": {"not": inner(schema)}}
    assert contained(schema, twice) is not False
    assert contained(twice, schema) is not False


@given(dialects.flatmap(pairs))
def test_key_order_and_annotations_change_no_answer(pair: tuple[Any, Any]) -> None:
    old, new = pair
    assume(valid(old, new))
    expected = contained(old, new)
    if expected is not None:
        assert contained(_annotated(_reversed(old)), _reversed(new)) in (expected, None)


@given(dialects.flatmap(pairs))
def test_renaming_definitions_changes_no_answer(pair: tuple[Any, Any]) -> None:
    old, new = pair
    assume(valid(old, new))
    renamed = json.loads(json.dumps(old).replace('s/x"', 's/other"').replace('"x":', '"other":'))
    assert contained(old, new) is contained(renamed, new)
    assert contained(renamed, old) is not False
    assert contained(old, renamed) is not False


@given(schemas(LATEST), schemas(LATEST))
def test_inlining_a_reference_changes_nothing(target: Any, around: Any) -> None:
    assume(isinstance(target, dict) and isinstance(around, dict) and "$ref" not in json.dumps((target, around)))
    target, around = inner(target), inner(around)
    assume(valid(target, around))
    referring = {**around, "$defs": {"t": target}, "allOf": [{"$ref": "#/$defs/t"}, *around.get("allOf", [])]}
    inlined = {**around, "allOf": [target, *around.get("allOf", [])]}
    assert contained(referring, inlined) is not False
    assert contained(inlined, referring) is not False


@given(schemas(DRAFT_7, references=False))
def test_a_schema_of_draft_7_equals_its_translation(schema: Any) -> None:
    assume(valid(schema))
    translated = _translated(schema)
    if isinstance(translated, dict):
        translated["$schema"] = LATEST.uri
    assert valid(translated)
    assert contained(schema, translated) is not False
    assert contained(translated, schema) is not False


@given(pairs(DRAFT_7, references=False))
def test_two_drafts_are_compared_as_well_as_one(pair: tuple[Any, Any]) -> None:
    old, new = pair
    assume(valid(old, new) and isinstance(new, dict))
    expected = contained(old, new)
    if expected is not None:
        assert contained(old, {**_translated(new), "$schema": LATEST.uri}) in (expected, None)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_nothing_lies_within_everything_and_everything_not_within_nothing(dialect: Dialect) -> None:
    everything: dict[str, Any] = {"$schema": dialect.uri}
    nothing = {"$schema": dialect.uri, "not": {}}
    assert contained(nothing, everything) is True
    assert contained(everything, nothing) is False


def _reversed(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _reversed(node[key]) for key in reversed(node)}
    return [_reversed(item) for item in node] if isinstance(node, list) else node


def _annotated(schema: Any) -> Any:
    extra = {"title": "t", "description": "d", "default": 3, "x-owner": {"not": {}}}
    return {**schema, **extra} if isinstance(schema, dict) else schema


def _translated(schema: Any) -> Any:
    """A draft 7 schema without references in the words of 2020-12."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "items" and isinstance(value, list):
            result["prefixItems"] = [_translated(child) for child in value]
            if "additionalItems" in schema:
                result["items"] = _translated(schema["additionalItems"])
        elif keyword in ("additionalItems", "$schema"):
            continue
        elif keyword in ("properties", "patternProperties"):
            result[keyword] = {name: _translated(child) for name, child in value.items()}
        elif keyword == "dependencies":
            for name, target in value.items():
                place = "dependentRequired" if isinstance(target, list) else "dependentSchemas"
                result.setdefault(place, {})[name] = target if isinstance(target, list) else _translated(target)
        elif keyword in ("allOf", "anyOf", "oneOf"):
            result[keyword] = [_translated(child) for child in value]
        elif keyword in ("enum", "const", "required"):
            result[keyword] = value
        else:
            result[keyword] = _translated(value)
    return result
