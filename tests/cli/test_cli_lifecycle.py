"""Versions end, come back and are switched off from the command line, against a real control plane."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from governance.control.settings import Settings
from tests.cli.conftest import Govctl

OPEN = {"type": "object", "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}}}
STRICT = {**OPEN, "required": ["q"]}


def in_days(days: int) -> date:
    return datetime.now(UTC).date() + timedelta(days=days)


@pytest.fixture
def shop(registry: Govctl, tmp_path: Path) -> Govctl:
    """``shop.find`` 1.0.0, 1.1.0 and 2.0.0, which asks for more."""
    for version, schema in (("1.0.0", OPEN), ("1.1.0", OPEN), ("2.0.0", STRICT)):
        publish(registry, tmp_path, version, schema)
    return registry


def publish(registry: Govctl, tmp_path: Path, version: str, schema: dict[str, Any], **fields: Any) -> None:
    manifest = {
        "name": "shop.find",
        "version": version,
        "compatibility": "breaking_change" if "required" in schema else "backward_compatible",
        "description": "Use when somebody looks for an order.",
        "input_schema": schema,
        "output_schema": {"type": "object"},
        "timeout_sec": 5,
    } | fields
    file = tmp_path / f"{version}.json"
    file.write_text(json.dumps(manifest))
    done = registry("publish", file)
    assert done.code == 0, done.err


def let_the_day_come(settings: Settings) -> None:
    with psycopg.connect(settings.database_url or "") as connection:
        connection.execute("UPDATE skill_version_state SET sunset = current_date WHERE sunset IS NOT NULL")


def test_a_version_ends_step_by_step(shop: Govctl, settings: Settings) -> None:
    sunset = in_days(400)
    words = ("deprecate", "shop.find@1.0.0", "--sunset", str(sunset), "--replacement", "shop.find@^2")
    trial = shop(*words, "--dry-run")
    assert (trial.code, trial.out.splitlines()[0]) == (0, f"WOULD BE DEPRECATED  shop.find 1.0.0 until {sunset}.")
    assert "Callers of 1.0.0 cannot call shop.find@2.0.0 as it is: breaking." in trial.out
    assert "payload:  {}" in trial.out
    assert shop("sunsets").out.startswith("SUNSETS  0 versions.")

    done = shop(*words, "--guide", "https://docs.acme.dev/2", "--reason", "v2 is out", "-o", "json")
    assert (done.code, done.json["versions"][0]["after"]["sunset"]) == (0, str(sunset))
    assert shop(*words).out.startswith("UNCHANGED  shop.find 1.0.0 stands so already.")
    (coming,) = shop("sunsets", "-o", "jsonl").lines
    assert (coming["version"], coming["days_left"], coming["migration_guide"]) == (
        "1.0.0",
        400,
        "https://docs.acme.dev/2",
    )
    assert shop("sunsets", "--within", "399", "-o", "json").json["sunsets"] == []

    early = shop("retire", "shop.find@1.0.0")
    assert (early.code, "sunset" in early.err) == (6, True)
    shop("resolve", "shop.find@1.0.0", "--consumer", "agents/one")
    let_the_day_come(settings)
    assert shop("resolve", "shop.find@1.0.0", "--consumer", "agents/two").code == 1
    assert shop("retire", "shop.find@1.0.0", "--reason", "nobody left").out.startswith("RETIRED  shop.find 1.0.0.")
    gone = shop("resolve", "shop.find@1.0.0", "--consumer", "agents/one")
    assert (gone.code, "shop.find@^2" in gone.err) == (1, True)


def test_what_is_still_needed_is_not_retired_and_who_needs_it_is_told(shop: Govctl, settings: Settings) -> None:
    assert shop("consumer", "register", "agents/one", "--need", "shop.find@1.0.0").code == 0
    shop("resolve", "shop.find@1.0.0", "--consumer", "agents/one")
    told = shop("deprecate", "shop.find@1.0.0", "--sunset", str(in_days(400)), "--replacement", "none")
    assert "agents/one" in told.out
    let_the_day_come(settings)
    refused = shop("retire", "shop.find@1.0.0")
    assert refused.code == 1
    assert refused.out.startswith("NO  retire shop.find 1.0.0.")
    assert "agents/one" in refused.out
    assert shop("can-i-retire", "shop.find@1.0.0").out == refused.out, "the question and the deed say the same"
    assert shop("retire", "shop.find@1.0.0", "--force").code == 2
    forced = shop("retire", "shop.find@1.0.0", "--force", "--reason", "a leak of keys")
    assert (forced.code, "agents/one" in forced.out) == (0, True)


def test_a_range_and_a_whole_skill_are_deprecated_and_a_version_taken_back(shop: Govctl, tmp_path: Path) -> None:
    words = ("--sunset", str(in_days(400)), "--replacement", "shop.find@^2", "-o", "json")
    done = shop("deprecate", "shop.find@^1", *words)
    assert [one["version"] for one in done.json["versions"]] == ["1.0.0", "1.1.0"]
    assert shop("deprecate", "shop.find", *words).code == 6, "nothing replaces itself"
    assert shop("deprecate", "shop.find@", *words).code == 2
    assert shop("deprecate", "shop.find@^1", "--sunset", "soon", "--replacement", "none").code == 2
    assert shop("deprecate", "shop.find@^1", "--sunset", str(in_days(3)), "--replacement", "none").code == 2
    back = shop("undeprecate", "shop.find@1.1.0", "--reason", "not yet")
    assert back.out.startswith("NO LONGER DEPRECATED  shop.find 1.1.0.")
    assert [one["version"] for one in shop("sunsets", "-o", "jsonl").lines] == ["1.0.0"]


def test_versions_are_switched_and_switched_back(shop: Govctl) -> None:
    assert shop("yank", "shop.find@1.1.0").code == 2, "a reason is needed"
    assert shop("yank", "shop.find@1.1.0", "--reason", "leaks").out.startswith("YANKED  shop.find 1.1.0.")
    assert "1.0.0" in shop("resolve", "shop.find@^1").out.splitlines()[0]
    assert shop("unyank", "shop.find@1.1.0").code == 0
    assert shop("disable", "shop.find@1.1.0", "--reason", "on fire").out.startswith("SWITCHED OFF  shop.find 1.1.0.")
    refused = shop("resolve", "shop.find@1.1.0")
    assert (refused.code, "on fire" in refused.err) == (1, True)
    assert shop("enable", "shop.find@1.1.0", "--dry-run").out.startswith("WOULD BE SWITCHED ON")
    assert shop("enable", "shop.find@1.1.0").code == 0
    assert "1.1.0" in shop("resolve", "shop.find@^1").out.splitlines()[0]
    assert shop("yank", "shop.find", "--reason", "leaks").code == 2


def test_a_draft_is_activated_and_taken_back(shop: Govctl, tmp_path: Path) -> None:
    publish(shop, tmp_path, "1.2.0", OPEN, status="draft")
    assert shop("activate", "shop.find@1.2.0").out.startswith("ACTIVE  shop.find 1.2.0.")
    assert "1.2.0" in shop("resolve", "shop.find@^1").out.splitlines()[0]
    assert shop("activate", "shop.find@1.2.0", "--undo").out.startswith("A DRAFT AGAIN  shop.find 1.2.0.")
    assert shop("activate", "shop.find@1.0.0", "--undo").code == 1, "1.1.0 was judged against it"


def test_acceptances_are_listed_and_revoked(shop: Govctl) -> None:
    for words in (("--accept-line", "2.0.0"), ("--accept-breaking-change",)):
        assert shop("resolve", "shop.find", "--consumer", f"agents/{words[0][9:]}", *words).code == 0
    listed = shop("acceptance", "list", "--skill", "shop.find", "-o", "jsonl").lines
    assert {one["basis"] for one in listed} == {"named-line", "flag"}
    lasting = next(one for one in listed if one["basis"] == "named-line")
    assert "it is revoked" in shop("acceptance", "list", "--consumer", lasting["consumer"]).out
    revoked = shop("acceptance", "revoke", lasting["id"])
    assert (revoked.code, "no longer accepts the line of shop.find 2.0.0" in revoked.out) == (0, True)
    assert shop("resolve", "shop.find", "--consumer", lasting["consumer"]).code == 1
    assert len(shop("acceptance", "list", "-o", "jsonl").lines) == 1
    assert len(shop("acceptance", "list", "--ended", "-o", "jsonl").lines) == 2
    for words in (("revoke",), ("list", "acc_0"), ("revoke", "acc_nothing")):
        assert shop("acceptance", *words).code == 2


def test_a_refused_caller_is_shown_the_change_that_matters_to_it_and_the_payload(shop: Govctl) -> None:
    assert shop("resolve", "shop.find", "--consumer", "agents/one", "--accept-line", "1.0.0").code == 0
    for version in ("1.0.0", "1.1.0"):
        assert shop("disable", f"shop.find@{version}", "--reason", "on fire").code == 0
    refused = shop("resolve", "shop.find", "--consumer", "agents/one")
    assert (refused.code, "payload:  {}" in refused.err, "--accept-line 2.0.0" in refused.err) == (1, True, True)
    machine = shop("resolve", "shop.find", "--consumer", "agents/one", "-o", "json")
    assert machine.json["details"]["matters"]["payload"] == {}
