"""Operations of OpenAPI documents become skills: one rule for arguments, no change of meaning, nothing fetched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated_tools import JSON
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from governance.core.contract import RuntimeRequirements, SideEffects, SkillManifest
from governance.errors import MalformedDocument, NameCollision
from governance.importers import ImportResult, import_paths, import_text
from governance.importers.export_functions import export_anthropic, export_openai
from governance.importers.openapi_schema import Schemas

DATA = Path(__file__).parent.parent / "data" / "openapi"
STRING = {"type": "string"}


def document(operation: Any, *, version: str = "3.1.0", method: str = "post", **more: Any) -> dict[str, Any]:
    info = {"title": "Shop", "version": "1.0.0"}
    return {"openapi": version, "info": info, "paths": {"/x": {method: operation}}, **more}


def read(value: Any) -> ImportResult:
    return import_text(json.dumps(value, indent=1), file="api.json")


def one(value: Any) -> SkillManifest:
    result = read(value)
    assert not result.refused, result.refused[0].error
    (skill,) = result.accepted
    return skill


def answering(schema: Any, version: str = "3.1.0", /, **components: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    operation = {"operationId": "op", "responses": {"200": {"description": "ok", "content": content}}}
    return document(operation, version=version, components={"schemas": components})


def taking(*parameters: Any, **operation: Any) -> dict[str, Any]:
    return document({"operationId": "op", "parameters": list(parameters), **operation})


def parameter(name: str, place: str = "query", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": STRING, **more}


def test_a_document_of_3_0_gives_one_skill_an_operation() -> None:
    result = import_paths([DATA / "shop-3.0.yaml"])
    assert [(skill.name, skill.external_name, skill.version) for skill in result.accepted] == [
        ("shop_orders.list_orders", "listOrders", "1.4.0"),
        ("shop_orders.orders.create", "orders.create", "1.4.0"),
        ("shop_orders.delete_orders_id", "DELETE /orders/{id}", "1.4.0"),
    ]
    assert [(refused.name, str(refused.error.faults[0].place)) for refused in result.refused] == [
        ("setPicture", f"{DATA / 'shop-3.0.yaml'}:59:9"),
        ("listPartners", f"{DATA / 'shop-3.0.yaml'}:69:55"),
    ]
    assert "image/png" in str(result.refused[0].error)
    assert "nothing is fetched" in str(result.refused[1].error)


def test_a_document_of_3_1_gives_one_skill_an_operation() -> None:
    result = import_paths([DATA / "shop-3.1.json"])
    assert not result.refused
    search, health, export = result.accepted
    assert search.input_schema["properties"] == {"body": {"$ref": "#/$defs/Query", "description": "What to look for."}}
    assert search.extensions["openapi"]["x-rate"] == "slow"
    assert search.output_schema["anyOf"] == [{"type": "array", "items": {"$ref": "#/$defs/Order"}}, {"type": "null"}]
    assert health.external_name == "GET /health"
    assert health.output_schema is None
    assert export.input_schema["properties"]["filter"]["examples"] == [{"words": "kettle"}, {"words": "lamp"}]
    assert export.extensions["openapi"]["parameters"] == {"filter": {"in": "query", "content": "application/json"}}
    assert export.extensions["openapi"]["deprecated"] is True


@pytest.mark.parametrize("file", ["shop-3.0.yaml", "shop-3.1.json"])
def test_an_operation_keeps_its_contract_through_the_dialects_of_models(file: str) -> None:
    skills = list(import_paths([DATA / file]).accepted)
    for export in (export_openai, export_anthropic):
        again = import_text(json.dumps(export(skills).document)).accepted
        assert [skill.contract_digest for skill in again] == [skill.contract_digest for skill in skills]


# --- arguments


def test_parameters_keep_their_names_and_the_body_is_called_body() -> None:
    body = {"required": True, "content": {"application/json": {"schema": {"type": "array"}}}}
    skill = one(taking(parameter("b", required=True), parameter("a", "path"), requestBody=body))
    assert skill.input_schema == {
        "type": "object",
        "properties": {"a": STRING, "b": STRING, "body": {"type": "array"}},
        "required": ["a", "b", "body"],
    }


def test_names_that_clash_are_told_apart_by_their_location() -> None:
    body: Any = {"content": {"application/json": {}}}
    clashing = [parameter("id", place) for place in ("cookie", "header", "query", "path")]
    skill = one(taking(*clashing, parameter("body"), parameter("query_id"), requestBody=body))
    assert list(skill.input_schema["properties"]) == [
        "id",
        "query_id",
        "query_body",
        "query_query_id",
        "header_id",
        "cookie_id",
        "body",
    ]
    assert skill.extensions["openapi"]["parameters"]["query_query_id"] == {"in": "query", "name": "query_id"}


def test_the_operation_overrides_the_parameters_of_its_path() -> None:
    value = taking(parameter("a", schema={"type": "integer"}))
    value["paths"]["/x"]["parameters"] = [
        parameter("a"),
        parameter("a", "header"),
        {"$ref": "#/components/parameters/b"},
    ]
    value["components"] = {"parameters": {"b": parameter("b")}}
    properties = one(value).input_schema["properties"]
    assert properties == {"a": {"type": "integer"}, "b": STRING, "header_a": STRING}


def test_headers_of_the_protocol_are_no_arguments() -> None:
    skill = one(taking(parameter("Accept", "header"), parameter("AUTHORIZATION", "header"), parameter("X-A", "header")))
    assert list(skill.input_schema["properties"]) == ["X-A"]


def test_a_form_is_a_body_and_other_media_are_refused_where_required() -> None:
    form: Any = {"content": {"multipart/form-data": {"schema": {"type": "object"}, "encoding": {"a": {}}}}}
    skill = one(document({"operationId": "op", "requestBody": form}))
    assert skill.input_schema["properties"]["body"] == {"type": "object"}
    assert skill.extensions["openapi"]["requestBody"] == {"content": "multipart/form-data", "encoding": {"a": {}}}
    result = read(document({"operationId": "op", "requestBody": {"content": {"text/csv": {}}}}))
    assert result.accepted[0].input_schema == {"type": "object", "properties": {}}
    assert "left out" in result.warnings[0].message


def test_a_parameter_without_a_schema_takes_anything_and_is_told() -> None:
    result = read(taking({"name": "a", "in": "query", "description": "Some."}))
    assert result.accepted[0].input_schema["properties"] == {"a": {"description": "Some."}}
    assert "no schema" in result.warnings[0].message


# --- what surrounds


@pytest.mark.parametrize(
    ("method", "effects", "idempotent"),
    [
        ("get", SideEffects.READ, True),
        ("head", SideEffects.READ, True),
        ("options", SideEffects.READ, True),
        ("trace", SideEffects.READ, True),
        ("query", SideEffects.READ, True),
        ("put", None, True),
        ("delete", None, True),
        ("post", None, None),
        ("patch", None, None),
    ],
)
def test_a_method_promises_what_the_standard_says_and_is_marked_as_a_default(
    method: str, effects: SideEffects | None, idempotent: bool | None
) -> None:
    skill = one(document({"operationId": "op"}, method=method))
    assert (skill.side_effects, skill.idempotent) == (effects, idempotent)
    assert ("side_effects" in skill.defaulted) is (effects is not None)
    assert ("idempotent" in skill.defaulted) is (idempotent is not None)
    assert not skill.dangerous


@pytest.mark.parametrize(
    ("servers", "network"),
    [
        ([{"url": "https://user:secret@api.example.com:8443/v1"}], ("https://api.example.com:8443",)),
        ([{"url": "https://a.example"}, {"url": "https://b.example"}], ()),
        ([{"url": "/v1"}], ()),
        ([{"url": "https://{region}.example.com"}], ()),
        ([{"url": "https://[broken"}], ()),
        ([], ()),
        ("x", ()),
    ],
)
def test_one_absolute_server_is_an_endpoint_the_caller_needs(servers: Any, network: tuple[str, ...]) -> None:
    skill = one(document({"operationId": "op"}, servers=servers))
    assert skill.runtime_requirements == RuntimeRequirements(network=network)


@pytest.mark.parametrize(
    ("security", "permissions"),
    [
        ([{"oauth": ["b", "a"]}], ("a", "b")),
        ([{"oauth": ["a"], "other": ["b"]}], ("a", "b")),
        ([{"oauth": ["a"]}, {"key": []}], ()),
        ([{"oauth": ["a"]}, {}], ()),
        ([], ()),
        ("x", ()),
    ],
)
def test_scopes_without_alternatives_are_permissions(security: Any, permissions: tuple[str, ...]) -> None:
    skill = one(document({"operationId": "op"}, security=security))
    assert skill.required_permissions == permissions
    assert skill.extensions["openapi"]["security"] == security
    overridden = one(document({"operationId": "op", "security": []}, security=security))
    assert overridden.required_permissions == ()


def test_summary_and_description_become_title_and_description() -> None:
    both = one(document({"operationId": "op", "summary": "Short", "description": "Long.", "tags": [" a "]}))
    assert (both.title, both.description, both.tags) == ("Short", "Long.", ("a",))
    short = one(document({"operationId": "op", "summary": "Short"}))
    assert (short.title, short.description) == (None, "Short")
    assert "description" in one(document({"operationId": "op"})).defaulted


def test_answers_that_differ_are_alternatives_and_equal_ones_are_one() -> None:
    def answers(**schemas: Any) -> Any:
        return {
            status.removeprefix("s"): {"description": "", "content": {"application/problem+json": {"schema": schema}}}
            for status, schema in schemas.items()
        }

    same = one(document({"operationId": "op", "responses": answers(s200=STRING, s201=STRING, s404={}, default={})}))
    assert same.output_schema == STRING
    differing = one(document({"operationId": "op", "responses": answers(s200=STRING, s2XX={"type": "null"})}))
    assert differing.output_schema == {"anyOf": [STRING, {"type": "null"}]}
    csv = {"206": {"description": "", "content": {"text/csv": {}}}}
    foreign = one(document({"operationId": "op", "responses": answers(s200=STRING) | csv}))
    assert foreign.output_schema is None


# --- schemas


def test_recursive_schemas_stay_recursive() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/T"}}}
    skill = one(answering({"$ref": "#/components/schemas/T"}, T=tree))
    assert skill.output_schema == {
        "$ref": "#/$defs/T",
        "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}},
    }


def test_only_what_is_reached_is_bundled_under_names_of_its_own() -> None:
    schemas = {"a b": {"$ref": "#/components/schemas/a~1b"}, "a/b": STRING, "a_b": STRING, "other": STRING}
    schema = one(answering({"$ref": "#/components/schemas/a%20b"}, **schemas)).output_schema
    first, second = schema["$defs"]
    assert first.startswith("a_b_")
    assert second.startswith("a_b_")
    assert schema == {"$ref": f"#/$defs/{first}", "$defs": {first: {"$ref": f"#/$defs/{second}"}, second: STRING}}
    assert list(one(answering({"$ref": "#/components/schemas/a_b"}, **schemas)).output_schema["$defs"]) == ["a_b"]


@pytest.mark.timeout(60)
def test_many_names_that_no_reference_can_spell_take_no_time() -> None:
    schemas: Any = {chr(0x4E00 + index % 20_000) + "单" * (index // 20_000): STRING for index in range(40_000)}
    one(answering({"$ref": "#/components/schemas/%E5%8D%95"}, **{"单": STRING} | schemas))


def test_words_that_look_like_references_in_data_stay_data() -> None:
    schema = {"enum": [{"$ref": "#/nowhere"}], "properties": {"$ref": STRING}, "default": {"$ref": "x.json"}}
    assert one(answering(schema)).output_schema == schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, STRING),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"exclusiveMaximum": True, "type": "number"}, {"type": "number"}),
        ({"type": "string", "example": "x"}, {"type": "string", "examples": ["x"]}),
        ({"$ref": "#/components/schemas/S", "minLength": 3}, {"$ref": "#/$defs/S", "$defs": {"S": STRING}}),
        ({"const": 1, "type": "string"}, {"x-openapi-const": 1, "type": "string"}),
        ({"type": "object", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
        ({"oneOf": [{"type": "string", "nullable": True}]}, {"oneOf": [{"type": ["string", "null"]}]}),
    ],
)
def test_schemas_of_3_0_are_translated_with_no_change_of_meaning(schema: Any, expected: Any) -> None:
    assert one(answering(schema, "3.0.3", S=STRING)).output_schema == expected


def test_nullable_without_a_type_does_nothing_and_is_told_once() -> None:
    schema = {"nullable": True, "allOf": [{"$ref": "#/components/schemas/S"}]}
    value = answering({"$ref": "#/components/schemas/N"}, "3.0.0", N=schema, S=STRING)
    value["paths"]["/y"] = {"post": {**value["paths"]["/x"]["post"], "operationId": "other"}}
    result = read(value)
    assert result.accepted[0].output_schema["$defs"]["N"] == {"allOf": [{"$ref": "#/$defs/S"}]}
    assert [warning.pointer for warning in result.warnings] == ["/components/schemas/N/nullable"]
    assert result.warnings[0].place is not None


def test_3_1_is_json_schema_already() -> None:
    schema = {"type": "string", "nullable": True, "example": "x", "const": "x"}
    assert one(answering(schema)).output_schema == schema
    old = answering({"$ref": "#/components/schemas/S"}, S={"type": "string"})
    old["jsonSchemaDialect"] = "http://json-schema.org/draft-07/schema#"
    assert one(old).output_schema == {
        "$schema": "http://json-schema.org/draft-07/schema",
        "$ref": "#/definitions/S",
        "definitions": {"S": STRING},
    }


_OLD = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "object"]),
            "nullable": st.booleans(),
            "enum": st.lists(st.sampled_from([None, 1, "a"]), min_size=1, max_size=2, unique=True),
            "minimum": st.integers(0, 3),
            "exclusiveMinimum": st.booleans(),
            "maximum": st.integers(2, 4),
            "exclusiveMaximum": st.booleans(),
            "const": st.integers(),
            "required": st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True),
            "readOnly": st.booleans(),
            "writeOnly": st.booleans(),
        },
    ),
    lambda inside: st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "nullable": st.booleans(),
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inside, max_size=2),
            "required": st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inside,
            "not": inside,
            "anyOf": st.lists(inside, min_size=1, max_size=2),
        },
    ),
    max_leaves=6,
)
_VALUES = st.recursive(
    st.sampled_from([None, 0, 1, 2, 3, 4, "a", "b"]),
    lambda inside: st.dictionaries(st.sampled_from(["a", "b", "c"]), inside, max_size=2),
    max_leaves=4,
)


def accepts(schema: Any, value: Any, side: str) -> bool:
    """What the text of OpenAPI 3.0 says, written down once more and without any translation."""
    if isinstance(schema, bool):
        return schema
    kinds = {"string": str, "integer": int, "object": dict}
    excused = "type" not in schema or (value is None and schema.get("nullable"))
    if not excused and not isinstance(value, kinds[schema["type"]]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, int):
        if "minimum" in schema and not (
            value > schema["minimum"] if schema.get("exclusiveMinimum") else value >= schema["minimum"]
        ):
            return False
        if "maximum" in schema and not (
            value < schema["maximum"] if schema.get("exclusiveMaximum") else value <= schema["maximum"]
        ):
            return False
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        mark = "readOnly" if side == "input" else "writeOnly"
        for name in schema.get("required", []):
            if name not in value and not fields.get(name, {}).get(mark):
                return False
        for name, item in value.items():
            if not accepts(fields.get(name, schema.get("additionalProperties", True)), item, side):
                return False
    if "not" in schema and accepts(schema["not"], value, side):
        return False
    return "anyOf" not in schema or any(accepts(way, value, side) for way in schema["anyOf"])


@given(_OLD, st.lists(_VALUES, min_size=1, max_size=8), st.sampled_from(["input", "output"]))
def test_a_translated_schema_accepts_what_the_original_accepted(schema: Any, values: list[Any], side: str) -> None:
    before = json.dumps(schema)
    translated = Schemas({}, old=True).translate(schema, side).schema
    assert json.dumps(schema) == before
    validator = Draft202012Validator(translated)
    for value in values:
        assert validator.is_valid(value) is accepts(schema, value, side), (translated, value)


# --- what is wrong


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("other.yaml#/X", "nothing is fetched"),
        ("https://example.com/x.json", "nothing is fetched"),
        ("file:///etc/passwd", "nothing is fetched"),
        ("#/components/schemas/Missing", "leads to no schema"),
        ("#/openapi", "leads to no schema"),
        ("#anchor", "only references by pointer"),
    ],
)
def test_references_that_cannot_be_bundled_are_refused_where_they_stand(reference: str, message: str) -> None:
    value = answering({"type": "array", "items": {"$ref": "#/components/schemas/A"}}, A={"not": {"$ref": reference}})
    (refused,) = read(value).refused
    fault = refused.error.faults[0]
    assert message in fault.message
    assert fault.pointer == "/output_schema/$defs/A/not/$ref"
    assert fault.place is not None
    assert fault.place.line is not None
    assert reference in json.dumps(value, indent=1).splitlines()[fault.place.line - 1]


@pytest.mark.parametrize(
    "operation",
    [
        {"parameters": [{"$ref": "x.yaml#/p"}]},
        {"parameters": [{"$ref": "#/components/parameters/loop"}]},
        {"parameters": [{"$ref": "#/nowhere"}]},
        {"parameters": {}},
        {"parameters": [7]},
        {"parameters": [{"in": "query"}]},
        {"parameters": [{"name": "a", "in": "body"}]},
        {"parameters": [{"name": "a", "in": "query", "schema": "x"}]},
        {"parameters": [{"name": "a", "in": "query", "schema": {"type": "objekt"}}]},
        {"requestBody": 7},
        {"requestBody": {"required": True}},
        {"requestBody": {"$ref": "https://example.com/b"}},
        {"responses": []},
        {"responses": {"200": 7}},
        {"responses": {"200": {"$ref": "b.yaml"}}},
        {"responses": {"200": {"content": {"application/json": {"schema": {"type": 7}}}}}},
        {"description": 7},
        {"tags": 7},
        {"operationId": 7},
    ],
)
def test_one_bad_operation_hides_no_other_and_is_located(operation: Any) -> None:
    value = document({"operationId": "bad", **operation})
    value["paths"]["/good"] = {"get": {"operationId": "good"}}
    value["components"] = {"parameters": {"loop": {"$ref": "#/components/parameters/loop"}}}
    result = read(value)
    assert [skill.name for skill in result.accepted] == ["shop.good"]
    (refused,) = result.refused
    place = refused.error.faults[0].place
    assert place is not None
    assert place.line is not None


@pytest.mark.parametrize("item", [7, {"$ref": "x.yaml"}, {"get": []}])
def test_a_bad_path_hides_no_other(item: Any) -> None:
    value = document({"operationId": "good"})
    value["paths"]["/bad"] = item
    result = read(value)
    assert len(result.accepted) == 1
    assert len(result.refused) == 1
    assert "/bad" in result.refused[0].name


@pytest.mark.parametrize(
    "value",
    [
        {"swagger": "2.0", "info": {}, "paths": {}},
        {"openapi": "4.0.0", "paths": {}},
        {"openapi": None, "paths": {}},
        {"openapi": "3.1.0", "paths": []},
        {"openapi": "3.1.0", "paths": {}, "jsonSchemaDialect": "https://example.com/own"},
    ],
)
def test_documents_of_another_kind_are_refused_with_the_place(value: Any) -> None:
    (refused,) = read(value).refused
    assert isinstance(refused.error, MalformedDocument)
    assert refused.origin.line is not None


def test_a_document_without_operations_is_told_as_empty() -> None:
    result = read({"openapi": "3.1.0", "webhooks": {"a": {"post": {}}}})
    assert [warning.code for warning in result.warnings] == ["empty"]


def test_two_operations_on_one_name_are_both_refused() -> None:
    value = document({"operationId": "getX"})
    value["paths"]["/y"] = {"get": {"operationId": "get_x"}}
    assert [type(refused.error) for refused in read(value).refused] == [NameCollision, NameCollision]


def test_a_version_that_is_a_number_is_told() -> None:
    result = read({**document({"operationId": "op"}), "info": {"title": "Shop", "version": 1.1}})
    assert result.accepted[0].version == ""
    assert result.warnings[0].pointer == "/info/version"


# --- hostile


def test_circular_components_end() -> None:
    loop = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    result = read(answering({"$ref": "#/components/schemas/A"}, **loop))
    assert len(result.imported) + len(result.refused) == 1


def test_schemas_that_nest_without_end_are_refused() -> None:
    deep: Any = STRING
    for _ in range(55):
        deep = {"properties": {"a": deep}}
    (refused,) = read(answering(deep)).refused
    assert "nest" in str(refused.error)


@pytest.mark.timeout(60)
def test_huge_parameter_lists_take_bounded_time() -> None:
    result = read(taking(*(parameter(f"p{index}") for index in range(5_000))))
    assert len(result.accepted) == 1
    result = read(taking(*(parameter("p", place) for place in ("query", "header") * 2_000)))
    assert len(result.accepted) == 1


def test_operations_that_all_carry_a_great_graph_are_refused_past_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.importers.openapi.MAX_VALUES", 10_000)
    count = 30
    schemas = {
        f"S{index}": {
            "properties": {f"a{n}": STRING for n in range(10)}
            | {"n": {"$ref": f"#/components/schemas/S{(index + 1) % count}"}}
        }
        for index in range(count)
    }
    value = answering({"$ref": "#/components/schemas/S0"}, **schemas)
    template = value["paths"]["/x"]["post"]
    value["paths"] = {f"/{n}": {"post": {**template, "operationId": f"op{n}"}} for n in range(60)}
    result = read(value)
    assert 5 < len(result.accepted) < 60
    assert len(result.accepted) + len(result.refused) == 60
    assert "split the document" in str(result.refused[-1].error)


_KEYS = st.sampled_from(
    ["$ref", "name", "in", "schema", "content", "application/json", "200", "type", "properties", "allOf", "required",
     "nullable", "discriminator", "mapping", "parameters", "requestBody", "responses", "operationId", "get", "tags",
     "example", "items", "$id", "security", "servers", "url"]
)  # fmt: skip
_ANY = st.recursive(
    JSON | st.sampled_from(["query", "path", "#/components/x", "#/components", "object", "https://x", True]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(_KEYS, inside, max_size=4),
    max_leaves=20,
)


@given(_ANY, _ANY, st.sampled_from(["3.0.0", "3.1.0"]))
def test_no_document_of_anything_is_more_than_refused(operation: Any, component: Any, version: str) -> None:
    value = document(operation, version=version, components={"x": component, "schemas": component})
    value["paths"]["/good"] = {"get": {"operationId": "good"}}
    assert "shop.good" in [skill.name for skill in read(value).accepted]
    read({**document({}), "paths": component, "servers": operation, "security": operation, "info": component})
