"""The control plane is found in one order, and a token never travels to a server that is not its own."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from governance.cli.config import find_connection
from governance.errors import MalformedDocument, UsageError


def words(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"server": None, "token": None, "config": None, "timeout": None, **given})


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "GOVCTL_HOME": str(tmp_path / "govctl")}


def local(environment: dict[str, str]) -> None:
    home = Path(environment["GOVCTL_HOME"])
    home.mkdir()
    (home / "server.json").write_text(json.dumps({"address": "http://127.0.0.1:8470", "token": "local"}))


def configured(environment: dict[str, str], text: str) -> Path:
    file = Path(environment["HOME"]) / ".config" / "govctl" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_nothing_is_configured_at_first(environment: dict[str, str]) -> None:
    assert find_connection(words(), environment) is None


def test_flags_come_before_environment_before_config_before_the_local_server(environment: dict[str, str]) -> None:
    local(environment)
    found = find_connection(words(), environment)
    assert found is not None
    assert (found.server, found.token, found.local) == ("http://127.0.0.1:8470", "local", True)
    configured(environment, 'server = "http://config"\ntoken = "c"\ntimeout_sec = 5\n')
    found = find_connection(words(), environment)
    assert found is not None
    assert (found.server, found.token, found.timeout_sec, found.local) == ("http://config", "c", 5, False)
    environment |= {"GOVCTL_SERVER": "http://env", "GOVCTL_TOKEN": "e"}
    found = find_connection(words(), environment)
    assert found is not None
    assert (found.server, found.token) == ("http://env", "e")
    found = find_connection(words(server="http://flag", token="f", timeout=1.0), environment)
    assert found is not None
    assert (found.server, found.token, found.timeout_sec) == ("http://flag", "f", 1.0)


def test_a_token_of_one_server_is_never_sent_to_another(environment: dict[str, str]) -> None:
    local(environment)
    configured(environment, 'server = "http://config"\ntoken = "c"\n')
    found = find_connection(words(server="http://stranger"), environment)
    assert found is not None
    assert found.token is None
    same = find_connection(words(server="http://127.0.0.1:8470"), environment)
    assert same is not None
    assert same.token == "local"


def test_an_explicit_token_goes_to_the_server_found_below_it(environment: dict[str, str]) -> None:
    local(environment)
    found = find_connection(words(token="mine"), environment)
    assert found is not None
    assert (found.server, found.token) == ("http://127.0.0.1:8470", "mine")


@pytest.mark.parametrize("text", ['sever = "x"', "server = 5", "timeout_sec = true", "token = []"])
def test_an_unknown_key_or_a_wrong_type_is_an_error(environment: dict[str, str], text: str) -> None:
    configured(environment, text)
    with pytest.raises(UsageError):
        find_connection(words(), environment)


def test_a_config_file_that_was_named_must_be_there_and_be_toml(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        find_connection(words(config=str(tmp_path / "none.toml")), environment)
    (tmp_path / "odd.toml").write_bytes(b"\xff = [")
    with pytest.raises(MalformedDocument):
        find_connection(words(config=str(tmp_path / "odd.toml")), environment)


def test_a_config_in_the_current_folder_is_not_trusted(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "config.toml").write_text('server = "http://stranger"')
    (tmp_path / "work" / "govctl.toml").write_text('server = "http://stranger"')
    monkeypatch.chdir(tmp_path / "work")
    assert find_connection(words(), environment) is None


def test_a_token_is_not_shown_by_repr(environment: dict[str, str]) -> None:
    local(environment)
    assert "token='" not in repr(find_connection(words(token="mine"), environment))
    assert "mine" not in repr(find_connection(words(token="mine"), environment))
