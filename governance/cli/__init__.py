"""``govctl``: what CI and people use. Each command is one file under ``commands``, imported when called.

Exit codes: 0 pass, 1 gate failed, 2 usage, 3 undecided alone blocks, 4 auth, 5 server or network, 6 conflict,
7 part of a batch failed, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from governance.cli.commands import COMMANDS

__all__ = ["COMMANDS", "entry", "main"]

INTERRUPTED: Final = 130


def entry() -> None:
    """The console script."""
    code = main(sys.argv[1:])
    try:
        if sys.stdout is not None:  # it is None where it was closed before the start
            sys.stdout.flush()
    except OSError:
        _silence_stdout()
    sys.exit(code)


def main(argv: Sequence[str]) -> int:
    """Run one command line; returns the exit code and never raises for what a user can cause."""
    if list(argv) in (["--version"], ["-V"]):
        from governance import __version__

        print(f"govctl {__version__}")
        return 0
    from governance.cli.run import run

    try:
        return run(argv)
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        from governance.cli.run import tell_bug

        return tell_bug(error)


def _silence_stdout() -> None:
    # The reader went away, or there is no room, which was told; else the interpreter complains as it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
