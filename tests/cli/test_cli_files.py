"""import, lint, export, diff and explain on files, and what hostile files do to them: nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from governance.cli.commands.demo import EXAMPLES
from governance.cli.explanations import explanations
from tests.cli.conftest import Govctl

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
DEEP = '{"a":' * 10_000 + "1" + "}" * 10_000
BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"

HOSTILE = {
    "truncated": b'{"tools": [{"name": "a", "inputSch',
    "wrong types": b'{"tools": [5, null, {"name": 7, "inputSchema": []}]}',
    "deep": DEEP.encode(),
    "deep yaml": b"[" * 10_000,
    "nul": b'{"tools": [{"name": "a\\u0000b", "inputSchema": {"type": "object"}}]}',
    "surrogate": b'{"tools": [{"name": "\\ud800", "inputSchema": {"type": "object"}}]}',
    "duplicate keys": b'{"tools": [], "tools": []}',
    "yaml bomb": BOMB.encode(),
    "binary": bytes(range(256)) * 100,
    "utf-16": '{"tools": []}'.encode("utf-16"),
    "empty": b"",
    "huge number": b'{"tools": [{"name": "a", "inputSchema": {"type": "object", "maxProperties": '
    + b"9" * 9000
    + b"}}]}",
}


@pytest.mark.parametrize(
    "command", [("import",), ("lint",), ("check", "--against"), ("export", "--to", "mcp"), ("diff",)]
)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_gets_a_clear_answer(here: Govctl, tmp_path: Path, kind: str, command: tuple[str, ...]) -> None:
    file = tmp_path / "hostile.json"
    file.write_bytes(HOSTILE[kind])
    good = tmp_path / "good.json"
    good.write_text(json.dumps({"tools": [{"name": "a", "inputSchema": SCHEMA}]}))
    words: tuple[str | Path, ...] = (command[0], file)
    if command[0] == "check":
        words += ("--against", good)
    elif command[0] == "diff":
        words += (good,)
    else:
        words += command[1:]
    done = here(*words)
    assert done.code in (1, 2, 7)
    assert "bug in govctl" not in done.err
    assert "Traceback" not in done.err
    assert done.err or done.out


def test_import_tells_what_is_accepted_and_why_the_rest_is_not(here: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    listed = [{"name": "getUser", "inputSchema": SCHEMA}, {"name": "bad", "inputSchema": {"type": "array"}}]
    file.write_text(json.dumps({"tools": listed}))
    done = here("import", file, "--namespace", "crm", "--version", "v1.2.0", "-o", "json")
    assert done.code == 7
    (accepted,) = done.json["accepted"]
    assert (accepted["name"], accepted["version"], accepted["external_name"]) == ("crm.get_user", "1.2.0", "getUser")
    (refused,) = done.json["refused"]
    assert refused["name"] == "bad"
    assert refused["errors"][0]["line"] == 1
    text = here("import", file).out
    assert text.startswith("IMPORT  1 accepted, 1 refused")


def test_import_of_nothing_good_fails_and_of_nothing_bad_passes(here: Govctl, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([{"name": "a", "inputSchema": {"type": "array"}}]))
    assert here("import", bad).code == 1
    assert here("import", EXAMPLES / "1.0.0").code == 0
    assert here("import", tmp_path / "nowhere").code == 2


def test_the_example_skills_are_clean_and_differ_as_the_demo_tells(here: Govctl) -> None:
    assert here("lint", EXAMPLES, "--fail-on", "warning").code == 0
    done = here("check", EXAMPLES / "next", "--against", EXAMPLES / "1.0.0", "-o", "json")
    outcomes = {one["skill"]: one["decision"] for one in done.json["decisions"]}
    assert outcomes["shop.orders.find"] == "allow"
    assert outcomes["shop.orders.refund"] == "block"
    assert outcomes["shop.calendar.find_slots"] == "warn"


def test_lint_names_file_and_line_and_fails_by_severity(here: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "helper", "description": "Helps.", "inputSchema": SCHEMA}]))
    done = here("lint", file, "-o", "json")
    assert done.code == 0
    assert done.json["warnings"] > 0
    assert all(finding["line"] for finding in done.json["findings"])
    assert here("lint", file, "--fail-on", "warning").code == 1
    assert here("lint", file, "--only", "no-such").code == 2


@pytest.mark.parametrize(
    "form",
    [
        ("native",),
        ("native", "--format", "json"),
        ("mcp",),
        ("openai",),
        ("openai-flat",),
        ("anthropic",),
        ("a2a",),
    ],
)
def test_what_is_exported_imports_again_with_the_same_contract(
    here: Govctl, tmp_path: Path, form: tuple[str, ...]
) -> None:
    source = EXAMPLES / "1.0.0" / "orders_refund.yaml"
    file = tmp_path / "again"
    assert here("export", source, "--to", *form, "--out", file).code == 0
    first = here("import", source, "-o", "json").json["accepted"][0]
    again = here("import", file, "-o", "json").json["accepted"][0]
    assert again["contract_digest"] == first["contract_digest"]


def test_an_export_says_what_the_client_is_not_shown(here: Govctl, tmp_path: Path) -> None:
    tools, guide = tmp_path / "skills" / "tools.json", tmp_path / "skills" / "SKILL.md"
    tools.parent.mkdir()
    tools.write_text(json.dumps([{"name": "a", "inputSchema": {**SCHEMA, "anyOf": [{"required": ["q"]}]}}]))
    guide.write_text("---\nname: guide\ndescription: Plans work.\n---\n")
    done = here("export", tools.parent, "--to", "openai")
    assert done.code == 0
    assert [tool["function"]["name"] for tool in done.json["tools"]] == ["a"]
    assert "note: guide has no input schema and is left out" in done.err
    assert "note: a: anyOf at the root is not taken" in done.err
    assert "note" not in here("export", tools.parent, "--to", "openai", "--quiet").err
    assert here("export", guide, "--to", "anthropic").code != 0


def test_diff_of_two_files_tells_the_verdict_by_its_exit_code(here: Govctl, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"name": "a", "inputSchema": SCHEMA}))
    new.write_text(json.dumps({"name": "a", "inputSchema": {**SCHEMA, "required": ["q"]}}))
    assert here("diff", old, new).code == 1
    assert here("diff", old, new, "--fail-on", "never").code == 0
    assert here("diff", new, old).code == 0
    same = here("diff", old, old, "-o", "json")
    assert (same.code, same.json["verdict"], same.json["bump"]) == (0, "compatible", "none")


def test_diff_says_which_side_is_no_contract(here: Govctl, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"name": "a", "inputSchema": SCHEMA}))
    new.write_text(json.dumps({"name": "a", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}))
    done = here("diff", old, new, "-o", "json")
    assert done.code == 1
    assert (done.json["verdict"], done.json["invalid_side"]) == ("invalid", "new")


def test_diff_of_bare_schemas_reads_yaml_and_standard_input(govctl: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text("type: integer\n")
    done = govctl("diff", file, "-", "--side", "input", "-o", "json", stdin=b'{"type": "number"}')
    assert (done.code, done.json["verdict"]) == (0, "compatible")
    assert govctl("diff", file, "-", "--side", "output", stdin=b'{"type": "number"}').code == 1


def test_an_undecided_pair_alone_ends_with_3(here: Govctl, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"type": "string", "pattern": "^(a)\\1$"}))
    new.write_text(json.dumps({"type": "string", "pattern": "^(b|a)\\1$"}))
    done = here("diff", old, new, "--side", "input", "-o", "json")
    assert done.json["verdict"] == "undecided"
    assert done.json["reason"]
    assert done.code == 3
    assert here("diff", old, new, "--side", "input", "--fail-on", "breaking").code == 0


def test_every_code_there_is_can_be_explained(here: Govctl) -> None:
    known = explanations()
    assert {one.kind for one in known.values()} >= {"finding", "lint", "gate reason", "error"}
    done = here("explain", "input.became-required", "-o", "json")
    assert done.json["example"]["new"]["required"]
    listed = here("explain", "-o", "jsonl").lines
    assert {one["code"] for one in listed} == set(known)


def test_an_unknown_code_names_the_near_ones(here: Govctl) -> None:
    done = here("explain", "input.became-requird")
    assert done.code == 2
    assert "input.became-required" in done.err
