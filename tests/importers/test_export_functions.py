"""Tool lists of the model APIs: the client gets what it takes, and the whole imports again with every contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated_tools import NATIVE, TOOLS
from hypothesis import given
from hypothesis import strategies as st

from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.lint import lint
from governance.errors import InvalidRequest
from governance.importers import import_paths, import_text
from governance.importers.export_functions import Exported, export_anthropic, export_openai
from governance.importers.functions import KEPT

CATALOGUES = sorted((Path(__file__).parent.parent / "data" / "catalogues").glob("*-*.json"))
FORMS = {
    "openai": export_openai,
    "openai-flat": lambda skills: export_openai(skills, flat=True),
    "anthropic": export_anthropic,
}


def again(exported: Exported) -> list[SkillManifest]:
    result = import_text(json.dumps(exported.document))
    assert not result.refused, result.refused[0].error
    assert not result.warnings
    return list(result.accepted)


@given(TOOLS, st.sampled_from(sorted(FORMS)))
def test_an_imported_tool_keeps_its_contract(tool: dict[str, Any], form: str) -> None:
    for skill in import_text(json.dumps([tool]), version="1.0.0").accepted:
        (read,) = again(FORMS[form]([skill]))
        assert read.contract_digest == skill.contract_digest
        assert read.name == skill.name


@given(NATIVE, st.sampled_from(sorted(FORMS)))
def test_a_native_skill_keeps_its_contract(document: dict[str, Any], form: str) -> None:
    skill = manifest_from_document(document)
    (read,) = again(FORMS[form]([skill]))
    assert read.contract_digest == skill.contract_digest
    assert read.name == skill.name


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_real_catalogues_keep_every_contract_and_lose_what_the_client_refuses(path: Path, form: str) -> None:
    skills = list(import_paths([path]).accepted)
    exported = FORMS[form](skills)
    assert [skill.contract_digest for skill in again(exported)] == [skill.contract_digest for skill in skills]
    profile = form.partition("-")[0]
    tools = json.dumps({"tools": exported.document["tools"]})
    shown = import_text(tools).accepted
    assert len(shown) == len(skills)
    assert [finding for skill in shown for finding in lint(skill, profiles=[profile]) if finding.client] == []


def test_what_came_from_an_api_goes_back_as_it_was() -> None:
    schema = {"type": "object", "properties": {}}
    nested = {"type": "function", "function": {"name": "aB", "parameters": schema, "strict": True}, "x": 1}
    flat = {"type": "function", "name": "aB", "description": "Does.", "parameters": schema, "strict": None}
    claude = {"name": "aB", "input_schema": schema, "cache_control": {"type": "ephemeral"}}
    for form, tool in (("openai", nested), ("openai-flat", flat), ("anthropic", claude)):
        skills = list(import_text(json.dumps([tool])).accepted)
        assert FORMS[form](skills).document == {"tools": [tool]}


def test_what_a_tool_cannot_say_stands_beside_the_list() -> None:
    document = {
        "name": "shop.orders.refund",
        "version": "1.0.0",
        "compatibility": "input_compatible",
        "description": "Refunds an order. " + "Long. " * 300,
        "input_schema": {"type": "object", "anyOf": [{"required": ["id"]}], "properties": {"id": {}}},
        "output_schema": True,
        "timeout_sec": 5,
        "dangerous": True,
    }
    exported = export_openai([manifest_from_document(document)])
    (tool,) = exported.document["tools"]
    assert tool["function"]["parameters"] == {"type": "object", "properties": {"id": {}}, "required": ["id"]}
    assert len(tool["function"]["description"]) == 1_024
    assert tool["function"]["name"] == "shop_orders_refund"
    kept = exported.document[KEPT]["shop_orders_refund"]
    assert sorted(kept) == [
        "dangerous",
        "description",
        "external_name",
        "input_schema",
        "output_schema",
        "timeout_sec",
    ]
    assert exported.losses == (
        'shop.orders.refund: the name "shop.orders.refund" is not taken, it is called shop_orders_refund',
        "shop.orders.refund: the description is cut to 1,024 characters",
        "shop.orders.refund: anyOf at the root is not taken",
    )
    assert again(exported)[0].contract_digest == manifest_from_document(document).contract_digest


def test_two_skills_on_one_tool_name_are_refused_with_both_names() -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("a.b", "a_b")]
    with pytest.raises(InvalidRequest, match=r"a\.b and a_b"):
        export_openai(list(import_text(json.dumps(tools)).accepted))


def test_a_knowledge_skill_is_no_function() -> None:
    with pytest.raises(InvalidRequest, match="no input schema"):
        export_anthropic(list(import_text("---\nname: a\ndescription: Plans work.\n---\n").accepted))
