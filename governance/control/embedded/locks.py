"""Two files say who is there. The kernel drops their locks when a process dies, so nothing goes stale."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from governance.errors import DatabaseSetupFailed


def open_lock_file(path: Path) -> int:
    """Open (and make) a lock file, its folder's owner's: root locks nobody out of their home.

    Raises DatabaseSetupFailed."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise DatabaseSetupFailed(
            f"{path} cannot be opened: {error.strerror}.",
            fix="Run as the home's owner, name another home with GOVCTL_HOME, or set DATABASE_URL.",
        ) from error
    owner = path.parent.stat()
    if os.geteuid() == 0 and os.fstat(handle).st_uid != owner.st_uid:
        os.fchown(handle, owner.st_uid, owner.st_gid)
    return handle


@contextmanager
def exclusive(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold ``path`` alone for the block. Raises DatabaseSetupFailed after ``timeout`` seconds of waiting."""
    handle = open_lock_file(path)
    try:
        deadline = time.monotonic() + timeout
        while not try_exclusive(handle):
            if time.monotonic() > deadline:
                raise DatabaseSetupFailed(
                    f"Another process has been starting or stopping the server for {timeout:.0f} seconds.",
                    fix=f"See who holds {path} (fuser, lsof), end it, and try again.",
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def try_exclusive(handle: int) -> bool:
    """Take the lock alone if nobody else holds it. When refused, a share held on ``handle`` is gone too."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def share(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_SH)
