"""Kinds of fault that people reported of tool servers, registries and range parsers, with the right answers.

The minimal inputs are ours; each test names the kind it stands for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Govctl


def tool(name: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "Find something. Use it to look things up.", "inputSchema": schema, **more}


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def diffed(govctl: Govctl, old: Any, new: Any, side: str, reading: str = "default") -> dict[str, Any]:
    line = json.dumps({"id": 1, "old": old, "new": new})
    done = govctl("diff", "--batch", "-", "--side", side, "--reading", reading, "-o", "jsonl", stdin=line.encode())
    assert done.code == 0, done.err
    answer: dict[str, Any] = done.lines[0]
    return answer


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_rename_in_a_minor_is_a_removal_that_needs_a_major(govctl: Govctl, tmp_path: Path) -> None:
    old = written(tmp_path, "old.json", {"tools": [tool("a_get", OPEN)]})
    new = written(tmp_path, "new.json", {"tools": [tool("a", OPEN)]})
    done = govctl("check", new, "--against", old, "--old-version", "2.8.1", "--version", "2.9.0", "-o", "json")
    assert done.code == 1
    assert "contract.tool-renamed" in done.out
    assert "3.0.0" in done.out
    allowed = govctl("check", new, "--against", old, "--old-version", "2.8.1", "--version", "3.0.0")
    assert "a_get" in allowed.out


def test_a_schema_that_evaporated_is_invalid_and_no_widening(govctl: Govctl, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    gone = {"$schema": "http://json-schema.org/draft-07/schema#"}
    line = json.dumps({"id": "x", "old": tool("t", schema), "new": tool("t", gone)})
    done = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=line.encode())
    assert done.lines[0]["verdict"] == "invalid"
    assert done.lines[0]["invalid_side"] == "new"
    old = written(tmp_path, "old.json", {"tools": [tool("t", schema)]})
    new = written(tmp_path, "new.json", {"tools": [tool("t", gone)]})
    checked = govctl("check", new, "--against", old, "--old-version", "1.0.0", "--version", "2.0.0")
    assert checked.code == 1
    assert "object" in checked.out + checked.err


def test_recursion_ends_and_its_break_is_told_once(govctl: Govctl) -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    assert diffed(govctl, tree, dict(tree), "input")["verdict"] == "compatible"
    stricter = {**tree, "properties": {**tree["properties"], "id": {"type": "string"}}, "required": ["id"]}
    answer = diffed(govctl, tree, stricter, "input")
    assert [finding["code"] for finding in answer["findings"] if finding["level"] == "breaking"] == [
        "input.required-added"
    ]


def test_a_root_combinator_that_appears_breaks_the_empty_call_and_its_removal_breaks_nothing(govctl: Govctl) -> None:
    plain = {"type": "object", "properties": {"content": {"type": "string"}, "source_url": {"type": "string"}}}
    combined = {**plain, "anyOf": [{"required": ["content"]}, {"required": ["source_url"]}]}
    answer = diffed(govctl, plain, combined, "input")
    assert answer["verdict"] == "breaking"
    assert answer["witness"]["payload"] == {}
    assert diffed(govctl, combined, plain, "input")["verdict"] == "compatible"


def test_an_optional_field_added_to_an_open_object_is_no_break_unless_read_strictly(govctl: Govctl) -> None:
    more = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    assert diffed(govctl, OPEN, more, "input")["verdict"] == "compatible"
    strict = diffed(govctl, OPEN, more, "input", "strict")
    assert strict["verdict"] == "breaking"
    assert not isinstance(strict["witness"]["payload"]["b"], str)


def test_widening_a_request_and_narrowing_a_response_are_safe_and_the_other_way_round_they_break(
    govctl: Govctl,
) -> None:
    narrow, wide = {"type": "integer"}, {"oneOf": [{"type": "integer"}, {"type": "string"}]}
    assert diffed(govctl, narrow, wide, "input")["verdict"] == "compatible"
    assert diffed(govctl, wide, narrow, "output")["verdict"] == "compatible"
    assert diffed(govctl, wide, narrow, "input")["verdict"] == "breaking"
    assert diffed(govctl, narrow, wide, "output")["verdict"] == "breaking"


def test_a_range_never_takes_the_prerelease_of_the_next_major(govctl: Govctl) -> None:
    versions = ("2.1.0-pre.0", "2.0.0", "3.0.0-pre.0")
    done = govctl("range", "^2", *versions, "--include-prerelease", "-o", "json")
    assert done.json["best"] == "2.1.0-pre.0"
    assert "3.0.0-pre.0" not in done.json["matches"]


def test_front_matter_with_an_unquoted_colon_keeps_its_metadata_and_warns_where(govctl: Govctl, tmp_path: Path) -> None:
    text = "---\nname: planner\ndescription: Plan work: goals, risks\n---\n# Planner\n\nWrite the goals down first.\n"
    path = written(tmp_path, "SKILL.md", text)
    done = govctl("import", path, "-o", "json")
    assert done.code == 0, done.out + done.err
    assert "Plan work: goals, risks" in done.out
    assert "SKILL.md" in done.out + done.err
    shown = govctl("import", path)
    assert ":3" in shown.out + shown.err
