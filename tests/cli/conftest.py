"""Runs the real console script in a process of its own, as CI does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from governance.cli import main
from governance.control.serving import serving
from governance.control.settings import Settings
from tests.cli.toollists import new_repository

GOVCTL = Path(sys.executable).with_name("govctl")


@dataclass(frozen=True, kw_only=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Govctl = Callable[..., Done]


@pytest.fixture
def govctl(tmp_path: Path) -> Govctl:
    """``govctl(*words, stdin=b"", env={...}, cwd=...)``; knows no server, home or config of this machine."""

    def run(*words: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None, cwd: Path | None = None) -> Done:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("GOVCTL_", "XDG_", "GIT_"))}
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            [GOVCTL, *map(str, words)],
            input=stdin,
            capture_output=True,
            env={**clean, "HOME": str(home), "GOVCTL_HOME": str(home / "govctl"), **(env or {})},
            cwd=cwd or tmp_path,
            timeout=120,
            check=False,
        )
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Govctl:
    """Like ``govctl`` without standard input, in this process: many runs in the time of one."""
    for name in [name for name in os.environ if name.startswith(("GOVCTL_", "XDG_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GOVCTL_HOME", str(tmp_path / "govctl"))

    def run(*words: str | Path, cwd: Path | None = None) -> Done:
        monkeypatch.chdir(cwd or tmp_path)
        code = main([str(word) for word in words])
        captured = capfdbinary.readouterr()
        return Done(code=code, out=captured.out.decode(), err=captured.err.decode())

    return run


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository whose one commit holds the tool ``find``."""
    return new_repository(tmp_path / "repository")


@pytest.fixture
def registry(settings: Settings, here: Govctl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Govctl]:
    """``govctl`` with a running control plane and its admin token in the environment."""
    with serving(settings) as ready:
        monkeypatch.setenv("GOVCTL_SERVER", ready.address)
        monkeypatch.setenv("GOVCTL_TOKEN", ready.token)
        yield here
