"""``govctl catalogue`` and ``govctl audit`` against a real control plane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from governance.control.serving import serving
from governance.control.settings import Settings
from governance.core.canonical import canonical_bytes
from tests.cli.conftest import Done, Govctl

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}}}
NARROW = SCHEMA | {"required": ["q"]}


@pytest.fixture
def registry(settings: Settings, here: Govctl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Govctl]:
    """``govctl`` with a running control plane and its admin token in the environment."""
    with serving(settings) as ready:
        monkeypatch.setenv("GOVCTL_SERVER", ready.address)
        monkeypatch.setenv("GOVCTL_TOKEN", ready.token)
        yield here


def tools(file: Path, **schemas: Any) -> Path:
    listed = [{"name": name, "description": f"Find {name}.", "inputSchema": s} for name, s in schemas.items()]
    file.write_text(json.dumps({"tools": listed}))
    return file


def codes(done: Done) -> set[str]:
    return {reason["code"] for reason in done.json["reasons"] if reason["outcome"] == "block"}


def test_a_stranger_is_refused_with_4(registry: Govctl) -> None:
    assert registry("catalogue", "list", "--token", "nobody").code == 4
    assert registry("audit", "list", "--token", "nobody").code == 4


def test_a_catalogue_is_released_checked_refused_and_compared(registry: Govctl, tmp_path: Path) -> None:
    first = tools(tmp_path / "1.json", orders=SCHEMA, users=SCHEMA)
    done = registry("catalogue", "publish", first, "--namespace", "shop", "--reason", "first", "-o", "json")
    assert done.code == 0, done.err
    assert (done.json["result"], done.json["catalogue"], done.json["version"]) == ("published", "shop", "1.0.0")
    again = registry("catalogue", "publish", first, "--namespace", "shop", "--version", "1.0.0", "-o", "json")
    assert again.json["result"] == "unchanged"

    breaking = tools(tmp_path / "2.json", orders=NARROW, people=SCHEMA)
    refused = registry("catalogue", "publish", breaking, "--namespace", "shop", "--version", "1.1.0", "-o", "json")
    assert refused.code == 1
    assert codes(refused) == {"member-refused", "bump-too-small"}
    waiting = registry("catalogue", "publish", breaking, "--namespace", "shop", "-o", "json")
    assert waiting.code == 1
    assert codes(waiting) == {"unnumbered-break"}
    assert [one["version"] for one in registry("catalogue", "list", "shop", "-o", "jsonl").lines] == ["1.0.0"]

    renamed = ["--renamed", "shop.users=shop.people"]
    words = ["catalogue", "publish", breaking, "--namespace", "shop", "--bump", "auto", *renamed]
    shown = registry(*words)
    assert shown.code == 0, shown.err
    assert shown.out.startswith("PUBLISHED  shop 2.0.0")
    assert "shop.users was renamed to shop.people" in shown.out
    listed = registry("catalogue", "list", "-o", "jsonl").lines
    assert [(one["name"], one["latest"], one["members"]) for one in listed] == [("shop", "2.0.0", 2)]
    diff = registry("catalogue", "diff", "shop", "1.0.0", "2.0.0", "-o", "json")
    assert (diff.code, diff.json["bump"]) == (0, "major")


def test_numbers_by_content_stay_where_nothing_changed(registry: Govctl, tmp_path: Path) -> None:
    words = ["--namespace", "shop", "--version-by", "content", "-o", "json"]
    registry("catalogue", "publish", tools(tmp_path / "1.json", orders=SCHEMA, users=SCHEMA), *words)
    wider = SCHEMA | {"properties": SCHEMA["properties"] | {"page": {"type": "integer"}}}  # type: ignore[operator]
    done = registry("catalogue", "publish", tools(tmp_path / "2.json", orders=wider, users=SCHEMA), *words)
    assert done.code == 0, done.err
    assert {one["name"]: one["version"] for one in done.json["members"]} == {
        "shop.orders": "1.1.0",
        "shop.users": "1.0.0",
    }


def test_a_number_that_is_taken_is_a_conflict(registry: Govctl, tmp_path: Path) -> None:
    words = ["--namespace", "shop", "--version", "1.0.0"]
    registry("catalogue", "publish", tools(tmp_path / "1.json", orders=SCHEMA), *words)
    other = tools(tmp_path / "2.json", orders=SCHEMA | {"title": "Orders"})
    assert registry("catalogue", "publish", other, *words).code == 6


def test_a_check_releases_nothing_and_names_places_for_ci(registry: Govctl, tmp_path: Path) -> None:
    registry("catalogue", "publish", tools(tmp_path / "1.json", orders=SCHEMA), "--namespace", "shop")
    broken = tools(tmp_path / "2.json", orders=NARROW)
    checked = registry("catalogue", "check", broken, "--namespace", "shop", "--version", "1.0.1", "-o", "sarif")
    assert checked.code == 1
    results = checked.json["runs"][0]["results"]
    assert any(one["ruleId"] == "input.became-required" for one in results)
    assert registry("catalogue", "check", broken, "--namespace", "shop", "--bump", "auto").code == 0
    assert len(registry("catalogue", "list", "shop", "-o", "jsonl").lines) == 1


def test_one_tool_that_cannot_be_read_refuses_the_release(registry: Govctl, tmp_path: Path) -> None:
    file = tools(tmp_path / "1.json", orders=SCHEMA, users={"type": "array"})
    done = registry("catalogue", "publish", file, "--namespace", "shop", "-o", "json")
    assert done.code == 1
    assert [one["name"] for one in done.json["refused"]] == ["users"]
    assert registry("catalogue", "list", "-o", "jsonl").lines == []


@pytest.mark.parametrize(
    "words",
    [
        ("publish",),
        ("diff", "shop", "1.0.0"),
        ("list", "a", "b"),
        ("publish", "{file}"),
        ("publish", "{file}", "--namespace", "shop", "--renamed", "a"),
        ("publish", "{file}", "--namespace", "shop", "--bump", "auto", "--version", "1.0.0"),
    ],
)
def test_what_makes_no_sense_is_told_with_2(registry: Govctl, tmp_path: Path, words: tuple[str, ...]) -> None:
    file = tools(tmp_path / "tools.json", orders=SCHEMA)
    done = registry("catalogue", *(word.format(file=file) for word in words))
    assert done.code == 2
    assert "→" in done.err


def test_the_log_is_listed_and_exported_line_by_line(registry: Govctl, tmp_path: Path) -> None:
    first = tools(tmp_path / "1.json", orders=SCHEMA, users=SCHEMA)
    registry("catalogue", "publish", first, "--namespace", "shop", "--reason", "so")
    listed = registry("audit", "list", "--action", "catalogue.release", "-o", "json")
    assert [one["subject"] for one in listed.json["entries"]] == ["shop@1.0.0"]
    newest = registry("audit", "list", "--limit", "1", "-o", "jsonl").lines
    assert [one["action"] for one in newest] == ["catalogue.release"]
    file = tmp_path / "audit.jsonl"
    done = registry("audit", "export", file)
    assert done.code == 0, done.err
    lines = file.read_bytes().splitlines()
    assert len(lines) == 5
    assert all(canonical_bytes(json.loads(line)) == line for line in lines)
    assert registry("audit", "export").out.encode() == file.read_bytes()
    assert registry("audit", "export", "-o", "jsonl", "--out", tmp_path / "elsewhere.jsonl").code == 2
    after = done.err.rsplit("--after ", 1)[1].strip()
    assert registry("audit", "export", "--after", after).out == ""


def test_a_stream_of_events_takes_no_file_that_it_would_not_write(registry: Govctl, tmp_path: Path) -> None:
    refused = registry("events", "--follow", "-o", "jsonl", "--out", tmp_path / "events.jsonl")
    assert (refused.code, "neither -o nor --out" in refused.err) == (2, True)
