"""Function tools of the model APIs become skills; one bad entry hides no other; nothing kept beside is believed
unless it gives the tool again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.contract import Example
from governance.errors import InvalidContract
from governance.importers import ImportResult, import_text

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "getWeather", "description": "Tells the weather of a city.", "parameters": SCHEMA}
NESTED = {"type": "function", "function": WEATHER}
FLAT = {"type": "function", **WEATHER}
ANTHROPIC = {"name": "getWeather", "description": "Tells the weather of a city.", "input_schema": SCHEMA}

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(_TEXT, inside, max_size=3),
    max_leaves=6,
)
_WORDS = st.sampled_from(
    ["name", "type", "function", "parameters", "input_schema", "description", "strict", "input_examples"]
)
_HOSTILE = st.dictionaries(_WORDS, _JSON | st.sampled_from(["function", "custom", "f"]), max_size=6)


def read(value: Any, **options: Any) -> ImportResult:
    return import_text(json.dumps(value, indent=1), file="tools.json", **options)


@pytest.mark.parametrize(
    ("value", "importer"),
    [
        (NESTED, "openai"),
        (FLAT, "openai"),
        (WEATHER, "openai"),
        ([NESTED], "openai"),
        ({"model": "m", "tools": [FLAT]}, "openai"),
        ({"functions": [WEATHER]}, "openai"),
        (ANTHROPIC, "anthropic"),
        ([ANTHROPIC], "anthropic"),
        ({"model": "m", "messages": [], "tools": [ANTHROPIC]}, "anthropic"),
    ],
)
def test_every_form_of_a_function_gives_the_same_skill(value: Any, importer: str) -> None:
    result = read(value, version="1.0.0")
    assert not result.refused
    assert not result.warnings
    (item,) = result.imported
    assert item.importer == importer
    assert (item.manifest.name, item.manifest.external_name) == ("get_weather", "getWeather")
    assert item.manifest.contract_digest == read([FLAT]).accepted[0].contract_digest
    assert item.manifest.defaulted == {"compatibility", "output_schema", "timeout_sec"}


def test_a_list_with_words_of_mcp_stays_an_mcp_list() -> None:
    for tool in (ANTHROPIC | {"annotations": {}}, ANTHROPIC | {"output_schema": SCHEMA}):
        assert read([ANTHROPIC, tool | {"name": "b"}]).imported[0].importer == "mcp"
    assert read({"serverInfo": {"name": "s"}, "tools": [ANTHROPIC]}).accepted[0].name == "s.get_weather"


def test_the_words_of_an_api_are_kept_under_its_name() -> None:
    strict = {"type": "function", "cache": 1, "function": {**WEATHER, "strict": True}}
    assert read(strict).accepted[0].extensions == {"openai": {"strict": True, "beside_function": {"cache": 1}}}
    cached = ANTHROPIC | {"cache_control": {"type": "ephemeral"}, "type": "custom"}
    kept = {"anthropic": {"cache_control": {"type": "ephemeral"}, "type": "custom"}}
    assert read(cached).accepted[0].extensions == kept


def test_sample_inputs_become_examples() -> None:
    (skill,) = read(ANTHROPIC | {"input_examples": [{"city": "Lyon"}, {"input": "x"}]}).accepted
    assert skill.examples == (Example(input={"city": "Lyon"}), Example(input={"input": "x"}))


def test_a_function_without_parameters_takes_no_arguments() -> None:
    (skill,) = read([{"type": "function", "function": {"name": "now"}}]).accepted
    assert skill.input_schema == {"type": "object", "properties": {}}
    assert {"input_schema", "description"} <= skill.defaulted


def test_tools_the_provider_runs_itself_are_passed_over_with_a_warning() -> None:
    result = read({"tools": [{"type": "web_search"}, FLAT, {"type": "mcp", "server_url": "https://x"}]})
    assert len(result.accepted) == 1
    assert [(fault.pointer, fault.code) for fault in result.warnings] == [
        ("/tools/0", "hosted-tool"),
        ("/tools/2", "hosted-tool"),
    ]
    assert all(fault.place and fault.place.line for fault in result.warnings)
    result = read([ANTHROPIC, {"type": "web_search_20250305", "name": "web_search"}])
    assert len(result.accepted) == 1
    assert "web_search_20250305" in result.warnings[0].message


@pytest.mark.parametrize(
    ("bad", "pointer"),
    [
        ({"type": "function", "function": {"parameters": SCHEMA}}, "/name"),
        ({"type": "function", "function": 3}, ""),
        ({"type": "function", "function": {"name": "x", "parameters": {"type": "array"}}}, "/input_schema"),
        ({"type": "function", "name": "x", "parameters": {"type": "objekt"}}, "/input_schema/type"),
        ({"type": "function", "name": "x", "description": 7}, "/description"),
        (3, ""),
    ],
)
def test_one_bad_function_hides_no_other(bad: Any, pointer: str) -> None:
    result = read([bad, NESTED])
    assert [skill.name for skill in result.accepted] == ["get_weather"]
    (refused,) = result.refused
    assert isinstance(refused.error, InvalidContract)
    fault = refused.error.faults[0]
    assert fault.pointer == pointer
    assert fault.place is not None
    assert fault.place.line is not None


def test_faults_are_found_inside_the_nested_function() -> None:
    (refused,) = read([{"type": "function", "function": {**WEATHER, "parameters": {"type": "objekt"}}}]).refused
    text = json.dumps([{"type": "function", "function": {**WEATHER, "parameters": {"type": "objekt"}}}], indent=1)
    place = refused.error.faults[0].place
    assert place is not None
    assert place.line is not None
    assert "objekt" in text.splitlines()[place.line - 1]


def test_two_functions_on_one_name_are_both_refused() -> None:
    result = read([NESTED, FLAT | {"name": "get_weather"}])
    assert not result.accepted
    assert len(result.refused) == 2


@pytest.mark.parametrize(
    "kept",
    [
        {"input_schema": {"type": "object"}},
        {"description": "Obey."},
        {"external_name": "other"},
        {"name": "evil.name"},
        {"owner": "me"},
        {"version": "1.0.0"},
        {"extensions": {"openai": {"strict": True}}},
        3,
    ],
)
def test_what_is_kept_beside_a_tool_cannot_say_something_else_than_the_tool(kept: Any) -> None:
    result = read({"tools": [FLAT], "x-skill-governance": {"getWeather": kept}})
    assert result.accepted[0].to_document() == read([FLAT]).accepted[0].to_document()
    (warning,) = result.warnings
    assert warning.code == "kept"
    assert warning.place is not None


def test_a_kept_promise_that_breaks_a_rule_is_a_located_fault() -> None:
    result = read({"tools": [FLAT], "x-skill-governance": {"getWeather": {"timeout_sec": -1}}})
    assert result.refused[0].error.faults[0].pointer == "/timeout_sec"


@given(st.lists(_HOSTILE | _JSON, max_size=4), st.dictionaries(_TEXT | _WORDS, _JSON | _HOSTILE, max_size=2))
def test_no_list_of_anything_is_more_than_refused(tools: list[Any], kept: dict[str, Any]) -> None:
    result = import_text(json.dumps({"tools": [NESTED, *tools], "x-skill-governance": kept}))
    assert len(result.imported) + len(result.refused) >= 1
    import_text(json.dumps([ANTHROPIC, *tools]))


def test_real_lists_are_read_whole() -> None:
    data = Path(__file__).parent.parent / "data" / "functions"
    for file, count in (("openai_tools.json", 4), ("anthropic_tools.json", 3)):
        result = import_text((data / file).read_bytes(), file=file)
        assert (len(result.accepted), len(result.refused)) == (count, 0)
