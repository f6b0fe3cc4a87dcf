"""Payloads are a product: shown, picked by the finding's name, exported as lines and as tests that run."""

from __future__ import annotations

import ast
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.cli.pytest_file import pytest_file
from governance.cli.witnesses import Shown
from governance.client import ControlPlane
from governance.control.serving import serving
from governance.control.settings import Settings
from tests.cli.conftest import Govctl

OLD_INPUT = {
    "type": "object",
    "properties": {"qty": {"type": "integer", "minimum": 1}, "file": {"type": "string", "pattern": r"^[\w-.]*$"}},
}
NEW_INPUT = {
    "type": "object",
    "properties": {"qty": {"type": "integer", "minimum": 5}, "file": {"type": "string", "pattern": r"^[\w-.]+$"}},
}
OLD_OUTPUT = {"type": "object", "properties": {"state": {"enum": ["open", "'''\"\"\"\\"]}}, "required": ["state"]}
NEW_OUTPUT = {"type": "object", "properties": {"state": {"enum": ["open", "'''\"\"\"\\", "\u2028'; import os\n"]}}}


def tool(input_schema: Any, output_schema: Any, name: str = "createOrder") -> Any:
    return {"name": name, "description": "Order.", "inputSchema": input_schema, "outputSchema": output_schema}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    files = tmp_path / "old.json", tmp_path / "new.json"
    files[0].write_text(json.dumps({"tools": [tool(OLD_INPUT, OLD_OUTPUT), tool(True, True, "same")]}))
    files[1].write_text(json.dumps({"tools": [tool(NEW_INPUT, NEW_OUTPUT), tool(True, True, "same")]}))
    for file in files:
        file.write_text(file.read_text().replace('"inputSchema": true', '"inputSchema": {"type": "object"}'))
    return files


