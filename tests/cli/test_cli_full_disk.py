"""What cannot be written is told, and no half of it is left."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "data" / "functions" / "openai_tools.json"
_RUN = "import sys; sys.argv[0] = 'govctl'; from governance.cli import entry; entry()"


def govctl(*arguments: str, **how: object) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", _RUN, *arguments]
    return subprocess.run(argv, stderr=subprocess.PIPE, text=True, check=False, **how)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("command", ["lint", "export"])
def test_a_full_standard_output_is_no_bug(command: str) -> None:
    to = ["--to", "mcp"] if command == "export" else ["-o", "json"]
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        told = govctl(command, str(TOOLS), *to, stdout=full)
    assert told.returncode == 2
    assert told.stderr.startswith("error: Standard output cannot be written: no space left on device.\n")
    assert "Make room" in told.stderr
    assert "bug" not in told.stderr


def test_a_file_that_does_not_fit_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("before")
    told = govctl(
        "lint", str(TOOLS), "-o", "json", "--out", str(report),
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert told.returncode == 2
    assert f"{report} cannot be written: file too large." in told.stderr
    assert "nothing of it was kept" in told.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert report.read_text() == "before"


def test_a_full_device_is_told() -> None:
    told = govctl("lint", str(TOOLS), "-o", "json", "--out", "/dev/full", stdout=subprocess.DEVNULL)
    assert (told.returncode, "/dev/full cannot be written: no space" in told.stderr) == (2, True)


def test_a_closed_standard_output_is_no_bug(tmp_path: Path) -> None:
    told = govctl("lint", str(TOOLS), preexec_fn=lambda: os.close(1))
    assert (told.returncode, told.stderr.partition("\n")[0]) == (2, "error: Standard output is closed.")
    assert "Traceback" not in told.stderr
    report = tmp_path / "report.json"
    told = govctl("lint", str(TOOLS), "-o", "json", "--out", str(report), preexec_fn=lambda: os.close(1))
    assert (told.returncode, "Traceback" in told.stderr) == (0, False)
    assert report.stat().st_size
