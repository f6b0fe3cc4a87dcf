"""The commands that talk to a control plane, against a real one over HTTP."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import psycopg
import pytest

from governance.cli.commands.demo import EXAMPLES
from governance.control import embedded
from governance.control.roles import OWNER_ROLE
from governance.control.settings import Settings
from tests.cli.conftest import Done, Govctl

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}}}


def write_tools(file: Path, **schemas: Any) -> Path:
    listed = [{"name": name, "description": f"Find {name}.", "inputSchema": s} for name, s in schemas.items()]
    file.write_text(json.dumps({"tools": listed}))
    return file


def codes(done: Done) -> set[str]:
    return {reason["code"] for decision in done.json["decisions"] for reason in decision["reasons"]}


def test_a_stranger_is_refused_with_4(registry: Govctl) -> None:
    done = registry("list", "--token", "nobody", "-o", "json")
    assert done.code == 4
    assert done.json["code"] == "unauthenticated"


def test_skills_are_published_checked_refused_and_found_again(registry: Govctl) -> None:
    first = registry("publish", EXAMPLES / "1.0.0", "-o", "json")
    assert first.code == 0, first.err
    assert {one["outcome"] for one in first.json["results"]} == {"published"}
    again = registry("publish", EXAMPLES / "1.0.0", "-o", "json")
    assert {one["outcome"] for one in again.json["results"]} == {"unchanged"}

    checked = registry("check", EXAMPLES / "next", "-o", "json")
    assert checked.code == 1
    assert "declared-too-mild" in codes(checked)
    refused = registry("publish", EXAMPLES / "next", "-o", "json")
    assert refused.code == 1
    assert registry("versions", "shop.orders.find", "-o", "json").json["versions"][0]["version"] == "1.0.0"
    partly = registry("publish", EXAMPLES / "next", "--partial", "-o", "json")
    assert partly.code == 7
    outcomes = {one["skill"]: one["outcome"] for one in partly.json["results"]}
    assert outcomes["shop.orders.refund"] == "refused"
    assert outcomes["shop.orders.find"] == "published"

    assert [one["name"] for one in registry("list", "-o", "jsonl").lines] == sorted(outcomes)
    assert "shop.orders.refund" in [one["name"] for one in registry("search", "refund", "-o", "jsonl").lines]
    assert registry("search", "--field", "postal_code", "-o", "json").json["skills"][0]["name"].endswith("find_slots")
    shown = registry("show", "shop.orders.find")
    assert shown.code == 0
    assert "1.1.0" in shown.out
    whole = registry("show", "shop.orders.find@1.1.0", "-o", "json")
    assert whole.json["manifest"]["input_schema"]["properties"]["placed_after"]
    assert registry("versions", "shop.orders.find", "--range", "^9").code == 1
    assert registry("show", "no.such_skill").code == 2


def test_resolve_tells_the_version_that_serves_and_its_line(registry: Govctl) -> None:
    registry("publish", EXAMPLES / "1.0.0")
    done = registry("resolve", "shop.orders.find@^1", "--consumer", "agents/one", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["results"][0]["resolution"]["version"] == "1.0.0"
    assert registry("resolve", "shop.orders.find", "^2").code == 1
    assert registry("resolve", "shop.orders.find@^1", "shop.orders.find@^2", "-o", "json").code == 7


def test_a_refused_resolve_advises_the_words_of_the_command_line(registry: Govctl, tmp_path: Path) -> None:
    narrower = {**SCHEMA, "required": ["q"]}
    for version, schema in (("1.0.0", SCHEMA), ("2.0.0", narrower)):
        file = write_tools(tmp_path / "tools.json", find=schema)
        assert registry("publish", file, "--namespace", "crm", "--version", version).code == 0
    refused = registry("resolve", "crm.find")
    assert refused.code == 1
    assert "--accept-breaking-change" in refused.err
    assert "--consumer NAME --accept-line 2.0.0" in refused.err
    assert "accept_breaking_change" not in refused.err
    held = registry("resolve", "crm.find@^1 || ^2.0.0 <2.0.0", "--consumer", "agents/one")
    assert held.code == 0
    several = registry("resolve", "crm.find", "crm.find@^1")
    assert (several.code, "--accept-line 2.0.0" in several.out) == (7, True)
    assert registry("resolve", "crm.find", "--accept-line", "2.0.0").code == 2
    for words in (("--accept-breaking-change",), ("--consumer", "agents/two", "--accept-line", "2.0.0")):
        assert "2.0.0" in registry("resolve", "crm.find", *words).out.splitlines()[0]


def test_skills_without_a_number_get_the_smallest_honest_one(registry: Govctl, tmp_path: Path) -> None:
    file = write_tools(tmp_path / "tools.json", find=SCHEMA, other=SCHEMA)
    words = ("publish", file, "--namespace", "crm", "-o", "json")
    assert {one["version"] for one in registry(*words).json["results"]} == {"1.0.0"}
    wider = {**SCHEMA, "properties": {**SCHEMA["properties"], "after": {"type": "string"}}}  # type: ignore[dict-item]
    write_tools(file, find=wider, other=SCHEMA)
    done = registry(*words)
    assert [(one["skill"], one["version"], one["outcome"]) for one in done.json["results"]] == [
        ("crm.find", "1.1.0", "published"),
        ("crm.other", "1.0.0", "unchanged"),
    ]


def test_a_version_taken_by_other_bytes_is_a_conflict(registry: Govctl, tmp_path: Path) -> None:
    registry("publish", EXAMPLES / "1.0.0")
    file = tmp_path / "find.yaml"
    text = (EXAMPLES / "1.0.0" / "orders_find.yaml").read_text()
    file.write_text(text.replace("owner: orders-team", "owner: other-team"))
    done = registry("publish", file, "-o", "json")
    assert done.code == 6
    assert "version-taken" in codes(done)
    assert (done.json["added"], done.json["changed"]) == ([], ["shop.orders.find"])
    file.write_text(text.replace("required: [customer_id]", "required: [customer_id, status]"))
    broken = registry("publish", file, "-o", "json")
    assert broken.code == 6
    (decision,) = broken.json["decisions"]
    assert (decision["verdict"], decision["version"], decision["smallest_version"]) == ("breaking", "1.0.0", "2.0.0")
    assert "2.0.0" in decision["reasons"][0]["fix"]


def test_several_versions_of_a_skill_go_in_from_the_lowest_up(registry: Govctl, tmp_path: Path) -> None:
    for number, place in (("1.1.0", "a"), ("1.0.0", "b")):
        folder = "next" if number == "1.1.0" else "1.0.0"
        (tmp_path / f"{place}.yaml").write_text((EXAMPLES / folder / "orders_find.yaml").read_text())
    done = registry("publish", tmp_path / "a.yaml", tmp_path / "b.yaml", "--commit", "c0ffee", "-o", "json")
    assert done.code == 0, done.out
    shown = registry("show", "shop.orders.find@1.1.0", "-o", "json").json
    assert shown["baseline"] == "1.0.0"
    assert shown["provenance"]["commit"] == "c0ffee"


def test_a_published_version_is_a_baseline_and_a_source(registry: Govctl, tmp_path: Path) -> None:
    registry("publish", EXAMPLES / "1.0.0")
    new = EXAMPLES / "next" / "orders_refund.yaml"
    done = registry("check", new, "--against", "shop.orders.refund@1.0.0", "-o", "json")
    assert done.code == 1
    assert registry("diff", "shop.orders.refund@1.0.0", new, "-o", "json").json["verdict"] == "breaking"
    exported = registry("export", "shop.orders.refund@1.0.0", "--to", "mcp")
    assert json.loads(exported.out)["inputSchema"]["required"] == ["order_id"]


def test_tokens_are_made_listed_used_and_revoked(registry: Govctl) -> None:
    made = registry("token", "create", "ci", "--grant", "viewer", "--days", "7", "-o", "json")
    assert made.code == 0, made.err
    secret = made.json["token"]
    assert registry("list", "--token", secret).code == 0
    assert registry("publish", EXAMPLES / "1.0.0", "--token", secret).code == 4
    listed = registry("token", "list")
    assert "ci" in listed.out
    assert secret not in listed.out
    assert registry("token", "revoke", made.json["id"]).code == 0
    assert registry("list", "--token", secret).code == 4
    assert registry("token", "create", "x", "--grant", "emperor").code == 2
    assert registry("token", "create", "x").code == 2


def test_migrate_looks_and_then_brings_an_empty_database_to_the_tables_of_today(
    here: Govctl, server: embedded.Server, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", str(settings.database_url))
    monkeypatch.setenv("DATABASE_OWNER_URL", str(settings.database_owner_url))
    assert here("migrate", "--check").code == 0
    name = "bare_" + secrets.token_hex(4)
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER {OWNER_ROLE}")
    monkeypatch.setenv("DATABASE_URL", server.url(role=OWNER_ROLE, database=name))
    monkeypatch.setenv("DATABASE_OWNER_URL", server.url(role=OWNER_ROLE, database=name))
    behind = here("migrate", "--check", "-o", "json")
    assert (behind.code, behind.json["current"]) == (1, None)
    done = here("migrate", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["before"] is None
    assert done.json["current"] == done.json["head"]
    assert here("migrate", "--check").code == 0


def test_doctor_sees_the_server(registry: Govctl) -> None:
    done = registry("doctor", "--wait", "30", "-o", "json")
    assert done.code == 0, done.out
    (server,) = [one for one in done.json["checks"] if one["subject"] == "server"]
    assert "ready" in server["detail"] or "ok" in server["detail"]