def run_tests(file: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", file.parent, file],
        cwd=file.parent,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stdout + done.stderr


def failing(file: Path) -> list[str]:
    """The tests of a file that fail when they are called in this process, which takes no second."""
    names = {name: test for name, test in runpy.run_path(str(file)).items() if name.startswith("test_")}
    assert names

    def fails(test: Callable[[], None]) -> bool:
        try:
            test()
        except AssertionError:
            return True
        return False

    return [name for name, test in names.items() if fails(test)]


def test_each_payload_stands_with_who_accepts_it_and_who_refuses_it(here: Govctl, pair: tuple[Path, Path]) -> None:
    done = here("witness", *pair)
    assert done.code == 0, done.err
    assert done.out.startswith("WITNESS  4 payloads")
    for line in ("accepted: by the old input", "refused:  by the new input", "accepted: by the new output"):
        assert line in done.out
    assert "because:  1 is less than the minimum of 5 (at /qty)" in done.out


def test_the_document_holds_what_the_export_holds(here: Govctl, pair: tuple[Path, Path], tmp_path: Path) -> None:
    shown = here("witness", *pair, "-o", "json").json["witnesses"]
    done = here("witness", *pair, "--export", "jsonl", "--out", tmp_path / "payloads.jsonl")
    assert done.code == 0
    assert done.out == ""
    lines = [json.loads(line) for line in (tmp_path / "payloads.jsonl").read_text().splitlines()]
    assert lines == shown == here("witness", *pair, "-o", "jsonl").lines
    by_code = {line["code"]: line for line in lines}
    raised = by_code["input.minimum-raised"]
    assert raised["payload"] == {"qty": 1}
    assert (raised["side"], raised["accepted_by"], raised["refused_by"]) == ("input", "old", "new")
    assert set(raised["schemas"]) == {"old", "new"}
    assert len({json.dumps(line["schemas"]) for line in lines}) == 2
    diff = here("diff", *pair, "-o", "json").json
    names = {f["fingerprint"] for s in diff["skills"] for f in s["findings"] if "witness" in f}
    assert {line["fingerprint"] for line in lines} == names


def test_the_exported_tests_pass_for_both_sides(here: Govctl, pair: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "tests" / "test_contract.py"
    file.parent.mkdir()
    assert here("witness", *pair, "--export", "pytest", "--out", file).code == 0
    assert run_tests(file).startswith("4 passed")
    text = file.read_text()
    assert text.isascii()
    assert "governance" not in text
    assert "def test_the_new_input_of_create_order_refuses_what_the_old_one_accepts_minimum_raised() -> None:" in text
    assert "def test_the_old_output_of_create_order_refuses_what_the_new_one_accepts_enum_widened() -> None:" in text


def test_the_exported_tests_fail_once_a_contract_takes_the_payload_again(
    here: Govctl, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "tests" / "test_contract.py"
    file.parent.mkdir()
    here("witness", *pair, "--export", "pytest", "--out", file)
    assert failing(file) == []
    file.write_text(file.read_text().replace('"minimum": 5', '"minimum": 1'))
    (name,) = failing(file)
    assert name.endswith("minimum_raised")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("10000000000000000000000000000001", "10000000000000000000000000000000"),
        ("1e400", "1e399"),
        ("0.1000000000000000055", "0.1"),
        ("-3", "-4"),
    ],
)
def test_numbers_stay_exact_in_every_export(here: Govctl, tmp_path: Path, old: str, new: str) -> None:
    files = tmp_path / "old.json", tmp_path / "new.json"
    for file, bound in zip(files, (old, new), strict=True):
        file.write_text(f'{{"$schema": "http://json-schema.org/draft-07/schema#", "maximum": {bound}}}')
    words = ("witness", *files, "--side", "input")
    (line,) = here(*words, "--export", "jsonl").out.splitlines()
    payload = json.loads(line, parse_float=Decimal, parse_int=Decimal)["payload"]
    assert Decimal(new) < payload <= Decimal(old)
    test = tmp_path / "tests" / "test_bound.py"
    test.parent.mkdir()
    assert here(*words, "--export", "pytest", "--out", test).code == 0
    assert "Draft7Validator" in test.read_text()
    assert failing(test) == []


TEXT = st.text(st.sampled_from("'\"\\\n\r\t\0{}()#;: aé😀\u2028\u202e\x7f\ud800") | st.characters(), max_size=30)


@given(skill=TEXT, code=TEXT, message=TEXT, field=TEXT, value=TEXT)
def test_no_text_of_a_contract_becomes_code(skill: str, code: str, message: str, field: str, value: str) -> None:
    old, new = {"properties": {field: True}}, {"properties": {field: {"not": {"const": value}}}}
    payload = {field: value}
    finding = {
        "code": f"input.{code}", "message": message, "fingerprint": "0" * 16,
        "witness": {"side": "input", "payload": payload, "accepted_by": "old", "refused_by": "new", "errors": []},
    }  # fmt: skip
    shown = Shown(skill=skill, finding=finding, old=old, new=new)
    text, left_out = pytest_file([shown, shown], assert_formats=False)
    assert text.isascii()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert [type(node).__name__ for node in ast.parse(text).body[:1]] == ["Expr"]
    if any("\ud800" <= char <= "\udfff" for char in field + value):
        assert len(left_out) == 2
        return
    assert left_out == []
    first, second = functions[3:]
    assert first.name != second.name
    assert [type(node).__name__ for node in first.body] == ["Expr", "Assign", "Assert", "Assert"]
    (call,) = (node.value for node in first.body if isinstance(node, ast.Assign))
    assert isinstance(call, ast.Call)
    assert isinstance(call.args[0], ast.Constant)
    assert json.loads(str(call.args[0].value)) == payload


@pytest.fixture
def secretive(tmp_path: Path) -> tuple[Path, Path]:
    """Only one of the two breaks can be shown without a sensitive value."""

    def schema(kind: str, *values: str) -> dict[str, Any]:
        key = {"x-sensitive": True, "enum": list(values)}
        return {"type": "object", "properties": {"key": key, "qty": {"type": kind}}}

    files = tmp_path / "old.json", tmp_path / "new.json"
    files[0].write_text(json.dumps(schema("number", "HUNTER3a", "HUNTER3b")))
    files[1].write_text(json.dumps(schema("integer", "HUNTER3b")))
    return files


def test_a_payload_that_needs_a_sensitive_value_is_shown_hidden_and_exported_by_name_alone(
    here: Govctl, secretive: tuple[Path, Path], tmp_path: Path
) -> None:
    words = ("witness", *secretive, "--side", "input")
    shown = here(*words)
    assert "hidden:" in shown.out
    assert "HUNTER3a" not in shown.out
    every = {one["code"]: one for one in here(*words, "-o", "json").json["witnesses"]}
    hiding = every["input.enum-narrowed"]["fingerprint"]

    lines = here(*words, "--export", "jsonl")
    assert [one["code"] for one in lines.lines] == ["input.type-narrowed"]
    assert f"{hiding} is left out: its payload needs a value marked x-sensitive" in lines.err

    file = tmp_path / "tests" / "test_contract.py"
    file.parent.mkdir()
    tests = here(*words, "--export", "pytest", "--out", file)
    assert tests.code == 0
    assert f"{hiding} is left out" in tests.err
    assert "1 payload written" in tests.err
    assert failing(file) == []
    assert f"({hiding})" in file.read_text().rpartition("# Without a test")[2]


def test_tests_of_nothing_but_sensitive_values_are_not_written(here: Govctl, secretive: tuple[Path, Path]) -> None:
    old, new = (json.loads(file.read_text()) for file in secretive)
    new["properties"]["qty"] = old["properties"]["qty"]
    secretive[1].write_text(json.dumps(new))
    done = here("witness", *secretive, "--side", "input", "--export", "pytest")
    assert done.code == 2
    assert "x-sensitive" in done.err
    assert here("witness", *secretive, "--side", "input", "--export", "jsonl").out == ""


def test_one_finding_is_picked_by_its_name_or_a_beginning_of_it(here: Govctl, pair: tuple[Path, Path]) -> None:
    every = here("witness", *pair, "-o", "json").json["witnesses"]
    wanted = every[0]["fingerprint"]
    for name in (wanted, wanted[:6]):
        assert here("witness", name, *pair, "-o", "json").json["witnesses"] == every[:1]
    missing = here("witness", "0" * 16, *pair)
    assert missing.code == 2
    assert wanted in missing.err


def test_reports_of_diff_and_of_batches_give_their_payloads_back(
    here: Govctl, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    from_contracts = here("witness", *pair, "-o", "json").json["witnesses"]
    for format in ("json", "jsonl"):
        report = tmp_path / f"report.{format}"
        here("diff", *pair, "-o", format, "--out", report)
        told = here("witness", "--in", report, "-o", "json").json["witnesses"]
        assert [(one["fingerprint"], one["payload"]) for one in told] == [
            (one["fingerprint"], one["payload"]) for one in from_contracts
        ]
        assert {one["skill"] for one in told} == {"create_order"}
    name = from_contracts[0]["fingerprint"]
    (one,) = here("witness", name, "--in", report, "--export", "jsonl").lines
    assert one["fingerprint"] == name
    refused = here("witness", "--in", report, "--export", "pytest")
    assert refused.code == 2
    assert "OLD and NEW" in refused.err


def test_a_stored_check_gives_its_payloads_back(
    settings: Settings, here: Govctl, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(settings) as ready:
        monkeypatch.setenv("GOVCTL_SERVER", ready.address)
        monkeypatch.setenv("GOVCTL_TOKEN", ready.token)
        assert here("publish", pair[0], "--version", "1.0.0").code == 0
        candidate = {
            "name": "create_order", "version": "1.1.0", "description": "Order.", "timeout_sec": 1,
            "input_schema": NEW_INPUT, "output_schema": NEW_OUTPUT, "compatibility": "breaking_change",
        }  # fmt: skip
        with ControlPlane(ready.address, ready.token) as plane:
            check = plane.check([candidate])
        told = here("witness", "--in", check.id, "-o", "json")
        assert told.code == 0, told.err
        codes = {one["code"]: one for one in told.json["witnesses"]}
        assert codes["input.minimum-raised"]["payload"] == {"qty": 1}
        assert codes["input.minimum-raised"]["against"] == "1.0.0"


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        '{"witness": {"payload": 1}, "fingerprint": []}',
        '[{"code": "a", "level": "x", "message": "", "fingerprint": "", "reading": "", "witness": {"payload": 1}}]',
        "3",
        '{"findings": [{"witness": null}]}',
    ],
)
def test_a_foreign_report_holds_no_payloads_and_does_no_harm(here: Govctl, tmp_path: Path, document: str) -> None:
    report = tmp_path / "report.json"
    report.write_text(document)
    done = here("witness", "--in", report, "-o", "json")
    assert done.code == 0, done.err
    assert done.json == {"witnesses": []}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("old.json",),
        ("not-a-name", "old.json", "new.json"),
        ("--in", "report.json", "old.json", "new.json"),
        ("old.json", "new.json", "--export", "jsonl", "-o", "json"),
        ("old.json", "new.json", "--export", "jsonl", "--out", "a", "--out", "b"),
        ("old.json", "new.json", "--export", "xml"),
        ("old.json", "gone.json"),
        ("--in", "gone.jsonl"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(
    here: Govctl, pair: tuple[Path, Path], tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "report.json").write_text("{}")
    done = here("witness", *words)
    assert done.code == 2
    assert "→" in done.err


def test_where_nothing_separates_them_it_says_so(here: Govctl, pair: tuple[Path, Path]) -> None:
    done = here("witness", pair[0], pair[0])
    assert done.code == 0
    assert done.out.startswith("WITNESS  no payload")
    tests = here("witness", pair[0], pair[0], "--export", "pytest")
    assert tests.code == 2
    assert here("witness", pair[0], pair[0], "--export", "jsonl").out == ""


def test_an_invalid_side_is_named_and_fails(here: Govctl, pair: tuple[Path, Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"type": 3}')
    (tmp_path / "good.json").write_text("{}")
    done = here("witness", tmp_path / "good.json", bad, "--side", "input")
    assert done.code == 1
    assert "the new side is no contract" in done.out


def test_the_strict_reading_shows_payloads_that_no_ordinary_sender_sends(here: Govctl, tmp_path: Path) -> None:
    for file, names in (("old.json", "a"), ("new.json", "ab")):
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        (tmp_path / file).write_text(json.dumps(schema))
    words = ("witness", tmp_path / "old.json", tmp_path / "new.json", "--side", "input", "-o", "json")
    assert here(*words).json == {"witnesses": []}
    (strict,) = here(*words, "--reading", "strict").json["witnesses"]
    assert strict["reading"] == "strict"
    assert list(strict["payload"]) == ["b"]
