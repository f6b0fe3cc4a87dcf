"""A manifest is one checked value: every fault found and located, two digests, no alias to the caller's JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.compat.model import Level
from governance.core.contract import (
    OUTSIDE_CONTRACT,
    UNVERSIONED,
    Category,
    SideEffects,
    SkillManifest,
    manifest_from_document,
)
from governance.core.document import json_document
from governance.errors import Fault, InvalidContract


def document(**changes: Any) -> dict[str, Any]:
    """A full native manifest with ``changes``; None takes a field away."""
    whole = {
        "name": "knowledge.extract",
        "version": "1.4.0",
        "compatibility": "backward_compatible",
        "title": "Extract",
        "description": "Extracts knowledge nodes from a text the user gave.",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "output_schema": {"type": "object", "properties": {"nodes": {"type": "array"}}},
        "business_rules": [{"id": "BR-1", "text": "A node has a title.", "pattern": "^.+$"}],
        "errors": [{"code": "TOO_LONG", "meaning": "The text is too long.", "retryable": True}],
        "timeout_sec": 2.5,
        "category": "tool",
        "tags": ["text", "beta"],
        "owner": "team-knowledge",
        "side_effects": "write",
        "effect_scope": "the node store",
        "rollback": "delete the nodes",
        "idempotent": False,
        "required_permissions": ["nodes:write", "nodes:read"],
        "allowed_tools": ["search"],
        "runtime_requirements": {"network": ["nodes:443"], "environment": ["NODE_KEY"], "disk_mb": 10},
        "requires_approval": True,
        "dangerous": True,
        "slo": {"success_ratio": 0.99, "latency_sec": 1.5},
        "entrypoint": "skills.knowledge:extract",
        "examples": [{"text": "a"}, {"input": {"text": ""}, "output": None, "error": "TOO_LONG", "when": "empty"}],
        "fallback": [{"skill": "knowledge.simple@^1"}, {"cached_max_age_sec": 60}, {"static": None}],
        "deprecated_since": "1.3.0",
        "sunset": "2027-05-31",
        "replacement": "knowledge.mine@^2",
        "migration_guide": "https://example.com/guide",
        "status": "deprecated",
    } | changes
    return {name: value for name, value in whole.items() if value is not None}


# Judging a schema raises Python's recursion limit for good: once here, before hypothesis watches it.
FULL = manifest_from_document(document())


def faults(value: Any, *, native: bool = True) -> dict[str, str]:
    with pytest.raises(InvalidContract) as caught:
        manifest_from_document(value, native=native)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def attempt(value: Any) -> SkillManifest | InvalidContract:
    try:
        return manifest_from_document(value)
    except InvalidContract as error:
        return error


def test_a_full_manifest_reads_and_writes_back_to_itself() -> None:
    manifest = FULL
    assert manifest.compatibility is Level.BACKWARD_COMPATIBLE
    assert manifest.side_effects is SideEffects.WRITE
    assert manifest.tags == ("beta", "text")
    assert manifest.examples[1].has_output
    assert manifest.namespace == "knowledge"
    again = manifest_from_document(manifest.to_document())
    assert again == manifest
    assert (again.contract_digest, again.manifest_digest) == (manifest.contract_digest, manifest.manifest_digest)


def test_defaults_stay_out_of_the_document() -> None:
    small = {
        "name": "a",
        "version": "1.0.0",
        "compatibility": "input_compatible",
        "description": "Says hello to whoever asks.",
        "input_schema": {"type": "object"},
        "output_schema": True,
        "timeout_sec": 30,
    }
    assert manifest_from_document(small).to_document() == small


@pytest.mark.parametrize(
    "field", ["name", "version", "compatibility", "description", "input_schema", "output_schema", "timeout_sec"]
)
def test_a_native_manifest_must_give_the_seven_fields(field: str) -> None:
    assert set(faults(document(**{field: None}))) == {f"/{field}"}


def test_a_field_listed_as_defaulted_need_not_be_given() -> None:
    manifest = manifest_from_document(
        document(compatibility=None, timeout_sec=None, defaulted=["timeout_sec", "compatibility"])
    )
    assert manifest.compatibility is None
    assert manifest.defaulted == {"timeout_sec", "compatibility"}
    assert "timeout_sec" not in manifest.to_document()


def test_an_import_needs_a_name_and_an_input_schema_only() -> None:
    manifest = manifest_from_document({"name": "a", "input_schema": {"type": "object"}}, native=False)
    assert manifest.version == UNVERSIONED
    assert "version" not in manifest.to_document()
    assert set(faults({}, native=False)) == {"/name", "/input_schema"}


def test_a_knowledge_skill_needs_no_schemas() -> None:
    manifest = manifest_from_document(
        document(category="knowledge", input_schema=None, output_schema=None, examples=None)
    )
    assert manifest.category is Category.KNOWLEDGE
    assert manifest.input_schema is None


@pytest.mark.parametrize(
    ("changes", "pointer", "says"),
    [
        ({"name": "Knowledge Extract"}, "/name", '"knowledge_extract" would do'),
        ({"name": 3}, "/name", "text"),
        ({"name": "a" * 129}, "/name", "129 characters"),
        ({"name": "a\x00"}, "/name", "not a skill name"),
        ({"version": "v1.0.0"}, "/version", "starts with 'v'"),
        ({"version": 1.1}, "/version", "put it in quotes"),
        ({"compatibility": "undecided"}, "/compatibility", "nobody can declare undecided"),
        ({"compatibility": "backwards_compatible"}, "/compatibility", 'did you mean "backward_compatible"'),
        ({"description": "  "}, "/description", "empty"),
        ({"description": "a\x00b"}, "/description", "NUL"),
        ({"description": "x" * 100_001}, "/description", "100,001"),
        ({"timeout_sec": 0}, "/timeout_sec", "more than 0"),
        ({"timeout_sec": True}, "/timeout_sec", "number"),
        ({"timeout_sec": "30"}, "/timeout_sec", "number"),
        ({"category": "tol"}, "/category", 'did you mean "tool"'),
        ({"tags": "text"}, "/tags", "list"),
        ({"tags": ["ok", 3]}, "/tags/1", "string"),
        ({"owner": " spaced "}, "/owner", "owner"),
        ({"idempotent": "yes"}, "/idempotent", "true or false"),
        ({"runtime_requirements": {"environment": ["1X"]}}, "/runtime_requirements/environment/0", "variable"),
        ({"runtime_requirements": {"disk_mb": -1}}, "/runtime_requirements/disk_mb", "0 MB"),
        ({"runtime_requirements": {"disk": 1}}, "/runtime_requirements/disk", "disk_mb"),
        ({"slo": {"success_ratio": 99}}, "/slo/success_ratio", "at most 1"),
        ({"entrypoint": "os.system"}, "/entrypoint", "module.submodule:function"),
        ({"business_rules": [{"id": "a"}]}, "/business_rules/0/text", "missing"),
        ({"business_rules": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "/business_rules/1", "twice"),
        ({"errors": [{"code": "A", "meaning": "x", "retry": True}]}, "/errors/0/retry", "retryable"),
        ({"errors": [3]}, "/errors/0", "an object is expected"),
        ({"fallback": [{}]}, "/fallback/0", "exactly one"),
        ({"fallback": [{"skill": "a@^1", "static": 1}]}, "/fallback/0", "exactly one"),
        ({"fallback": [{"skill": "a"}]}, "/fallback/0/skill", "name@range"),
        ({"fallback": [{"skill": "a@^^1"}]}, "/fallback/0/skill", "range"),
        ({"replacement": "somewhere"}, "/replacement", "name@range"),
        ({"sunset": "2027-02-30"}, "/sunset", "date"),
        ({"sunset": "20270301"}, "/sunset", "date"),
        ({"migration_guide": "javascript:alert(1)"}, "/migration_guide", "URL"),
        ({"deprecated_since": "1.0"}, "/deprecated_since", "2 of the three"),
        ({"status": "live"}, "/status", "none of"),
        ({"extensions": []}, "/extensions", "object"),
        ({"timeoutsec": 3}, "/timeoutsec", 'did you mean "timeout_sec"'),
        ({"in/put": 3}, "/in~1put", "nobody knows"),
    ],
)  # fmt: skip
def test_each_field_has_its_rule(changes: dict[str, Any], pointer: str, says: str) -> None:
    found = faults(document(**changes))
    assert set(found) == {pointer}
    assert says in found[pointer]


def test_no_successor_is_an_answer() -> None:
    assert manifest_from_document(document(replacement="none")).replacement == "none"


@pytest.mark.parametrize("value", [None, [], "text", 3, True])
def test_what_is_no_object_is_no_contract(value: Any) -> None:
    assert set(faults(value)) == {""}


def test_every_fault_is_told_at_once_with_its_place() -> None:
    text = '{\n "name": "A",\n "version": "1",\n "nmae": 1,\n "input_schema": {"type": "object", "maximum": 1e400}\n}'
    source = json_document(text, file="skill.json")
    with pytest.raises(InvalidContract) as caught:
        manifest_from_document(source.value, locate=source.locate)
    lines = {fault.pointer: fault.place.line for fault in caught.value.faults if fault.place}
    assert lines["/name"] == 2
    assert lines["/version"] == 3
    assert lines["/nmae"] == 4
    assert lines["/input_schema/maximum"] == 5
    assert lines["/timeout_sec"] == 1
    assert str(caught.value).startswith("skill.json:")


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {},
        True,
        {"type": "string"},
        {"type": ["object", "null"]},
        {"properties": {"a": {}}, "required": ["a"]},
        {"anyOf": [{"type": "object"}, {"type": "array"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}},
    ],
)
def test_an_input_that_is_not_provably_an_object_is_invalid(schema: Any) -> None:
    assert set(faults(document(input_schema=schema, examples=None))) == {"/input_schema"}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"type": "object"}, {"required": ["a"]}]},
        {"anyOf": [{"type": "object"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}},
    ],
)
def test_an_object_root_may_stand_behind_references_and_combinators(schema: Any) -> None:
    assert manifest_from_document(document(input_schema=schema)).input_schema == schema


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "object", "required": "a"}, "/input_schema/required"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "/input_schema/properties/a/$ref"),
        ({"$schema": "https://example.com/mine", "type": "object"}, "/input_schema/$schema"),
        ([], "/input_schema"),
    ],
)
def test_faults_of_a_schema_are_faults_of_the_manifest(schema: Any, pointer: str) -> None:
    assert next(iter(faults(document(input_schema=schema)))).startswith(pointer)


@pytest.mark.parametrize("number", [2**53, -(2**60), 10**400, 1e17])
def test_numbers_canonical_json_cannot_hold_are_refused_with_a_pointer(number: Any) -> None:
    schema = {"type": "object", "properties": {"n": {"const": number}}}
    assert "/input_schema/properties/n/const" in faults(document(input_schema=schema))


def test_numbers_at_the_edge_of_canonical_json_are_kept() -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [2**53 - 1, 1.7976931348623157e308, 1e21, 0.1]}}}
    manifest = manifest_from_document(document(input_schema=schema))
    assert manifest_from_document(manifest.to_document()).manifest_digest == manifest.manifest_digest


def test_the_contract_digest_leaves_out_name_owner_tags_and_lifecycle_only() -> None:
    manifest = manifest_from_document(document())
    outside = document(
        name="other.name",
        version="9.0.0",
        compatibility="breaking_change",
        owner="somebody",
        tags=["x"],
        status="active",
        deprecated_since="1.2.0",
        sunset="2028-01-01",
        replacement="none",
        migration_guide="https://example.com/other",
        external_name="Other",
        external_version="v9",
        defaulted=["timeout_sec"],
    )
    other = manifest_from_document(outside)
    assert other.contract_digest == manifest.contract_digest
    assert other.manifest_digest != manifest.manifest_digest
    assert {name for name in outside if outside[name] != document().get(name)} == OUTSIDE_CONTRACT


_INSIDE = {
    "title": "Other",
    "description": "Something else altogether, for a change.",
    "input_schema": {"type": "object"},
    "output_schema": True,
    "business_rules": [],
    "errors": [],
    "timeout_sec": 3,
    "category": "system",
    "side_effects": "none",
    "effect_scope": "x",
    "rollback": "x",
    "idempotent": True,
    "required_permissions": [],
    "allowed_tools": [],
    "runtime_requirements": {},
    "requires_approval": False,
    "dangerous": False,
    "slo": {"latency_sec": 3},
    "entrypoint": "a:b",
    "examples": [],
    "fallback": [],
    "extensions": {"mcp": {"icons": []}},
}


@pytest.mark.parametrize("field", _INSIDE)
def test_every_other_field_is_contract(field: str) -> None:
    before = FULL
    after = manifest_from_document(document(**{field: _INSIDE[field]}))
    assert after.contract_digest != before.contract_digest


def test_every_field_is_either_contract_or_not() -> None:
    assert set(SkillManifest.__dataclass_fields__) == OUTSIDE_CONTRACT | set(_INSIDE)


def test_order_counts_neither_in_sets_nor_in_objects() -> None:
    one = manifest_from_document(document(required_permissions=["a", "b", "a"], allowed_tools=["x", "y"]))
    other = manifest_from_document(
        dict(reversed(document(required_permissions=["b", "a"], allowed_tools=["y", "x"]).items()))
    )
    assert one.manifest_digest == other.manifest_digest


def test_an_explicit_default_and_a_defaulted_one_are_the_same_contract() -> None:
    given_timeout = manifest_from_document(document(timeout_sec=30))
    defaulted = manifest_from_document(document(timeout_sec=None, defaulted=["timeout_sec"]))
    assert given_timeout.contract_digest == defaulted.contract_digest


def test_the_manifest_shares_no_json_with_its_caller() -> None:
    source = document()
    manifest = manifest_from_document(source)
    digest = manifest.manifest_digest
    source["input_schema"]["properties"]["text"]["type"] = "number"
    source["examples"][0]["text"] = 3
    manifest.to_document()["input_schema"]["required"].append("x")
    assert replace(manifest).manifest_digest == digest


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(document())) | st.text(max_size=6), _JSON, max_size=4))
def test_any_object_is_a_manifest_or_a_located_refusal(changes: dict[str, Any]) -> None:
    outcome = attempt(document() | changes)
    if isinstance(outcome, InvalidContract):
        assert outcome.faults
        assert all(
            isinstance(fault, Fault) and (not fault.pointer or fault.pointer[0] == "/") for fault in outcome.faults
        )
    else:
        again = manifest_from_document(outcome.to_document())
        assert again.manifest_digest == outcome.manifest_digest
