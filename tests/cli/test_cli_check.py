"""``govctl check`` judges skills against files and git without a server, as one release."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from governance.cli.commands.demo import EXAMPLES
from tests.cli.conftest import Govctl
from tests.cli.toollists import NARROWER, OLD, WIDER, git, tools, write


def test_the_default_without_a_server_is_the_last_commit(here: Govctl, repository: Path) -> None:
    same = here("check", "tools.json", "-o", "json", cwd=repository)
    assert (same.code, same.json["decision"], same.json["unchanged"]) == (0, "allow", ["find"])
    assert same.json["against"] == "git:HEAD"
    write(repository / "tools.json", tools(find=NARROWER))
    broken = here("check", "tools.json", "-o", "json", cwd=repository)
    assert broken.code == 1
    assert (broken.json["decision"], broken.json["bump"]) == ("block", "major")
    (decision,) = broken.json["decisions"]
    witness = decision["compared"][0]["witness"]
    assert "limit" not in witness["payload"]


def test_outside_a_repository_and_without_a_server_it_asks_what_to_compare_with(here: Govctl, tmp_path: Path) -> None:
    file = write(tmp_path / "tools.json", tools(find=OLD))
    done = here("check", file)
    assert done.code == 2
    assert "--against" in done.err


def test_a_named_revision_is_compared_and_its_places_are_named(here: Govctl, repository: Path) -> None:
    git(repository, "tag", "v1")
    write(repository / "tools.json", tools(find=WIDER))
    git(repository, "commit", "-qam", "wider")
    done = here("check", "tools.json", "--against", "git:v1", "-o", "json", cwd=repository)
    assert (done.code, done.json["bump"]) == (0, "minor")
    write(repository / "tools.json", "{broken")
    git(repository, "commit", "-qam", "broken")
    write(repository / "tools.json", tools(find=OLD))
    odd = here("check", "tools.json", "--against", "git:HEAD", "-o", "json", cwd=repository)
    assert odd.json["baseline_refused"][0]["origin"].startswith("git:HEAD:tools.json:1")


def test_a_folder_is_compared_as_a_whole(here: Govctl, repository: Path) -> None:
    (repository / "skills").mkdir()
    write(repository / "skills" / "a.json", tools(a=OLD))
    write(repository / "skills" / "b.json", tools(b=OLD))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    (repository / "skills" / "b.json").unlink()
    write(repository / "skills" / "c.json", tools(c=WIDER))
    done = here("check", "skills", "-o", "json", cwd=repository)
    assert done.code == 1
    assert done.json["added"] == ["c"]
    assert [one["name"] for one in done.json["removed"]] == ["b"]
    assert done.json["unchanged"] == ["a"]


@pytest.mark.parametrize("ref", ["-x", "--upload-pack=touch pwned", "no such", "HEAD:tools.json/../..", "", "@{", "v9"])
def test_a_revision_that_is_none_or_could_be_a_flag_is_refused(here: Govctl, repository: Path, ref: str) -> None:
    done = here("check", "tools.json", "--against", f"git:{ref}", cwd=repository)
    assert done.code in (0, 2)
    assert "Traceback" not in done.err
    if ":" not in ref:
        assert done.code == 2
    assert not (repository / "pwned").exists()


def test_a_hostile_repository_runs_nothing_and_reads_nothing_outside(here: Govctl, repository: Path) -> None:
    trap = repository / "trap.sh"
    write(trap, "#!/bin/sh\ntouch pwned\n").chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "core.hooksPath"):
        git(repository, "config", key, str(trap))
    (repository / "link.json").symlink_to("/etc/hostname")
    git(repository, "add", "link.json")
    subprocess.run(
        ["git", "-C", repository, "-c", "core.fsmonitor=", "-c", "core.hooksPath=", "commit", "-qm", "link"], check=True
    )
    for name in ("pwned",):
        (repository / name).unlink(missing_ok=True)
    done = here("check", ".", "--against", "git:HEAD", cwd=repository)
    assert done.code in (0, 1)
    assert not (repository / "pwned").exists()


def test_a_release_that_loses_a_tool_needs_a_major(here: Govctl, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", tools(get_a=OLD, other=OLD))
    new = write(tmp_path / "new.json", tools(fetch_a=OLD, other=OLD))
    words = ("check", new, "--against", old, "--old-version", "2.8.1", "-o", "json")
    minor = here(*words, "--version", "2.9.0")
    assert minor.code == 1
    assert (minor.json["bump"], minor.json["smallest_version"]) == ("major", "3.0.0")
    (renamed,) = minor.json["renamed"]
    assert (renamed["name"], renamed["successor"], renamed["decision"]) == ("get_a", "fetch_a", "block")
    assert (minor.json["removed"], minor.json["added"]) == ([], [])
    assert "get_a was renamed to fetch_a." in here(*words[:-2], "--version", "2.9.0").out
    major = here(*words, "--version", "3.0.0")
    assert (major.code, major.json["decision"]) == (0, "warn")


def test_the_number_decides_where_there_is_one(here: Govctl, tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.json", tools(a=OLD)), write(tmp_path / "new.json", tools(a=NARROWER))
    words = ("check", new, "--against", old, "--old-version", "1.4.0", "-o", "json")
    minor = here(*words, "--version", "1.5.0")
    assert minor.code == 1
    assert "bump-too-small" in [reason["code"] for reason in minor.json["decisions"][0]["reasons"]]
    assert here(*words, "--version", "2.0.0").code == 0
    assert here(*words, "--version", "2.0.0", "--fail-on", "breaking").code == 1
    assert here(*words, "--version", "1.5.0", "--fail-on", "never").code == 0


def test_a_skill_that_changed_and_kept_its_number_is_told_which_one_it_should_have(
    here: Govctl, repository: Path
) -> None:
    shutil.copytree(EXAMPLES / "1.0.0", repository / "skills")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "skills")
    file = repository / "skills" / "orders_find.yaml"
    file.write_text(file.read_text().replace("required: [customer_id]", "required: [customer_id, status]"))
    done = here("check", "skills", "-o", "json", cwd=repository)
    assert done.code == 1
    assert done.json["changed"] == ["shop.orders.find"]
    (decision,) = [one for one in done.json["decisions"] if one["skill"] == "shop.orders.find"]
    assert (decision["version"], decision["smallest_version"], decision["verdict"]) == ("1.0.0", "2.0.0", "breaking")
    assert decision["reasons"][0]["code"] == "version-taken"
    assert decision["compared"][0]["witness"]


def test_undecided_findings_alone_block_with_3(here: Govctl, tmp_path: Path) -> None:
    def with_pattern(pattern: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"p": {"type": "string", "pattern": pattern}}}

    old = write(tmp_path / "old.json", tools(a=with_pattern(r"^(a)\1$")))
    new = write(tmp_path / "new.json", tools(a=with_pattern(r"^(b|a)\1$")))
    assert here("check", new, "--against", old).code == 3


def test_a_version_below_the_one_before_is_a_usage_error(here: Govctl, tmp_path: Path) -> None:
    file = write(tmp_path / "t.json", tools(a=OLD))
    done = here("check", file, "--against", file, "--old-version", "2.0.0", "--version", "1.0.0")
    assert done.code == 2


def test_an_offline_decision_says_what_it_could_not_check_in_one_order(here: Govctl, tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.json", tools(a=OLD)), write(tmp_path / "new.json", tools(a=WIDER))
    done = here("check", new, "--against", old, "-o", "json")
    assert done.json["not_checked"] == ["version", "consumers", "policy", "exceptions", "replacement"]
    told = here("check", new, "--against", old).out
    assert told.index("version: whether") < told.index("only a registry can know: consumers, policy")
    assert "Not checked" not in here("check", old, "--against", old).out  # nothing to act on


def test_a_tool_that_cannot_be_read_blocks_and_hides_no_other(here: Govctl, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", tools(a=OLD, b=OLD))
    new = write(tmp_path / "new.json", tools(a=OLD, b={"$schema": "http://json-schema.org/draft-07/schema#"}))
    done = here("check", new, "--against", old, "-o", "json")
    assert done.code == 1
    assert [one["name"] for one in done.json["refused"]] == ["b"]
    assert done.json["removed"] == []
    assert done.json["unchanged"] == ["a"]


def test_the_verdict_comes_first_then_code_place_change_payload_and_what_to_do(here: Govctl, tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.json", tools(a=OLD)), write(tmp_path / "new.json", tools(a=NARROWER))
    text = here("check", new, "--against", old).out
    assert text.splitlines()[0].startswith("BLOCK  ")
    places = [text.index(word) for word in ("input.became-required", "hits:", "payload:", "shows:", "do:       Keep")]
    assert places == sorted(places)


def test_one_run_writes_the_comment_and_the_document(here: Govctl, tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.json", tools(a=OLD)), write(tmp_path / "new.json", tools(a=NARROWER))
    done = here("check", new, "--against", old, "-o", "markdown", "--out", "c.md", "-o", "json", "--out", "c.json")
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith("BLOCK")
    assert (tmp_path / "c.md").read_text().startswith("<!-- govctl -->\n\n### ❌ block")
    assert json.loads((tmp_path / "c.json").read_text())["decision"] == "block"


def test_quiet_leaves_the_verdict_line_alone(here: Govctl, tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.json", tools(a=OLD)), write(tmp_path / "new.json", tools(a=NARROWER))
    assert len(here("check", new, "--against", old, "--quiet").out.splitlines()) == 1


def test_a_release_that_adds_a_tool_needs_a_minor_for_check_as_for_diff(here: Govctl, tmp_path: Path) -> None:
    write(tmp_path / "old.json", tools(a=OLD))
    write(tmp_path / "new.json", tools(a=OLD, b=OLD))
    words = ("check", "new.json", "--against", "old.json", "--old-version")
    for old, new, code in (("1.0.0", "1.0.1", 1), ("1.0.0", "1.1.0", 0), ("0.2.0", "0.2.1", 0), ("1.0.0", "2.0.0", 0)):
        done = here(*words, old, "--version", new, "-o", "json")
        assert done.code == code
        assert done.json["bump"] == ("patch" if old == "0.2.0" else "minor")
        assert done.json["added"] == ["b"]
        blocks = [
            one for decision in done.json["decisions"] for one in decision["reasons"] if one["outcome"] == "block"
        ]
        assert [one["code"] for one in blocks] == ["bump-too-small"] * code
        assert all("1.1.0" in one["fix"] for one in blocks)
    assert here("diff", "old.json", "new.json", "-o", "json").json["bump"] == "minor"


@pytest.mark.parametrize("whole", [False, True])
def test_a_tool_that_could_not_be_read_before_is_not_new(here: Govctl, tmp_path: Path, whole: bool) -> None:
    write(tmp_path / "old.json", "{" if whole else tools(a={"type": "nothing"}, b=OLD))
    write(tmp_path / "new.json", tools(a=OLD, b=OLD))
    done = here("check", "new.json", "--against", "old.json", "-o", "json")
    assert done.code == 1
    assert (done.json["added"], done.json["decision"]) == ([], "block")
    invalid = [one["skill"] for one in done.json["decisions"] if one["verdict"] == "invalid"]
    assert (invalid, done.json["unchanged"]) == ((["a", "b"], []) if whole else (["a"], ["b"]))
    assert done.json["decisions"][0]["reasons"][0]["code"] == "baseline-invalid"
    assert here("diff", "old.json", "new.json").code == 1
