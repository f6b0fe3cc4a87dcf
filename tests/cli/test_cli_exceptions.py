"""An exception on the command line, from the check that blocks to the reports that tell why it passes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Govctl
from tests.cli.test_cli_registry import SCHEMA, write_tools

NARROWER = {**SCHEMA, "required": ["q"]}


@pytest.fixture
def blocked(registry: Govctl, tmp_path: Path) -> Path:
    """A file that the registry refuses as 1.1.0, for what it requires since 1.0.0."""
    file = write_tools(tmp_path / "tools.json", find=SCHEMA)
    assert registry("publish", file, "--namespace", "crm", "--version", "1.0.0").code == 0
    return write_tools(file, find=NARROWER)


def approved(registry: Govctl, blocked: Path, *terms: str) -> str:
    """The id of an exception for all that blocks, asked for and approved by different people."""
    words = ("check", blocked, "--namespace", "crm", "--version", "1.1.0")
    decision = registry(*words, "-o", "json").json["decisions"][0]
    asked = registry(
        "exception",
        "add",
        decision["check"],
        *decision["surroundings"],
        "--reason",
        "all send q",
        "--days",
        "7",
        *terms,
        "-o",
        "json",
    )
    assert asked.code == 0, asked.err
    token = registry("token", "create", "boss", "--grant", "approver", "-o", "json").json["token"]
    assert registry("exception", "approve", asked.json["id"]).code == 4
    assert registry("exception", "approve", asked.json["id"], "--token", token).code == 0
    return str(asked.json["id"])


def test_a_blocked_check_says_how_an_exception_is_asked_for(registry: Govctl, blocked: Path) -> None:
    done = registry("check", blocked, "--namespace", "crm", "--version", "1.1.0")
    assert done.code == 1
    (line,) = [line.strip() for line in done.out.splitlines() if "govctl exception add" in line]
    words = line[line.index("exception add") :].replace("WHY", "all-send-q").split()
    asked = registry(*words)
    assert (asked.code, asked.out.split()[0]) == (0, "PROPOSED")
    helped = registry("exception", "add", words[2])
    assert helped.code == 2
    assert words[3] in helped.err


def test_what_passes_by_an_exception_is_told_in_every_report(registry: Govctl, blocked: Path, tmp_path: Path) -> None:
    exception = approved(registry, blocked)
    reports = {one: tmp_path / f"report.{one}" for one in ("sarif", "junit", "markdown", "text", "github")}
    outs = [word for one, path in reports.items() for word in ("-o", one, "--out", str(path))]
    done = registry("check", blocked, "--namespace", "crm", "--version", "1.1.0", *outs)
    assert done.code == 0
    results = json.loads(reports["sarif"].read_text())["runs"][0]["results"]
    (found,) = [one for one in results if one["ruleId"] == "input.became-required"]
    assert found["level"] == "warning"
    assert found["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": f"{exception}: all send q"}
    ]
    suites = ElementTree.fromstring(reports["junit"].read_text())
    assert suites.get("failures") == "0"
    for name, path in reports.items():
        assert exception in path.read_text().replace("\\", ""), name
    assert registry("publish", blocked, "--namespace", "crm", "--version", "1.1.0").code == 0
    assert registry("exception", "show", exception, "-o", "json").json["uses"] == 1


def test_exceptions_are_listed_by_state_and_revoked_with_a_reason(registry: Govctl, blocked: Path) -> None:
    assert registry("environment", "set", "prod").code == 0
    exception = approved(registry, blocked, "--max-uses", "2", "--environment", "prod")
    listed = registry("exception", "list", "--state", "in_force", "--ending", "8")
    assert exception in listed.out
    assert "environment prod" in listed.out
    assert "0 of 2" in listed.out
    assert registry("exception", "list", "--skill", "crm.other", "-o", "json").json["exceptions"] == []
    assert registry("exception", "revoke", exception).code == 2
    assert registry("exception", "revoke", exception, "--reason", "no more").out.startswith("REVOKED")
    assert registry("exception", "list", "--state", "in_force", "-o", "jsonl").lines == []


def test_what_is_no_exception_is_a_usage_error(registry: Govctl) -> None:
    assert registry("exception", "show").code == 2
    assert registry("exception", "show", "exc_" + "0" * 16).code == 2
    assert registry("exception", "approve", "nonsense").code == 2
    assert registry("exception", "add", "chk_" + "0" * 24, "f" * 16, "--reason", "r", "--days", "1").code == 2
