"""What is exported imports again with the same contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated_tools import NATIVE, TOOLS
from hypothesis import given

from governance.core.contract import SkillManifest, manifest_from_document
from governance.errors import InvalidRequest
from governance.importers import import_paths, import_text
from governance.importers.export import export_catalogue, export_mcp, export_native, export_skill_md
from governance.importers.tools import OVERLAY

DATA = Path(__file__).parent.parent / "data"
CATALOGUES = sorted((DATA / "catalogues").glob("*-*.json"))


def one(text: str) -> SkillManifest:
    result = import_text(text)
    assert not result.refused, result.refused[0].error
    (skill,) = result.accepted
    return skill


@given(TOOLS)
def test_an_imported_tool_keeps_its_contract_through_every_format(tool: dict[str, Any]) -> None:
    result = import_text(json.dumps([tool]), version="1.0.0")
    for skill in result.accepted:
        assert one(json.dumps([export_mcp(skill)])).contract_digest == skill.contract_digest
        for format in ("yaml", "json"):
            assert one(export_native(skill, format=format)).manifest_digest == skill.manifest_digest
    for refused in result.refused:
        assert {fault.pointer for fault in refused.error.faults} <= {"/name", "/external_name"}


@given(NATIVE)
def test_a_native_skill_keeps_its_contract_through_every_format(document: dict[str, Any]) -> None:
    skill = manifest_from_document(document)
    assert one(json.dumps([export_mcp(skill)])).contract_digest == skill.contract_digest
    for format in ("yaml", "json"):
        assert one(export_native(skill, format=format)).manifest_digest == skill.manifest_digest


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_real_catalogues_keep_every_contract(path: Path) -> None:
    skills = list(import_paths([path]).accepted)
    again = import_text(json.dumps(export_catalogue(skills))).accepted
    assert [skill.contract_digest for skill in again] == [skill.contract_digest for skill in skills]
    assert OVERLAY not in json.dumps(export_catalogue(skills))


def test_promises_mcp_has_no_words_for_travel_in_meta() -> None:
    tool = {"name": "x", "inputSchema": {"type": "object"}, "_meta": {"mine": 1}}
    skill = one(json.dumps([tool]))
    document = skill.to_document() | {"version": "1.0.0", "requires_approval": True, "side_effects": "external"}
    exported = export_mcp(manifest_from_document(document))
    assert exported["_meta"] == {"mine": 1, OVERLAY: {"requires_approval": True, "side_effects": "external"}}
    assert exported["annotations"] == {"readOnlyHint": False}


def test_a_foreign_overlay_can_change_no_name_schema_or_description() -> None:
    for field in ("name", "version", "input_schema", "description", "owner"):
        tool = {"name": "x", "inputSchema": {"type": "object"}, "_meta": {OVERLAY: {field: "evil"}}}
        result = import_text(json.dumps([tool]))
        (skill,) = result.accepted
        (warning,) = result.warnings
        assert (warning.code, field in warning.message) == ("overlay", True)
        assert warning.place is not None
        assert skill.name == "x"
        assert skill.owner is None
        assert skill.extensions == {"mcp": {"_meta": {OVERLAY: {field: "evil"}}}}


NATIVE_SKILL: dict[str, Any] = {
    "name": "a.b",
    "version": "1.0.0",
    "compatibility": "input_compatible",
    "description": "Lists what there is.",
    "input_schema": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}},
    "timeout_sec": 5,
}


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({"type": "object"}, {"type": "object"}),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}, True),
        (False, {"type": "object", "not": {}}),
        ({"type": "array"}, None),
        ({"type": ["object", "null"]}, None),
        ({"properties": {}}, None),
        (True, None),
    ],
)
def test_clients_get_schemas_typed_at_their_roots_or_no_output(output: Any, shown: Any) -> None:
    skill = manifest_from_document(NATIVE_SKILL | {"output_schema": output})
    tool = export_mcp(skill)
    assert tool["inputSchema"] == {"type": "object", **NATIVE_SKILL["input_schema"]}
    assert tool.get("outputSchema") == ({"type": "object", **output} if shown is True else shown)
    assert one(json.dumps([tool])).contract_digest == skill.contract_digest


@pytest.mark.parametrize(
    "overlay",
    [
        {"input_schema": {"properties": {"a": {}}}},
        {"input_schema": {"type": "object", "required": ["a"]}},
        {"output_schema": {"properties": {"a": {}}}},
        {"input_schema": None},
    ],
)
def test_an_overlay_is_not_believed_where_its_schema_is_another_than_the_tool_shows(overlay: Any) -> None:
    tool = {"name": "x", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}
    skill = one(json.dumps([tool | {"_meta": {OVERLAY: overlay}}]))
    assert (skill.input_schema, skill.output_schema) == ({"type": "object"}, {"type": "object"})


def test_a_broken_overlay_is_a_located_fault() -> None:
    tool = {"name": "x", "inputSchema": {"type": "object"}, "_meta": {OVERLAY: {"timeout_sec": -1}}}
    (refused,) = import_text(json.dumps([tool])).refused
    assert refused.error.faults[0].pointer == "/timeout_sec"


def test_a_skill_file_comes_back_with_its_text_and_todays_version() -> None:
    source = (
        "---\nname: plan-work\ndescription: 'Plans: goals'\nlicense: MIT\nmetadata:\n  author: x\n---\n# Plan\n\n- BR\n"
    )
    skill = one(source)
    document = skill.to_document() | {"version": "2.0.0"}
    text = export_skill_md(manifest_from_document(document))
    assert text.endswith("---\n# Plan\n\n- BR\n")
    again = one(text)
    assert again.contract_digest == skill.contract_digest
    assert (again.version, again.external_name) == ("2.0.0", "plan-work")


@pytest.mark.parametrize("tools", ["Bash(git add:*) Read", "[Read, 'My Tool']", "Read"])
def test_allowed_tools_come_back_the_same(tools: str) -> None:
    skill = one(f"---\nname: a\ndescription: Plans work.\nallowed-tools: {tools}\n---\n")
    assert one(export_skill_md(skill)).allowed_tools == skill.allowed_tools


def test_what_did_not_come_from_a_skill_file_cannot_become_one() -> None:
    (skill,) = import_text(json.dumps([{"name": "x", "inputSchema": {"type": "object"}}])).accepted
    with pytest.raises(InvalidRequest, match="did not come from"):
        export_skill_md(skill)


def test_a_skill_file_with_other_promises_is_told_what_cannot_be_said() -> None:
    skill = one("---\nname: a\ndescription: Plans work.\n---\n")
    with pytest.raises(InvalidRequest, match="requires_approval"):
        export_skill_md(manifest_from_document(skill.to_document() | {"version": "1.0.0", "requires_approval": True}))


def test_a_knowledge_skill_is_no_tool() -> None:
    with pytest.raises(InvalidRequest, match="no input schema"):
        export_mcp(one("---\nname: a\ndescription: Plans work.\n---\n"))


def test_an_unknown_format_is_refused() -> None:
    (skill,) = import_text(json.dumps([{"name": "x", "inputSchema": {"type": "object"}}])).accepted
    with pytest.raises(InvalidRequest):
        export_native(skill, format="xml")
