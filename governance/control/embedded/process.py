"""Is the process that a pid file names really a server of this data folder? A number alone proves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def pid_in(path: Path) -> int | None:
    """The pid on the first line of a postmaster's file, None where there is none to read."""
    try:
        first = path.read_text(errors="replace").split("\n", 1)[0].strip()
    except OSError:
        return None
    return int(first) if first.isascii() and first.isdigit() and 0 < int(first) < 2**31 else None


def exists(pid: int) -> bool:
    """Whether the kernel knows the number: a reused one and a zombie count."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_server_of(pid: int, data: Path) -> bool:
    """Whether ``pid`` is a living postgres that works in ``data``."""
    return _linux(pid, data) if sys.platform == "linux" else _by_ps(pid)


def _linux(pid: int, data: Path) -> bool:
    folder = Path("/proc") / str(pid)
    try:
        # The name stands in brackets and may hold any character, the state comes right after it.
        name, _, rest = (folder / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
        if name != "postgres" or rest.split()[0] in {"Z", "X"}:
            return False
        return (folder / "cwd").samefile(data)
    except OSError:
        return False


def _by_ps(pid: int) -> bool:
    answer = subprocess.run(
        ["ps", "-o", "stat=,comm=", "-p", str(pid)], capture_output=True, text=True, timeout=20, check=False
    ).stdout.split(None, 1)
    return len(answer) == 2 and not answer[0].startswith("Z") and Path(answer[1].strip()).name == "postgres"
