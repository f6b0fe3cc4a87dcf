"""The command line is strict, helpful when it refuses, and quiet when it is cut off."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from governance import __version__
from governance.cli import COMMANDS
from governance.cli.run import load_command
from tests.cli.conftest import GOVCTL, Govctl


def test_the_version_is_told_without_loading_the_world(govctl: Govctl) -> None:
    done = govctl("--version")
    assert (done.code, done.out) == (0, f"govctl {__version__}\n")
    program = "import sys; from governance.cli import main; main(['--version']); print(*sys.modules)"
    loaded = subprocess.run(
        [GOVCTL.with_name("python"), "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pydantic", "httpx", "jsonschema_rs", "rich", "fastapi", "yaml", "argparse"} & set(loaded)


@pytest.mark.parametrize("word", COMMANDS)
def test_every_command_has_help_and_ends_well(govctl: Govctl, word: str) -> None:
    done = govctl(word, "--help")
    assert done.code == 0
    assert f"govctl {word}" in done.out
    assert "--output" in done.out
    assert load_command(word).__doc__


def test_help_lists_every_command_and_exit_code(govctl: Govctl) -> None:
    done = govctl("--help")
    assert done.code == 0
    assert all(f"  {word} " in done.out for word in COMMANDS)
    assert "3 undecided alone blocks" in done.out


def test_no_command_at_all_shows_help_and_fails(govctl: Govctl) -> None:
    assert govctl().code == 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["chekc"], "govctl check"),
        (["range", "--include-prereleases", "^1", "1.0.0"], "--include-prerelease"),
        (["diff", "--raeding", "strict", "a", "b"], "--reading"),
        (["list", "--srever=x"], "--server"),
        (["list", "--serv", "http://x"], "--server"),
    ],
)
def test_an_unknown_word_ends_with_2_and_the_nearest_valid_one(govctl: Govctl, words: list[str], hint: str) -> None:
    done = govctl(*words)
    assert done.code == 2
    assert done.out == ""
    assert hint in done.err


def test_common_flags_may_stand_before_the_command(govctl: Govctl) -> None:
    assert govctl("-o", "json", "--quiet", "range", "^1", "1.2.0").json["best"] == "1.2.0"


def test_an_error_is_a_problem_document_where_json_is_wanted(govctl: Govctl) -> None:
    done = govctl("range", "^1", "one", "-o", "json")
    assert done.code == 2
    assert done.json["code"] == "invalid-version"
    assert done.json["fix"]
    assert done.err.startswith("error: 'one' is not a semantic version")
    assert "Traceback" not in done.err


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{GOVCTL} explain -o jsonl | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_a_terminal_escape_in_an_argument_is_not_echoed(govctl: Govctl) -> None:
    done = govctl("range", "\x1b[31m^1", "1.0.0")
    assert "\x1b" not in done.err


def test_no_server_is_a_usage_error_with_a_way_out(govctl: Govctl) -> None:
    done = govctl("list")
    assert done.code == 2
    assert "govctl serve" in done.err


def test_a_server_that_does_not_answer_is_exit_5(govctl: Govctl) -> None:
    done = govctl("list", "--server", "http://127.0.0.1:9", "-o", "json")
    assert done.code == 5
    assert done.json["code"] == "server-unreachable"


def test_doctor_waits_for_a_server_that_never_comes_and_then_fails(govctl: Govctl) -> None:
    done = govctl("doctor", "--wait", "0.5", "-o", "json")
    assert done.code == 1
    assert [one["subject"] for one in done.json["checks"] if one["status"] == "fail"] == ["server"]
    assert govctl("doctor").code == 0


def test_an_unknown_key_of_the_config_file_is_an_error(govctl: Govctl, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('sever = "http://x"\n')
    done = govctl("list", "--config", file)
    assert done.code == 2
    assert "'sever'" in done.err


def test_doctor_tells_settings_that_cannot_be_used_once(here: Govctl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://u:p@h/x")
    done = here("doctor", "-o", "json")
    assert done.code == 1
    told = {check["subject"]: check for check in done.json["checks"] if check["status"] != "ok"}
    assert (told["settings"]["status"], told["database"]["status"]) == ("fail", "-")
    assert here("doctor").out.count("does not begin with") == 2  # in the table and below it
