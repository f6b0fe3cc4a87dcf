"""The whole thing in ten seconds: a database and a service of its own, a catalogue published, a compatible change
let in and a breaking one refused with the payload that shows it. On a terminal it stays up until Ctrl-C; state and
processes are gone afterwards.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from governance.cli import door
from governance.cli.performance import Performance, perform
from governance.cli.run import Call
from governance.cli.sources import existing
from governance.cli.terminal import is_terminal
from governance.client import ControlPlane
from governance.importers import ImportResult, import_paths

EXAMPLES = Path(__file__).parents[1] / "examples"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--catalogue",
        nargs="+",
        metavar=("OLD", "NEW"),
        help="your own skills or tool list, and a newer version of it",
    )
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")


def run(call: Call) -> int:
    """0 when everything could be shown, whatever the gate decided."""
    old, new = _catalogues(call)
    began = time.monotonic()
    with _stopped_by_sigterm(), _home() as home:
        call.output.note("Starting a Postgres and a control plane of its own …")
        with door.serving(home) as (address, token), ControlPlane(address, token) as plane:
            ready = time.monotonic() - began
            shown = perform(plane, old, new)
            report = shown.report(address=address, home=home, ready_sec=ready, total_sec=time.monotonic() - began)
            call.output.emit(report)
            if is_terminal(sys.stdin) and is_terminal(sys.stdout):
                call.output.note(_invitation(shown, address, home))
                with contextlib.suppress(KeyboardInterrupt):
                    threading.Event().wait()
                call.output.note("\nStopped; nothing is left behind.")
    return 0


def _catalogues(call: Call) -> tuple[ImportResult, ImportResult | None]:
    wanted = call.arguments
    if wanted.catalogue is None:
        return import_paths([EXAMPLES / "1.0.0"]), import_paths([EXAMPLES / "next"])
    paths = existing(wanted.catalogue)
    if len(paths) > 2:
        from governance.errors import UsageError

        raise UsageError("--catalogue takes OLD and at most one NEW.", fix="Give two files or folders.")
    read = [import_paths([path], namespace=wanted.namespace) for path in paths]
    return read[0], read[1] if len(read) == 2 else None


def _invitation(shown: Performance, address: str, home: Path) -> str:
    skill = next(iter(shown.published), "NAME")
    return "\n".join(
        (
            "",
            "It is still running. In another terminal:",
            f"  export GOVCTL_HOME={home}",
            "  govctl list",
            f"  govctl show {skill}",
            f"  govctl resolve {skill}@^1",
            f"The API and its documentation: {address}/docs",
            "Ctrl-C stops it.",
        )
    )


@contextlib.contextmanager
def _home() -> Iterator[Path]:
    """A folder that is gone afterwards; the unprivileged user of an embedded server may pass through it."""
    with tempfile.TemporaryDirectory(prefix="govctl-demo-", ignore_cleanup_errors=True) as name:
        if os.geteuid() == 0:
            Path(name).chmod(0o711)
        yield Path(name) / "home"


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """SIGTERM unwinds like Ctrl-C, so that the database is stopped and not orphaned."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
