"""What a newcomer gets wrong is answered with the words that get it right."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from governance.cli.commands.demo import EXAMPLES
from governance.cli.terminal import counted
from governance.core.consent import Basis
from tests.cli.conftest import Govctl
from tests.cli.toollists import OLD, tools, write


@pytest.mark.parametrize("command", ["diff", "witness"])
def test_bare_schemas_are_told_the_flag_that_takes_them(here: Govctl, tmp_path: Path, command: str) -> None:
    schema = write(tmp_path / "schema.json", json.dumps(OLD))
    done = here(command, schema, schema)
    assert done.code == 2
    assert "--side input" in done.err
    assert here(command, schema, schema, "--side", "input").code == 0
    assert "--side" not in here(command, write(tmp_path / "other.json", '{"a": 1}'), schema.parent / "no.json").err


def test_bare_schemas_of_a_batch_are_told_the_flag_too(here: Govctl, tmp_path: Path) -> None:
    pair = {"id": 1, "old": OLD, "new": {"type": "object"}}
    done = here("diff", "--batch", write(tmp_path / "b.jsonl", json.dumps(pair)), "-o", "jsonl")
    assert "--side input or --side output" in done.lines[0]["reason"]
    tool = {"id": 1, "old": {"name": "a", "type": "function"}, "new": None}
    other = here("diff", "--batch", write(tmp_path / "c.jsonl", json.dumps(tool)), "-o", "jsonl")
    assert "--side" not in other.lines[0]["reason"]


def test_an_import_that_finds_nothing_says_what_it_looked_for(here: Govctl, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = here("import", "empty")
    assert done.code == 2
    assert "SKILL.md" in done.err
    assert "MCP tool list" in done.err


def test_a_file_that_holds_no_skill_is_told_by_lint_what_would_be_one(here: Govctl, tmp_path: Path) -> None:
    done = here("lint", write(tmp_path / "schema.json", json.dumps(OLD)), "-o", "json")
    assert done.code == 1
    assert "MCP tool list" in done.json["findings"][0]["fix"]


def test_every_reason_that_a_version_serves_is_explained(here: Govctl) -> None:
    for word in (*Basis, "held-back"):
        assert here("explain", word).code == 0


def test_two_deliveries_are_spelled_as_two() -> None:
    assert counted(1, "delivery", "deliveries") == "1 delivery"
    assert counted(2, "delivery", "deliveries") == "2 deliveries"
    assert counted(2, "skill") == "2 skills"


def test_a_field_that_is_no_pointer_is_told_how_one_is_written(registry: Govctl) -> None:
    done = registry("consumer", "register", "desk", "--need", "shop.refund@^1", "--reads", "fee")
    assert done.code == 2
    assert "Write /fee" in done.err


@pytest.mark.parametrize(
    ("flag", "path"),
    [("--github", "acme"), ("--github", "https://github.com/acme/billing"), ("--github", "a/b/c"), ("--gitlab", "/x")],
)
def test_a_publisher_of_no_repository_trusts_nobody_and_is_refused(registry: Govctl, flag: str, path: str) -> None:
    done = registry("publisher", "add", "ci", flag, path, "--grant", "publisher:billing")
    assert done.code == 2
    assert path in done.err
    assert "Write " in done.err
    assert registry("publisher", "list", "-o", "json").json["publishers"] == []


@pytest.mark.parametrize("port", ["99999", "-1", "x", "80.5", "٣"])
def test_a_port_that_is_none_names_its_flag(here: Govctl, port: str) -> None:
    done = here("serve", "--port", port)
    assert done.code == 2
    assert "--port" in done.err
    assert "GOVCTL_PORT" not in done.err


def test_one_of_anything_is_told_in_the_singular(here: Govctl, tmp_path: Path) -> None:
    file = write(tmp_path / "tools.json", tools(a=OLD))
    assert "in 1 skill." in here("lint", file).out.splitlines()[0]


def test_a_field_that_became_required_is_said_in_words(here: Govctl, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", tools(a=OLD))
    new = write(tmp_path / "new.json", tools(a={**OLD, "required": ["q", "limit"]}))
    assert "optional → required" in here("diff", old, new).out


def test_whoever_may_only_read_is_told_that_publishing_needs_a_publisher(registry: Govctl) -> None:
    made = registry("token", "create", "reader", "--grant", "viewer:shop", "-o", "json").json["token"]
    done = registry("publish", EXAMPLES / "1.0.0", "--token", made)
    assert done.code == 4
    assert "--grant publisher" in done.err
    listed = registry("token", "list").out
    assert listed.startswith("TOKENS  2 tokens.")
    assert "viewer in shop" in listed


def test_names_without_a_namespace_are_warned_of_once(registry: Govctl, tmp_path: Path) -> None:
    file = write(tmp_path / "tools.json", tools(a=OLD, b=OLD))
    done = registry("publish", file)
    assert done.code == 0
    assert done.err.count("without a namespace") == 1
    assert "first version" in done.out
    again = registry("publish", file, "--namespace", "crm")
    assert "namespace" not in again.err
    assert "as published" in registry("publish", file).out


def test_a_draft_that_is_published_says_who_reaches_it(registry: Govctl, tmp_path: Path) -> None:
    draft = tmp_path / "draft.yaml"
    shutil.copy(EXAMPLES / "1.0.0" / "orders_find.yaml", draft)
    draft.write_text(draft.read_text() + "\nstatus: draft\n")
    done = registry("publish", draft)
    assert done.code == 0, done.err
    assert "shop.orders.find@1.0.0" in done.err
    assert "shop.orders.find@1.0.0" in registry("resolve", "shop.orders.find@^1").err
    assert registry("resolve", "shop.orders.find@1.0.0").code == 0


def test_a_range_where_a_version_is_shown_leads_to_resolve(registry: Govctl) -> None:
    registry("publish", EXAMPLES / "1.0.0")
    done = registry("show", "shop.orders.find@^1")
    assert done.code == 2
    assert "govctl resolve shop.orders.find@^1" in done.err
    assert registry("show", "shop.orders.find@1.0.0").code == 0


def test_a_search_that_finds_nothing_names_what_is_near(registry: Govctl) -> None:
    registry("publish", EXAMPLES / "1.0.0")
    assert "shop.orders.refund" in registry("search", "refunds").out
    near = registry("search", "refnud")
    assert (near.code, "refund" in near.err) == (0, True)
    assert "govctl list" in registry("search", "zzzzzz").err
    assert "shop.orders.find" in registry("show", "shop.order.find").err


@pytest.mark.parametrize("command", ["exception", "policy", "webhook", "catalogue"])
def test_only_what_must_be_given_is_said_to_be_missing(govctl: Govctl, command: str) -> None:
    done = govctl(command)
    assert (done.code, done.err.splitlines()[0]) == (
        2, f"error: `govctl {command}`: the following arguments are required: action.",
    )  # fmt: skip


def test_a_blank_reason_is_told_as_blank(govctl: Govctl) -> None:
    server = {"GOVCTL_SERVER": "http://127.0.0.1:1", "GOVCTL_TOKEN": "x"}
    done = govctl("rollout", "hold", "rol_0123456789abcdef", "--reason", " ", env=server)
    assert done.code == 2
    assert "/reason: is blank" in done.err
    assert "pattern" not in done.err
