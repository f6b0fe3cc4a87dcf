"""Whatever a tool looks like, each kind of source says it in its own words and it arrives as it was."""

from __future__ import annotations

import json
from typing import Any

from generated_tools import JSON, NATIVE, SCHEMAS, TEXT
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from governance.core.contract import manifest_from_document
from governance.importers import import_text
from governance.importers.export import export_native, export_skill_md
from governance.importers.yaml_text import write_yaml


def toml(value: Any) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(char if char.isalnum() else f"\\U{ord(char):08X}" for char in value) + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(child)}" for key, child in value.items()) + "}"
    return repr(value)


def without_null(value: Any) -> Any:
    """TOML has no word for nothing."""
    if isinstance(value, list):
        return [without_null(item) for item in value if item is not None]
    if isinstance(value, dict):
        return {key: without_null(item) for key, item in value.items() if item is not None}
    return value


@given(NATIVE.map(without_null))
def test_a_native_manifest_is_the_same_in_yaml_toml_and_json(document: dict[str, Any]) -> None:
    skill = manifest_from_document(document)
    texts = (
        write_yaml(document),
        json.dumps(document),
        "\n".join(f"{key} = {toml(value)}" for key, value in document.items()),
        export_native(skill),
        export_native(skill, format="json"),
    )
    for text in texts:
        result = import_text(text)
        assert [again.manifest_digest for again in result.accepted] == [skill.manifest_digest], text


@given(SCHEMAS, st.lists(JSON, max_size=4))
def test_a_schema_of_an_operation_means_what_it_meant(schema: dict[str, Any], values: list[Any]) -> None:
    content = {"application/json": {"schema": schema}}
    operation = {"operationId": "find", "responses": {"200": {"description": "Found.", "content": content}}}
    document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1.0.0"}, "paths": {"/": {"get": operation}}}
    (skill,) = import_text(json.dumps(document)).accepted
    before, after = Draft202012Validator(schema), Draft202012Validator(skill.output_schema)
    for value in [*values, {}, {"q": 1}]:
        assert after.is_valid(value) is before.is_valid(value)


@given(SCHEMAS, st.lists(JSON, max_size=4))
def test_a_schema_of_a_subject_means_what_it_meant(schema: dict[str, Any], values: list[Any]) -> None:
    row = {"subject": "orders-value", "version": 3, "schemaType": "JSON", "schema": json.dumps(schema)}
    (skill,) = import_text(json.dumps([row])).accepted
    before, after = Draft202012Validator(schema), Draft202012Validator(skill.input_schema)
    for value in [*values, {}, {"q": 1}]:
        assert after.is_valid(value) is before.is_valid(value)


WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20).filter(str.strip)


@given(WORDS, st.dictionaries(WORDS, TEXT | st.lists(TEXT, max_size=2), max_size=2), TEXT)
def test_a_skill_file_comes_back_with_its_contract(description: str, metadata: dict[str, Any], body: str) -> None:
    front = write_yaml({"name": "find-order", "description": description, "metadata": metadata})
    for skill in import_text(f"---\n{front}---\n{body}", file="SKILL.md", version="1.0.0").accepted:
        (again,) = import_text(export_skill_md(skill), file="SKILL.md").accepted
        assert again.contract_digest == skill.contract_digest
