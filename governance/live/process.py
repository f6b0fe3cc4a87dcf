"""A server as a process of our own: started, listened to, and gone with everything it started."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NoReturn

from governance.errors import UsageError
from governance.live.isolation import without_network
from governance.live.model import Command

_MARK: Final = "GOVCTL_STARTED_BY"
"""Inherited by everything the server starts, so that what left its process group is found, too."""
_GRACE_SEC: Final = 2.0
_TERM_SEC: Final = 0.5
_REAP_SEC: Final = 2.0
_POLL_SEC: Final = 0.01
_SWEEPS: Final = 100
_TAIL_BYTES: Final = 4096
_LAST_READS: Final = 16


class ServerProcess:
    """Its three streams never block; :func:`started` makes and ends it.

    Raises:
        UsageError: it cannot be started.
    """

    def __init__(self, command: Command) -> None:
        self._mark = secrets.token_hex(16)
        environment = {**command.environment, _MARK: self._mark}
        argv = [_program(command), *command.argv[1:]]
        if command.no_network:
            argv = [*without_network(), *argv]
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=command.folder,
                env=environment,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise UsageError(
                f"{command.label} cannot be started: {reason.lower()}.", fix="Check the command after `--`."
            ) from None
        given = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._streams = tuple(stream for stream in given if stream is not None)
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in self._streams)
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def remember(self, data: bytes) -> None:
        """What it wrote to standard error; the end of it is kept."""
        self._tail.append(data[-_TAIL_BYTES:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= _TAIL_BYTES:
            self._tail_size -= len(self._tail.popleft())

    def last_words(self) -> str:
        """The end of its standard error; what is still in the pipe included."""
        with contextlib.suppress(OSError, ValueError):
            for _ in range(_LAST_READS):  # it may be writing all the time
                self.remember(os.read(self.stderr, 65536))
        return b"".join(self._tail)[-_TAIL_BYTES:].decode("utf-8", "replace").strip()

    def outcome(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs after a moment's wait."""
        self._wait(_TERM_SEC)
        return self._ended()

    def stop(self, *, grace_sec: float) -> None:
        """End it and everything it started: a closed input first, then signals, each in bounded time."""
        for stream in self._streams[:2]:
            stream.close()
        if not self._wait(grace_sec):
            self._signal(signal.SIGTERM)
            self._wait(_TERM_SEC)
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_REAP_SEC)
        self._sweep()
        self._streams[2].close()

    def _wait(self, seconds: float) -> bool:
        """Whether it ended within the time."""
        deadline = time.monotonic() + seconds
        while self._ended() is None:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SEC)
        return True

    def _ended(self) -> int | None:
        """Its exit code. It is not reaped by this, so that its process group keeps its number."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._process.poll()
        if self._process.returncode is not None:
            return self._process.returncode
        found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _sweep(self) -> None:
        """Kill what bears the mark, until nothing does: a process may have been starting another."""
        for _ in range(_SWEEPS):
            left = list(self._marked())
            if not left:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_POLL_SEC)

    def _marked(self) -> Iterator[int]:
        """Where the system shows environments (Linux); elsewhere the process group was all."""
        wanted = f"{_MARK}={self._mark}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


@contextlib.contextmanager
def started(command: Command) -> Iterator[ServerProcess]:
    """The running server; nothing of it is left afterwards, a SIGTERM to us included. One that failed gets no time
    to say goodbye."""
    with _ended_in_order():
        process = ServerProcess(command)
        grace = 0.0
        try:
            yield process
            grace = _GRACE_SEC
        finally:
            process.stop(grace_sec=grace)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Who ends us with SIGTERM ends the server, too, where nobody has other plans for that signal."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _program(command: Command) -> str:
    """Found before it is started, so that what is missing is said by us and not by a wrapper."""
    if command.folder is not None and not Path(command.folder).is_dir():
        raise UsageError(f"There is no folder {command.folder!r}.", fix="Give --cwd a folder that exists.")
    name = command.argv[0]
    path = command.environment.get("PATH", os.defpath)
    if "\0" in name or (os.sep not in name and shutil.which(name, path=path) is None):
        raise UsageError(
            f"There is no program {name!r} on the path.", fix="Give its whole path, or install it; the path is PATH's."
        )
    return name if os.sep in name else str(shutil.which(name, path=path))
