"""``govctl``: what CI and people use. Each command is one file under ``commands``, imported when called.

Exit codes: 0 pass, 1 gate failed, 2 usage, 3 undecided alone blocks, 4 auth, 5 server or network, 6 conflict,
7 part of a batch failed, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

COMMANDS: Final[dict[str, str]] = {
    "demo": "the whole thing in ten seconds, on example skills or on yours",
    "serve": "run the control plane",
    "migrate": "bring a database to this version's tables",
    "import": "read skills from files and say what is accepted, and why not",
    "lint": "what makes a skill hard to route, to call or to trust",
    "check": "would the gate let these skills in? offline, or as the registry decides",
    "diff": "what changed between two contracts, each break with its payload",
    "witness": "the payloads that separate two contracts, also as JSON Lines or as a test file",
    "publish": "put versions into the registry, through the gate",
    "catalogue": "a whole tool list, released as one: publish, check, diff, list",
    "show": "one skill or one version of it",
    "list": "the skills of the registry",
    "search": "find skills by words, tag, owner, state or field",
    "versions": "the versions of a skill, highest first",
    "resolve": "which version serves a caller, and what it is held back from",
    "range": "which of some versions a range admits",
    "export": "write a skill as native manifest, MCP tool or SKILL.md",
    "token": "create, list and revoke tokens",
    "audit": "who changed what and what was refused: list, export",
    "doctor": "is everything here that govctl needs?",
    "explain": "what a code means: findings, lints, gate reasons, errors",
}
"""Every command and its one line; ``commands/NAME.py`` (``import`` lives in ``import_.py``) holds it."""

INTERRUPTED: Final = 130


def entry() -> None:
    """The console script."""
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
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
    # The reader went away; without this the interpreter complains while it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
