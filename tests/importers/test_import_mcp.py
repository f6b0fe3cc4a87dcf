"""MCP tool lists of every shape become skills; hints promise only what they say; one bad tool hides no other."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.contract import UNVERSIONED, SideEffects
from governance.errors import InvalidContract, NameCollision
from governance.importers import ImportResult, import_paths, import_text
from governance.importers.mcp import tool_contract

DATA = Path(__file__).parent.parent / "data"
OBJECT = {"type": "object"}
ECHO = {"name": "echo", "description": "Says it again.", "inputSchema": OBJECT}


def read(value: Any, **options: Any) -> ImportResult:
    return import_text(json.dumps(value), file="tools.json", **options)


@pytest.mark.parametrize(
    ("catalogue", "tools", "first"),
    [
        ("github-mcp-server", 117, "github_mcp_server.actions_get@2026.8.3"),
        ("kubernetes-mcp-server", 46, "kubernetes_mcp_server.configuration_view@2026.8.21"),
        ("playwright-mcp", 25, "playwright_mcp.browser_close@0.0.83"),
        ("notion-mcp-server", 24, "notionhq_notion_mcp_server.api_get_user@2.5.2"),
        ("mcp-server-git", 12, "mcp_server_git.git_status@2026.10.19"),
    ],
)
def test_real_catalogues_are_imported_whole(catalogue: str, tools: int, first: str) -> None:
    result = import_paths([DATA / "catalogues" / f"{catalogue}.json"])
    assert not result.refused
    assert len(result.accepted) == tools
    assert f"{result.accepted[0].name}@{result.accepted[0].version}" == first
    assert all(item.origin.line is not None for item in result.imported)


@pytest.mark.parametrize(
    "value",
    [
        [ECHO],
        {"tools": [ECHO]},
        {"tools": {"echo": {key: ECHO[key] for key in ("description", "inputSchema")}}},
        {"echo": {"description": "Says it again.", "inputSchema": OBJECT}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [ECHO]}},
        [{"result": {"tools": [ECHO]}}, {"tools": []}],
        ECHO,
        {"name": "echo", "description": "Says it again.", "input_schema": OBJECT},
    ],
    ids=["array", "result", "tools by name", "by name", "envelope", "pages", "one tool", "snake case"],
)
def test_every_shape_of_a_tool_list_gives_the_same_skill(value: Any) -> None:
    result = read(value)
    assert not result.refused
    (skill,) = result.accepted
    assert (skill.name, skill.description, skill.input_schema) == ("echo", "Says it again.", OBJECT)
    assert skill.contract_digest == read([ECHO]).accepted[0].contract_digest


@pytest.mark.parametrize(
    ("annotations", "effects", "dangerous", "idempotent"),
    [
        (None, None, False, None),
        ({}, None, False, None),
        ({"readOnlyHint": True}, SideEffects.READ, False, None),
        ({"readOnlyHint": True, "destructiveHint": False}, SideEffects.READ, False, None),
        ({"readOnlyHint": False}, None, False, None),
        ({"destructiveHint": False}, None, False, None),
        ({"readOnlyHint": False, "destructiveHint": False}, SideEffects.WRITE, False, None),
        ({"destructiveHint": True}, SideEffects.DESTRUCTIVE, True, None),
        ({"readOnlyHint": False, "destructiveHint": True}, SideEffects.DESTRUCTIVE, True, None),
        ({"readOnlyHint": True, "destructiveHint": True}, SideEffects.DESTRUCTIVE, True, None),
        ({"idempotentHint": True}, None, False, True),
        ({"idempotentHint": False}, None, False, False),
        ({"readOnlyHint": "yes", "destructiveHint": None}, None, False, None),
    ],
)
def test_hints_become_promises_only_where_they_say_so(
    annotations: Any, effects: SideEffects | None, dangerous: bool, idempotent: bool | None
) -> None:
    (skill,) = read([{**ECHO, "annotations": annotations}]).accepted
    assert (skill.side_effects, skill.dangerous, skill.idempotent) == (effects, dangerous, idempotent)


def test_a_contradiction_of_hints_is_told() -> None:
    result = read([{**ECHO, "annotations": {"readOnlyHint": True, "destructiveHint": True}}])
    assert "contradict" in result.warnings[0].message


def test_what_is_not_understood_is_kept() -> None:
    extra = {"icons": [{"src": "x"}], "_meta": {"a/b": 1}, "execution": {"taskSupport": "optional"}}
    annotations = {"openWorldHint": True, "readOnlyHint": True, "title": "Echo"}
    (skill,) = read([{**ECHO, **extra, "annotations": annotations}]).accepted
    assert skill.title == "Echo"
    assert skill.extensions == {"mcp": {**extra, "annotations": {"openWorldHint": True}}}


def test_what_was_not_given_is_marked_as_defaulted() -> None:
    (skill,) = read([{"name": "echo", "inputSchema": OBJECT}]).accepted
    assert skill.defaulted == {"timeout_sec", "compatibility", "description", "output_schema"}
    assert skill.side_effects is None


def test_one_bad_tool_never_hides_the_others() -> None:
    bad: list[Any] = [
        {"name": "no_schema"},
        {"name": "root", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}},
        {"name": "null", "inputSchema": None},
        {"name": "list", "inputSchema": []},
        {"name": "metaschema", "inputSchema": {"type": "object", "required": "a"}},
        {"name": "huge", "inputSchema": {"type": "object", "maxProperties": 10**400}},
        {"name": "words", "description": 3, "inputSchema": OBJECT},
        {"name": "hints", "annotations": [], "inputSchema": OBJECT},
        {"name": 7, "inputSchema": OBJECT},
        {"name": "", "inputSchema": OBJECT},
        {"name": "x" * 200, "inputSchema": OBJECT},
        {"inputSchema": OBJECT},
        42,
        None,
    ]
    result = read([ECHO, *bad, {**ECHO, "name": "last"}])
    assert [skill.name for skill in result.accepted] == ["echo", "last"]
    assert len(result.refused) == len(bad)
    for refused in result.refused:
        assert isinstance(refused.error, InvalidContract)
        assert refused.error.faults[0].place is not None
        assert refused.origin.line == 1


def test_a_schema_that_lost_its_root_type_is_invalid_and_never_wider() -> None:
    evaporated = {"name": "read_file", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}
    (refused,) = read({"tools": [evaporated]}).refused
    assert refused.name == "read_file"
    assert refused.error.faults[0].code == "object-root"


def test_faults_point_into_the_source() -> None:
    text = json.dumps({"tools": [ECHO, {"name": "bad", "inputSchema": {"type": "object", "required": 3}}]}, indent=1)
    (refused,) = import_text(text, file="tools.json").refused
    (fault,) = refused.error.faults
    assert fault.pointer == "/input_schema/required"
    assert fault.place is not None
    assert text.split("\n")[(fault.place.line or 0) - 1].strip() == '"required": 3'


def test_two_tools_that_fall_on_one_name_are_refused_and_no_other() -> None:
    tools = [{**ECHO, "name": name} for name in ("getUser", "other", "get_user", "Get-User")]
    result = read({"tools": tools}, namespace="crm")
    assert [skill.name for skill in result.accepted] == ["crm.other"]
    assert {refused.name for refused in result.refused} == {"getUser", "get_user", "Get-User"}
    for refused in result.refused:
        assert isinstance(refused.error, NameCollision)
        assert refused.error.details["name"] == "crm.get_user"
        assert all(name in str(refused.error) for name in ('"getUser"', '"get_user"', '"Get-User"'))


def test_one_tool_name_of_two_servers_is_two_skills() -> None:
    first = read({"serverInfo": {"name": "Mail A"}, "tools": [{**ECHO, "name": "send_email"}]})
    second = read({"serverInfo": {"name": "Mail B"}, "tools": [{**ECHO, "name": "send_email"}]})
    assert [result.accepted[0].name for result in (first, second)] == ["mail_a.send_email", "mail_b.send_email"]


@pytest.mark.parametrize(
    ("meta", "options", "name", "version", "external"),
    [
        ({}, {}, "echo", UNVERSIONED, None),
        ({"package": "@a/b-c", "version": "v1.10.0"}, {}, "a_b_c.echo", "1.10.0", "v1.10.0"),
        ({"package": "p", "version": "2025.08.21"}, {}, "p.echo", "2025.8.21", "2025.08.21"),
        ({"package": "p", "serverInfo": {"name": "s", "version": "9.0.0"}}, {}, "p.echo", UNVERSIONED, None),
        ({"package": "p", "version": "1.0.0", "serverInfo": {"version": "9.0.0"}}, {}, "p.echo", "1.0.0", None),
        ({"serverInfo": {"name": "Git Server", "version": "2.0.0"}}, {}, "git_server.echo", "2.0.0", None),
        ({"package": "p", "version": "1.0.0"}, {"namespace": "mine"}, "mine.echo", "1.0.0", None),
        ({"package": "p", "version": "1.0.0"}, {"namespace": ""}, "echo", "1.0.0", None),
        ({"package": "p", "version": "1.0.0"}, {"version": "v3"}, "p.echo", "3.0.0", "1.0.0"),
        ({"package": "p", "version": "latest"}, {"version": "3.0.0"}, "p.echo", "3.0.0", "latest"),
        ({"package": "p", "version": "latest"}, {}, "p.echo", UNVERSIONED, "latest"),
        ({"package": "p", "version": 3}, {}, "p.echo", UNVERSIONED, None),
    ],
)  # fmt: skip
def test_namespace_and_version_come_from_the_caller_or_the_catalogue(
    meta: dict[str, Any], options: dict[str, str], name: str, version: str, external: str | None
) -> None:
    (skill,) = read({**meta, "tools": [ECHO]}, **options).accepted
    assert (skill.name, skill.version, skill.external_version) == (name, version, external)
    assert skill.external_name == "echo"


def test_a_version_that_cannot_be_read_is_told() -> None:
    result = read({"package": "p", "version": "latest", "tools": [ECHO]})
    assert "no version until you give one" in result.warnings[0].message


def test_an_incomplete_or_empty_list_is_told() -> None:
    assert "nextCursor" in read({"tools": [ECHO], "nextCursor": "abc"}).warnings[0].message
    empty = read({"tools": []})
    assert not empty.accepted
    assert "without a single skill" in empty.warnings[0].message


def test_an_error_answer_is_told_in_the_servers_words() -> None:
    (refused,) = read({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}).refused
    assert "Method not found" in str(refused.error)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"tools": [{"name": "x"',
        b"\x00\x01\x02\x03",
        '{"tools": []}'.encode("utf-16"),
        b'{"tools": [], "tools": []}',
        b'{"tools": "none"}',
        b"3",
        b"null",
        b"hello",
        b"[" * 10_000,
        b'{"a":' * 10_000,
        b'[{"name": "\\ud800", "inputSchema": {}}]',
    ],
)
def test_hostile_bytes_are_refused_and_never_raise(data: bytes) -> None:
    result = import_text(data, file="x")
    assert not result.accepted
    (refused,) = result.refused
    assert refused.error.exit_code == 2
    assert refused.error.fix
    assert refused.origin.file == "x"


_NASTY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.just("object"),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "inputSchema", "input_schema", "tools", "type", "result", "annotations", "_meta"])
            | st.text(max_size=4),
            inside,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(_NASTY)
def test_any_json_is_imported_or_refused(value: Any) -> None:
    result = read(value)
    assert result.accepted or result.refused or result.warnings
    for refused in result.refused:
        assert refused.error.message


def test_a_tool_object_for_a_comparison_keeps_any_name() -> None:
    contract = tool_contract({**ECHO, "annotations": {"readOnlyHint": True}}, name="API-get user", version="v1")
    assert (contract.name, contract.version) == ("API-get user", "v1")
    assert contract.side_effects is SideEffects.READ
    assert (
        contract.contract_digest == read([{**ECHO, "annotations": {"readOnlyHint": True}}]).accepted[0].contract_digest
    )


@pytest.mark.parametrize(
    ("tool", "pointer"),
    [
        (None, ""),
        ([], ""),
        ({}, "/input_schema"),
        ({"inputSchema": None}, "/input_schema"),
        ({"inputSchema": []}, "/input_schema"),
        ({"inputSchema": OBJECT, "outputSchema": "x"}, "/output_schema"),
        ({"inputSchema": OBJECT, "description": 3}, "/description"),
        ({"inputSchema": OBJECT, "annotations": 3}, "/annotations"),
    ],
)
def test_a_tool_object_that_is_none_is_refused(tool: Any, pointer: str) -> None:
    with pytest.raises(InvalidContract) as caught:
        tool_contract(tool, name="a", version="1.0.0")
    assert caught.value.faults[0].pointer == pointer


def test_null_output_schema_is_absent() -> None:
    assert tool_contract({**ECHO, "outputSchema": None}, name="a", version="1.0.0").output_schema is None


def test_tool_objects_are_read_thousands_of_times_a_second() -> None:
    lines = [json.loads(line) for line in (DATA / "transitions.jsonl").read_text(encoding="utf-8").splitlines()]
    tools = [line[side] for line in lines for side in ("old", "new") if line[side]]
    began = time.process_time()
    for tool in tools * 10:
        tool_contract(tool, name="a", version="1.0.0")
    assert (time.process_time() - began) / (len(tools) * 10) < 0.0005
