"""Consumers, environments and deployments on the command line, from a registration to a refused deployment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Govctl
from tests.cli.test_cli_registry import SCHEMA, write_tools

NARROWER = {**SCHEMA, "required": ["q"]}


@pytest.fixture
def crm(registry: Govctl, tmp_path: Path) -> Govctl:
    """crm.find 1.0.0 and, behind a break, 2.0.0."""
    for version, schema in (("1.0.0", SCHEMA), ("2.0.0", NARROWER)):
        file = write_tools(tmp_path / "tools.json", find=schema)
        assert registry("publish", file, "--namespace", "crm", "--version", version, "--owner", "crm").code == 0
    return registry


def test_a_consumer_is_registered_from_a_file_or_by_flags_and_found_again(crm: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(
        "name: agents/one\nowner: team-one\ndescription: Answers mail.\nneeds:\n"
        "  - {skill: crm.find, range: ^1, environments: [prod], sends: [/q]}\n  - {skill: crm.later}\n"
    )
    done = crm("consumer", "register", file)
    assert (done.code, done.out.split()[0]) == (0, "REGISTERED")
    assert "crm.later is not published yet" in done.err
    assert "crm.find is" not in done.err
    assert crm("consumer", "register", "agents/two", "--need", "crm.find@>=1", "--owner", "team-two").code == 0
    listed = crm("consumer", "list", "--skill", "crm.find", "--environment", "prod", "-o", "json").json["consumers"]
    assert [(one["name"], one["owner"]) for one in listed] == [("agents/one", "team-one"), ("agents/two", "team-two")]
    shown = crm("consumer", "show", "agents/one", "-o", "json").json
    assert [(one["skill"], one["environment"], one["sends"]) for one in shown["needs"]] == [
        ("crm.find", "prod", ["/q"]),
        ("crm.later", None, None),
    ]
    assert "(bare name)" in crm("consumer", "show", "agents/one").out
    assert crm("consumer", "show", "nobody").code == 2


def test_what_is_no_consumer_is_a_usage_error(crm: Govctl, tmp_path: Path) -> None:
    nameless = tmp_path / "agent.json"
    nameless.write_text(json.dumps({"needs": []}))
    assert crm("consumer", "register", nameless).code == 2
    nameless.write_text(json.dumps({"name": "one", "needs": [{"skill": "crm.find", "rang": "^1"}]}))
    assert "rang" in crm("consumer", "register", nameless).err
    assert crm("consumer", "register", nameless, "--owner", "x").code == 2
    assert crm("consumer", "register", "one").code == 2
    assert crm("consumer", "register", "one", "--need", "crm.find@>=banana").code == 2
    assert crm("consumer", "register", "one", "--need", "a.b", "--need", "a.c", "--reads", "/x").code == 2
    assert crm("consumer", "register").code == 2


def test_what_runs_where_is_on_record_and_a_protected_environment_refuses(crm: Govctl) -> None:
    assert crm("deployment", "record", "crm.find@1.0.0", "--env", "prod").code == 2
    assert "protected" in crm("environment", "set", "prod", "--protected", "--description", "For all.").out
    assert crm("environment", "set", "prod", "-o", "json").json == crm("environment", "set", "prod", "-o", "json").json
    assert crm("consumer", "register", "agents/one", "--need", "crm.find@>=1").code == 0
    first = crm("deployment", "record", "crm.find@1.0.0", "--env", "prod", "--reason", "first")
    assert (first.code, first.out.splitlines()[0]) == (0, "ON RECORD  crm.find 1.0.0 runs in prod.")
    refused = crm("deployment", "record", "crm.find@2.0.0", "--env", "prod")
    assert (refused.code, "agents/one" in refused.out) == (1, True)
    assert crm("environment", "set", "prod", "--no-protected").code == 0
    assert "in the place of 1.0.0" in crm("deployment", "record", "crm.find@2.0.0", "--env", "prod").out
    assert "2.0.0" in crm("environment", "show", "prod").out
    assert [one["name"] for one in crm("environment", "list", "-o", "jsonl").lines] == ["prod"]
    assert "1 deployment" in crm("deployment", "end", "crm.find", "--env", "prod").out
    assert crm("deployment", "list", "--env", "prod", "-o", "jsonl").lines == []
    history = crm("deployment", "list", "--env", "prod", "--all", "-o", "jsonl").lines
    assert [one["version"] for one in history] == ["2.0.0", "1.0.0"]
    assert crm("environment", "show").code == 2
    assert crm("deployment", "end", "--env", "prod").code == 2


def test_tests_go_on_record_for_what_is_published_and_for_what_lies_in_files(crm: Govctl, tmp_path: Path) -> None:
    done = crm("attestation", "record", "crm.find@1.0.0", "--passed", "3", "--source", "https://ci.example/1")
    assert (done.code, done.out.splitlines()[0]) == (0, "ON RECORD  1 contract: 3 passed, 0 failed.")
    file = write_tools(tmp_path / "next.json", find=SCHEMA, other=SCHEMA)
    words = ("attestation", "record", file, "--namespace", "crm", "--passed", "5", "-o", "json")
    made = crm(*words).json["attestations"]
    assert [one["skill"] for one in made] == ["crm.find", "crm.other"]
    listed = crm("attestation", "list", "crm.find", "-o", "jsonl").lines
    assert [(one["passed"], one["contract_digest"]) for one in listed] == [
        (5, made[0]["contract_digest"]),
        (3, made[0]["contract_digest"]),
    ]
    assert crm("attestation", "record", "crm.find@1.0.0").code == 2
    assert crm("attestation", "record", "crm.find", "--passed", "1").code == 2
    assert crm("attestation", "record", "crm.find@9.0.0", "--passed", "1").code == 2
