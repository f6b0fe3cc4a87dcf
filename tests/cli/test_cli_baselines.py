"""What is compared with what: git revisions, paths that are not there, and baselines that hold nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Govctl
from tests.cli.toollists import NARROWER, OLD, WIDER, git, tools, write


@pytest.fixture
def branches(repository: Path) -> Path:
    """``feature`` breaks what ``main`` has; ``main`` is checked out."""
    git(repository, "checkout", "-q", "-b", "feature")
    write(repository / "tools.json", tools(find=NARROWER))
    git(repository, "commit", "-qam", "narrower")
    git(repository, "checkout", "-q", "main")
    return repository


@pytest.mark.parametrize("command", ["diff", "witness"])
def test_two_revisions_are_compared_over_the_whole_repository(here: Govctl, branches: Path, command: str) -> None:
    inside = branches / "sub"
    inside.mkdir()
    for cwd in (branches, inside):
        done = here(command, "git:main", "git:feature", "-o", "json", cwd=cwd)
        shown = done.json["witness"] if command == "diff" else done.json["witnesses"][0]
        assert "limit" not in shown["payload"]
        assert done.code == (1 if command == "diff" else 0)
    assert here("diff", "git:main:tools.json", "git:feature", "-o", "json", cwd=branches).json["verdict"] == "breaking"


@pytest.mark.parametrize("command", ["diff", "witness"])
def test_no_skill_on_either_side_is_a_mistake_of_the_caller(here: Govctl, tmp_path: Path, command: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    done = here(command, "one", "two")
    assert done.code == 2
    assert "no skill in one, nor in two" in done.err
    write(tmp_path / "one" / "tools.json", tools(find=OLD))
    assert here(command, "two", "one").code == 0


@pytest.mark.parametrize(
    ("inside", "near"),
    [("tols.json", "git:main:tools.json"), ("skils", "git:main:skills"), ("/etc/hostname", ""), ("a/../../x.json", "")],
)
def test_a_path_that_a_revision_does_not_have_is_a_mistake_with_the_near_names(
    here: Govctl, repository: Path, inside: str, near: str
) -> None:
    (repository / "skills").mkdir()
    write(repository / "skills" / "a.json", tools(a=OLD))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "skills")
    for words in (("check", "tools.json", "--against"), ("diff", "tools.json")):
        done = here(*words, f"git:main:{inside}", cwd=repository)
        assert done.code == 2
        assert near in done.err
    assert here("check", "tools.json", "--against", "git:main:", cwd=repository).code == 0


def test_a_baseline_without_a_skill_is_said_in_the_first_line(here: Govctl, repository: Path) -> None:
    (repository / "new").mkdir()
    write(repository / "new" / "tools.json", tools(first=OLD))
    done = here("check", "new", cwd=repository)
    assert done.code == 0
    assert done.out.splitlines()[0] == "WARN  1 added; nothing to compare with at git:HEAD."
    assert here("check", "new", "-o", "json", cwd=repository).json["decision"] == "warn"
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "new")
    write(repository / "new" / "tools.json", tools(first=WIDER))
    assert here("check", "new", "-o", "json", cwd=repository).json["decision"] != "warn"


def test_a_revision_that_was_not_fetched_comes_with_the_command_that_fetches_it(
    here: Govctl, repository: Path, tmp_path: Path
) -> None:
    write(repository / "tools.json", tools(find=WIDER))
    git(repository, "commit", "-qam", "wider")
    git(repository, "branch", "release")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repository}", clone], check=True)
    asked = {
        "release": "git fetch --no-tags --depth=1 origin release",
        "origin/release": "git fetch origin release:refs/remotes/origin/release",
        "HEAD~1": "git fetch --unshallow",
    }
    for revision, command in asked.items():
        done = here("check", "tools.json", "--against", f"git:{revision}", cwd=clone)
        assert done.code == 2
        assert command in done.err
        git(clone, *command.split()[1:])
        resolves = "FETCH_HEAD" if revision == "release" else revision
        assert here("check", "tools.json", "--against", f"git:{resolves}", cwd=clone).code in (0, 1)


def _lose(repository: Path, path: str) -> None:
    blob = subprocess.run(
        ["git", "rev-parse", f"HEAD:{path}"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


@pytest.mark.parametrize("baseline", ["git:HEAD", "git:HEAD:tools.json", "git:HEAD:"])
def test_a_baseline_that_git_cannot_read_is_never_taken_for_missing(
    here: Govctl, repository: Path, baseline: str
) -> None:
    _lose(repository, "tools.json")
    write(repository / "tools.json", tools(find=NARROWER))
    done = here("check", "tools.json", "--against", baseline, "--version", "1.1.0", cwd=repository)
    assert done.code == 2
    assert "tools.json" in done.err
    assert "lacks its content" in done.err
    assert "git fetch" in done.err


def test_what_is_no_candidate_may_be_unreadable_in_a_folder(here: Govctl, repository: Path) -> None:
    (repository / "film.bin").write_bytes(b"x")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "film")
    _lose(repository, "film.bin")
    write(repository / "tools.json", tools(find=NARROWER))
    assert here("check", ".", cwd=repository).code == 1


@pytest.mark.parametrize("baseline", ["git:HEAD", "git:HEAD:tools.json"])
def test_a_baseline_that_is_too_large_or_a_link_is_a_mistake(here: Govctl, repository: Path, baseline: str) -> None:
    (repository / "tools.json").write_bytes(b" " * (16 * 1024 * 1024) + b"{}")
    git(repository, "commit", "-qam", "large")
    write(repository / "tools.json", tools(find=NARROWER))
    done = here("check", "tools.json", "--against", baseline, cwd=repository)
    assert done.code == 2
    assert "tools.json" in done.err
    assert "larger than 16 MiB" in done.err
    (repository / "tools.json").unlink()
    (repository / "tools.json").symlink_to("elsewhere.json")
    git(repository, "commit", "-qam", "link")
    (repository / "tools.json").unlink()
    write(repository / "tools.json", tools(find=NARROWER))
    done = here("check", "tools.json", "--against", baseline, cwd=repository)
    assert done.code == 2
    assert "tools.json is no regular file" in done.err


def test_one_tool_under_another_name_is_renamed_for_diff_as_for_check(here: Govctl, tmp_path: Path) -> None:
    write(tmp_path / "old.json", tools(get_user=OLD))
    write(tmp_path / "new.json", tools(fetch_user=OLD))
    done = here("diff", "old.json", "new.json", "-o", "json")
    assert done.code == 1
    assert (done.json["change"], done.json["successor"]) == ("renamed", "fetch_user")
    assert done.json["findings"][0]["code"] == "contract.tool-renamed"
    assert here("check", "new.json", "--against", "old.json", "-o", "json").json["renamed"]


def test_an_empty_path_is_not_this_folder(here: Govctl, tmp_path: Path) -> None:
    write(tmp_path / "tools.json", tools(a=OLD))
    for words in (("import", ""), ("check", ""), ("diff", "", "tools.json"), ("lint", "")):
        assert here(*words).code == 2
