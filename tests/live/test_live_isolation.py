"""A started server sees of this machine what it was given, and no more."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from governance.errors import ToolServerFailed, UsageError
from governance.live import Command, isolation, read_server
from governance.live.isolation import environment_for, without_network
from tests.live.conftest import SOON, heard_from
from tests.live.raw_server import TOOLS

OURS = {"PATH": "/bin", "HOME": "/home/me", "AWS_SECRET": "s", "GOVCTL_TOKEN": "t", "GOVCTL_HOME": "h"}


def test_our_own_settings_are_not_passed_on() -> None:
    assert environment_for(OURS) == {"PATH": "/bin", "HOME": "/home/me", "AWS_SECRET": "s"}


def test_an_empty_environment_says_where_things_are_and_what_was_given() -> None:
    given = [("AWS_SECRET", "other"), ("GOVCTL_HOME", "mine")]
    assert environment_for(OURS, empty=True) == {"PATH": "/bin", "HOME": "/home/me"}
    assert environment_for(OURS, empty=True, given=given) == {"PATH": "/bin", "HOME": "/home/me", **dict(given)}


def test_without_a_network_a_server_answers_and_reaches_nobody(tmp_path: Path) -> None:
    assert heard_from("plain", no_network=True).tools == tuple(TOOLS)
    program = "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=5)"
    command = Command(argv=(sys.executable, "-c", program), environment=dict(os.environ), no_network=True)
    with pytest.raises(ToolServerFailed) as caught:
        read_server(command, bounds=SOON)
    assert "Network is unreachable" in caught.value.fix


def test_a_machine_that_cannot_do_without_a_network_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *words, **options: None)
    without_network.cache_clear()
    with pytest.raises(UsageError, match="this machine has no `unshare`"):
        without_network()


def test_a_machine_that_allows_no_namespace_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation.shutil, "which", lambda *words, **options: "/bin/false")
    without_network.cache_clear()
    with pytest.raises(UsageError, match="does not allow network namespaces"):
        without_network()
