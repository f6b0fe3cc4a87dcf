"""A break waits until somebody chose the number that announces it; the same offline, by the registry, in the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance.cli.commands.demo import EXAMPLES
from tests.cli.conftest import Govctl
from tests.cli.toollists import NARROWER, OLD, WIDER, tools, write


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old.json", tools(a=OLD, b=OLD))


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return write(tmp_path / "new.json", tools(a=NARROWER, b=WIDER))


def test_a_break_that_nobody_numbered_blocks_and_names_its_number(here: Govctl, old: Path, new: Path) -> None:
    done = here("check", new, "--against", old, "--old-version", "1.4.0", "-o", "json")
    assert done.code == 1
    decisions = {one["skill"]: one for one in done.json["decisions"]}
    assert (decisions["a"]["decision"], decisions["b"]["decision"]) == ("block", "allow")
    reason = decisions["a"]["reasons"][0]
    assert reason["code"] == "unnumbered-break"
    assert "2.0.0" in reason["fix"]
    assert "opens-line" not in [one["code"] for one in decisions["a"]["reasons"]]
    bare = here("check", new, "--against", old).out
    assert "unnumbered-break" in bare
    assert "1.0.0" not in bare  # nobody said so
    assert here("check", new, "--against", old, "--old-version", "1.4.0", "--version", "2.0.0").code == 0


def test_automatic_numbers_let_breaks_in_and_the_first_line_says_so(here: Govctl, old: Path, new: Path) -> None:
    done = here("check", new, "--against", old, "--old-version", "1.4.0", "--bump", "auto")
    assert done.code == 0
    first = done.out.splitlines()[0]
    assert "a breaks its callers (to be published as 2.0.0; ^1 stays on 1.4.0)" in first
    bare = here("check", new, "--against", old, "--bump", "auto")
    assert bare.code == 0
    assert "a breaks its callers (to be published as a new major)" in bare.out.splitlines()[0]
    assert here("check", new, "--against", old, "--bump", "auto", "--version", "2.0.0").code == 2


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_whatever_blocks_says_why_in_every_format(here: Govctl, old: Path, new: Path, form: str) -> None:
    asked = ("check", new, "--against", old, "--old-version", "1.4.0", "-o", form)
    failing = here(*asked, "--version", "2.0.0", "--fail-on", "breaking")
    assert failing.code == 1
    assert "failed-on" in failing.out
    assert "bump-too-small" in here(*asked, "--version", "1.5.0").out
    assert "unnumbered-break" in here(*asked).out


def test_a_number_beside_a_baseline_without_one_is_a_mistake_that_names_the_flag(
    here: Govctl, old: Path, new: Path
) -> None:
    done = here("check", new, "--against", old, "--version", "2.0.0")
    assert done.code == 2
    assert "--old-version" in done.err


def test_a_numbered_skill_beside_a_baseline_without_a_number_is_asked_for_the_old_one(
    here: Govctl, tmp_path: Path
) -> None:
    old = tmp_path / "old.json"
    assert here("export", EXAMPLES / "1.0.0" / "orders_refund.yaml", "--to", "mcp", "--out", old).code == 0
    done = here("check", EXAMPLES / "next" / "orders_refund.yaml", "--against", old, "-o", "json")
    assert done.code == 1
    (decision,) = done.json["decisions"]
    assert (decision["reasons"][0]["code"], decision["verdict"]) == ("unnumbered-break", "breaking")
    assert "--old-version" in decision["reasons"][0]["fix"]


def test_a_tool_that_is_meant_to_go_may_go_and_that_is_on_record(here: Govctl, tmp_path: Path, old: Path) -> None:
    new = write(tmp_path / "new.json", tools(a=OLD))
    refused = here("check", new, "--against", old)
    assert refused.code == 1
    assert "--allow-removed b" in refused.out
    done = here("check", new, "--against", old, "--allow-removed", "b", "-o", "json", "--out", "r.json", "-o", "text")
    assert done.code == 0
    assert "b was removed, as --allow-removed says." in done.out
    recorded = here("check", new, "--against", old, "--allow-removed", "b", "-o", "json").json
    assert (recorded["removed"][0]["allowed"], recorded["removed"][0]["decision"]) == (True, "warn")
    stale = here("check", new, "--against", old, "--allow-removed", "b", "--allow-removed", "gone")
    assert stale.code == 0
    assert "gone: no such skill was removed" in stale.err


def test_the_registry_holds_a_break_to_the_same_rule(registry: Govctl, tmp_path: Path, old: Path, new: Path) -> None:
    crm = ("--namespace", "crm")
    assert registry("publish", old, *crm).code == 0
    for command in ("check", "publish"):
        done = registry(command, new, *crm, "-o", "json")
        assert done.code == 1
        refused = next(one for one in done.json["decisions"] if one["skill"] == "crm.a")
        assert (refused["decision"], refused["reasons"][0]["code"]) == ("block", "unnumbered-break")
        assert "2.0.0" in refused["reasons"][0]["fix"]
    assert [one["version"] for one in registry("versions", "crm.a", "-o", "json").json["versions"]] == ["1.0.0"]
    dry = registry("check", new, *crm, "--bump", "auto")
    assert dry.code == 0
    assert "crm.a breaks its callers (to be published as 2.0.0; ^1 stays on 1.0.0)" in dry.out.splitlines()[0]
    assert "not decided by the registry" not in dry.out
    done = registry("publish", new, *crm, "--bump", "auto")
    assert "only a registry can know" not in done.out
    assert "removed skills: what is published and missing here: `govctl catalogue`" in " ".join(done.out.split())
    assert done.code == 0
    assert "crm.a breaks its callers (published as 2.0.0; ^1 stays on 1.0.0)" in done.out.splitlines()[0]
    assert "the bare name crm.a now needs a range" in " ".join(done.out.split())


def test_the_demo_offers_a_newer_catalogue_as_the_next_minor(govctl: Govctl, old: Path, new: Path) -> None:
    done = govctl("demo", "--catalogue", old, new, "--namespace", "crm", "-o", "json")
    assert done.code == 0, done.err
    assert done.json["published"] == {"crm.a": "1.0.0", "crm.b": "1.0.0"}
    assert done.json["accepted"] == {"crm.b": "1.1.0"}
    refused = next(one for one in done.json["check"]["decisions"] if one["skill"] == "crm.a")
    assert (refused["version"], refused["decision"], refused["smallest_version"]) == ("1.1.0", "block", "2.0.0")
    assert refused["compared"][0]["witness"]["payload"] == {"q": ""}
