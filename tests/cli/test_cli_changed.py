"""A list of changed files narrows a check to the skills they hold or held, and to nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.cli.changed import ChangedFiles, _paths
from governance.errors import Place
from tests.cli.conftest import Govctl
from tests.cli.toollists import NARROWER, OLD, WIDER, git, tools, write


@pytest.fixture
def several(repository: Path) -> Path:
    """One tool list a file: ``skills/one.json``, ``two.json``, ``café.json``, each with a tool of that name."""
    (repository / "skills").mkdir()
    for name in ("one", "two", "café"):
        write(repository / "skills" / f"{name}.json", tools(**{name.replace("é", "e"): OLD}))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "several")
    return repository


def changed(repository: Path, *flags: str) -> bytes:
    git(repository, "add", "-A")
    command = ["git", "diff", "--name-only", "--no-renames", *flags, "HEAD"]
    return subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout


def judged(done: object) -> dict[str, list[str]]:
    document = done.json  # type: ignore[attr-defined]
    return {
        "judged": sorted(one["skill"] for one in document["decisions"]),
        "removed": sorted(one["name"] for one in document["removed"]),
    }


@pytest.mark.parametrize("flags", [(), ("-z",)])
def test_only_skills_in_changed_files_are_judged_deleted_ones_included(
    govctl: Govctl, several: Path, flags: tuple[str, ...]
) -> None:
    write(several / "skills" / "café.json", tools(cafe=NARROWER))
    write(several / "skills" / "notes.txt", "nothing that holds a skill")
    (several / "skills" / "two.json").unlink()
    listed = changed(several, *flags)
    done = govctl("check", "skills", "--changed", "-", "-o", "json", stdin=listed, cwd=several)
    assert (done.code, judged(done)) == (1, {"judged": ["cafe"], "removed": ["two"]})
    assert judged(govctl("check", "skills", "-o", "json", cwd=several))["judged"] == ["cafe", "one"]


def test_a_list_is_read_from_a_file_and_from_wherever_the_check_runs(
    here: Govctl, several: Path, tmp_path: Path
) -> None:
    write(several / "skills" / "one.json", tools(one=WIDER))
    for paths, cwd, source in (
        ("skills/one.json", several, "skills"),
        ("skills/one.json", several / "skills", "."),
        ("one.json", several / "skills", "."),
        (str(several / "skills" / "one.json"), several, "skills"),
    ):
        listed = tmp_path / "changed.txt"
        listed.write_text(f"{paths}\n")
        done = here("check", source, "--changed", listed, "-o", "json", cwd=cwd)
        assert (done.code, judged(done)) == (0, {"judged": ["one"], "removed": []}), (paths, cwd)


def test_where_no_changed_file_holds_a_skill_there_is_nothing_to_judge(
    here: Govctl, several: Path, tmp_path: Path
) -> None:
    listed = tmp_path / "changed.txt"
    listed.write_text("README.md\n")
    write(several / "skills" / "one.json", tools(one=NARROWER))
    for form in ("text", "json", "sarif", "junit", "markdown"):
        done = here("check", "skills", "--changed", listed, "-o", form, cwd=several)
        assert done.code == 0, done.err
    assert here("check", "skills", "--changed", listed, "-o", "json", cwd=several).json["decision"] == "allow"
    listed.write_text("")
    assert here("check", "skills", "--changed", listed, cwd=several).code == 0
    assert here("check", "skills", "--changed", tmp_path / "missing", cwd=several).code == 2


def test_what_cannot_be_read_blocks_where_it_changed_and_nowhere_else(
    here: Govctl, several: Path, tmp_path: Path
) -> None:
    write(several / "skills" / "one.json", "{")
    listed = tmp_path / "changed.txt"
    listed.write_text("skills/one.json\n")
    assert here("check", "skills", "--changed", listed, cwd=several).code == 1
    listed.write_text("skills/two.json\n")
    assert here("check", "skills", "--changed", listed, cwd=several).code == 0


def test_the_registry_is_asked_about_changed_skills_alone(registry: Govctl, several: Path, tmp_path: Path) -> None:
    assert registry("publish", several / "skills", "--namespace", "crm", "--version", "1.0.0").code == 0
    write(several / "skills" / "one.json", tools(one=NARROWER))
    write(several / "skills" / "two.json", tools(two=NARROWER))
    listed = tmp_path / "changed.txt"
    listed.write_text("skills/two.json\n")
    words = ("--namespace", "crm", "--version", "1.1.0", "--changed", listed, "-o", "json")
    done = registry("check", "skills", *words, cwd=several)
    assert (done.code, judged(done)["judged"]) == (1, ["crm.two"])


@given(st.lists(st.text(min_size=1).filter(lambda text: "\x00" not in text and text.isprintable()), max_size=5))
def test_paths_ended_by_nul_are_what_they_are(paths: list[str]) -> None:
    assert list(_paths("".join(f"{path}\x00" for path in paths).encode())) == paths


@given(st.binary(max_size=60))
def test_any_bytes_are_a_list(data: bytes) -> None:
    found = ChangedFiles.of(_paths(data.replace(b"\x00", b"")), root=Path("/checkout"), here=Path("/checkout/a"))
    found.hold(Place(file="git:HEAD:a/b.json"))
    found.hold(Place(file="a/b.json"))
