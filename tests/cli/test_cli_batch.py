"""``govctl diff --batch``: every line is answered, in order, exactly, and no line takes the run down."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import GOVCTL, Govctl

OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
REQUIRED = {**OPEN, "required": ["a"]}


def tool(schema: Any, **more: Any) -> dict[str, Any]:
    return {"description": "Does a thing.", "inputSchema": schema, "outputSchema": None, **more}


def pair(old: Any, new: Any, **more: Any) -> bytes:
    return json.dumps({"id": "p", "old": old, "new": new, **more}).encode() + b"\n"


def test_a_break_is_answered_with_its_bump_and_a_payload_that_shows_it(govctl: Govctl) -> None:
    done = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=pair(tool(OPEN), tool(REQUIRED)))
    (answer,) = done.lines
    assert done.code == 0
    assert (answer["id"], answer["verdict"], answer["bump"]) == ("p", "breaking", "major")
    assert answer["level"] == "breaking_change"
    assert answer["witness"]["payload"] == {}
    assert (answer["witness"]["accepted_by"], answer["witness"]["refused_by"]) == ("old", "new")
    assert answer["findings"][0]["code"] == "input.became-required"
    assert isinstance(answer["micros"], int)


def test_compatible_answers_have_no_witness_and_say_which_bump(govctl: Govctl) -> None:
    stdin = pair(tool(REQUIRED), tool(OPEN)) + pair(tool(OPEN), tool(OPEN))
    wider, same = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=stdin).lines
    assert (wider["verdict"], wider["bump"]) == ("compatible", "minor")
    assert (same["verdict"], same["bump"]) == ("compatible", "none")
    assert "witness" not in wider


def test_below_one_a_break_needs_a_minor_only(govctl: Govctl) -> None:
    stdin = pair(tool(OPEN), tool(REQUIRED), old_version="v0.4.1", new_version="0.5.0", tool="x", source="ignored")
    (answer,) = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=stdin).lines
    assert answer["bump"] == "minor"


def test_a_tool_that_came_or_went_is_null(govctl: Govctl) -> None:
    stdin = pair(None, tool(OPEN)) + pair(tool(OPEN), None)
    added, removed = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=stdin).lines
    assert added["verdict"] == "compatible"
    assert removed["verdict"] == "breaking"


def test_an_invalid_contract_says_which_side_and_does_not_count_as_a_bad_line(govctl: Govctl) -> None:
    stdin = pair(tool(OPEN), tool({"$schema": "http://json-schema.org/draft-07/schema#"})) + pair(
        tool({"type": "object", "required": 5}), tool(OPEN)
    )
    done = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=stdin)
    new, old = done.lines
    assert done.code == 0
    assert (new["verdict"], new["invalid_side"]) == ("invalid", "new")
    assert (old["verdict"], old["invalid_side"]) == ("invalid", "old")


def test_bad_lines_are_answered_in_place_and_end_the_run_with_7(govctl: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(
        pair(tool(OPEN), tool(OPEN))
        + b'{"id": "cut", "old": {\n'
        + b"\n"
        + b'{"id": 4, "old": {}}\n'
        + b'{"id": "twice", "id": "twice", "old": null, "new": {}}\n'
        + b"[]\n"
        + b"\x00\xff\n"
        + pair(tool(OPEN), tool(REQUIRED))
    )
    done = govctl("diff", "--batch", file, "-o", "jsonl")
    assert done.code == 7
    assert [answer["verdict"] for answer in done.lines] == ["compatible", *["invalid"] * 5, "breaking"]
    bad = [answer for answer in done.lines if "line" in answer]
    assert [answer["line"] for answer in bad] == [2, 4, 5, 6, 7]
    assert [answer["id"] for answer in bad] == ["cut", 4, "twice", None, None]
    assert all(answer["error"] and set(answer) == {"id", "line", "verdict", "error"} for answer in bad)
    assert "Traceback" not in done.err


def hostile() -> list[bytes]:
    deep = b'{"not":' * 10_000 + b"{}" + b"}" * 10_000
    unions = [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(18)]
    patterns = {f"^a{i}.*b{i}$": {"type": "integer", "minimum": i} for i in range(200)}
    return [
        b'{"id": "deep", "old": {"inputSchema": ' + deep + b'}, "new": null}\n',
        b'{"id": "brackets", "old": ' + b"[" * 100_000 + b"\n",
        b'{"id": "surrogate", "old": {"inputSchema": {"type": "object", "const": "\\ud800"}}, "new": null}\n',
        b'{"id": "digits", "old": {"inputSchema": {"const": ' + b"9" * 50_000 + b'}}, "new": null}\n',
        b'{"id": "types", "old": 5, "new": [true]}\n',
        pair(tool({"type": "object", "allOf": unions}), tool({"type": "object", "allOf": unions[:17]})),
        pair(tool({"type": "object", "patternProperties": patterns}), tool({"type": "object"})),
        pair(tool({"type": "object"}), tool({"type": "object", "patternProperties": patterns})),
        pair(tool({"type": "object", "$ref": "#/$defs/x"}), tool(OPEN)),
        pair(tool({"type": "object", "allOf": [{"$ref": "#"}]}), tool(OPEN)),
        pair(tool({**OPEN, "$ref": "http://127.0.0.1:9/never"}), tool(OPEN)),
        pair(tool({"type": "object", "properties": {"a\u0000": {"pattern": "(a+)+$"}}}), tool(OPEN)),
        pair(tool({"type": "object", "minProperties": 10**300}), tool({"type": "object", "minProperties": 10**301})),
    ]


def test_hostile_lines_cost_a_bounded_time_and_the_next_pair_is_still_decided(govctl: Govctl) -> None:
    lines = hostile()
    done = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=b"".join(lines) + pair(tool(OPEN), tool(REQUIRED)))
    assert len(done.lines) == len(lines) + 1
    assert done.lines[-1]["verdict"] == "breaking"
    assert done.code == 7
    assert "internal" not in done.out
    assert "Traceback" not in done.err


def test_numbers_past_double_precision_survive_the_answer(govctl: Govctl) -> None:
    line = b'{"id": 1e400, "old": {"const": 0.1000000000000000055}, "new": {"const": 123456789012345678901234567890}}\n'
    done = govctl("diff", "--batch", "-", "--side", "input", "-o", "jsonl", stdin=line)
    assert '"id":1E+400' in done.out
    assert "0.1000000000000000055" in done.out


def test_bare_schemas_of_two_drafts_and_any_kind_are_compared_with_a_side(govctl: Govctl) -> None:
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "number",
        "minimum": 0,
        "exclusiveMinimum": True,
    }
    stdin = pair(old, {"exclusiveMinimum": 0, "type": "number"}) + pair(True, False) + pair(False, True)
    same, closed, opened = govctl("diff", "--batch", "-", "--side", "input", "-o", "jsonl", stdin=stdin).lines
    assert same["verdict"] == "compatible"
    assert closed["verdict"] == "breaking"
    assert opened["verdict"] == "compatible"
    (reverse,) = govctl("diff", "--batch", "-", "--side", "output", "-o", "jsonl", stdin=pair(False, True)).lines
    assert reverse["verdict"] == "breaking"


@pytest.mark.parametrize("reading", ["default", "strict"])
def test_the_reading_decides_about_an_optional_field_in_an_open_object(govctl: Govctl, reading: str) -> None:
    more = {"type": "object", "properties": {**OPEN["properties"], "b": {"type": "string"}}}  # type: ignore[dict-item]
    stdin = pair(tool(OPEN), tool(more))
    (answer,) = govctl("diff", "--batch", "-", "--reading", reading, "-o", "jsonl", stdin=stdin).lines
    assert answer["verdict"] == ("compatible" if reading == "default" else "breaking")


@pytest.mark.parametrize("wanted", ["json", "text", "markdown"])
def test_other_formats_stream_too(govctl: Govctl, wanted: str) -> None:
    stdin = pair(tool(OPEN), tool(REQUIRED)) + b"junk\n"
    done = govctl("diff", "--batch", "-", "-o", wanted, stdin=stdin)
    assert done.code == 7
    if wanted == "json":
        assert [answer["verdict"] for answer in done.json] == ["breaking", "invalid"]
    else:
        assert len(done.out.splitlines()) == 2
        assert "input.became-required" in done.out


def test_several_files_name_themselves_in_bad_lines(govctl: Govctl, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"junk\n")
    done = govctl("diff", "--batch", "a.jsonl", "b.jsonl", "-o", "jsonl", cwd=tmp_path)
    assert [(answer["file"], answer["line"]) for answer in done.lines] == [("a.jsonl", 1), ("b.jsonl", 1)]


def test_a_line_past_the_limit_is_refused_and_the_rest_goes_on(govctl: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    with file.open("wb") as stream:
        stream.write(b'{"id": "big", "old": null, "new": "')
        for _ in range(17):
            stream.write(b"x" * 1024 * 1024)
        stream.write(b'"}\n' + pair(tool(OPEN), tool(OPEN)))
    done = govctl("diff", "--batch", file, "-o", "jsonl")
    big, after = done.lines
    assert (big["id"], big["line"], big["verdict"]) == ("big", 1, "invalid")
    assert after["verdict"] == "compatible"


def test_a_bar_is_drawn_on_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(pair(tool(OPEN), tool(OPEN)) * 3)
    master, slave = pty.openpty()
    with (tmp_path / "out").open("wb") as out:
        words = [GOVCTL, "diff", "--batch", file, "-o", "jsonl"]
        process = subprocess.Popen(words, stdout=out, stderr=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    drawn = b""
    with contextlib.suppress(OSError):  # a terminal whose other end closed
        while chunk := os.read(master, 65536):
            drawn += chunk
    os.close(master)
    assert process.wait(timeout=60) == 0
    assert b"comparing" in drawn
    assert b"\x1b" not in (tmp_path / "out").read_bytes()


def test_ctrl_c_ends_a_run_with_130_after_whole_lines(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [GOVCTL, "diff", "--batch", "-", "-o", "jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(pair(tool(OPEN), tool(REQUIRED)))
    process.stdin.flush()
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert json.loads(first)["verdict"] == "breaking"
    assert rest == b""
    assert process.returncode == 130


def test_a_file_that_is_not_there_is_a_usage_error(govctl: Govctl) -> None:
    assert govctl("diff", "--batch", "nowhere.jsonl").code == 2


def test_names_that_both_tools_say_and_that_differ_are_a_break(govctl: Govctl) -> None:
    named = [tool(OPEN, name=name) for name in ("get_user", "fetch_user")]
    stdin = pair(*named) + pair(named[0], tool(OPEN)) + pair(tool(OPEN), named[1], name="get_user")
    renamed, *unknown = govctl("diff", "--batch", "-", "-o", "jsonl", stdin=stdin).lines
    assert (renamed["verdict"], renamed["bump"]) == ("breaking", "major")
    assert [finding["code"] for finding in renamed["findings"]] == ["contract.tool-renamed"]
    assert [one["verdict"] for one in unknown] == ["compatible", "compatible"]
