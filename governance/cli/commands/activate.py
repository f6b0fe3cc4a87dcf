"""Let a draft serve, if the gate lets it in beside what was published since; or take that back with --undo.

Back to a draft goes only a version that serves nobody and that no later version was judged against.
"""

from __future__ import annotations

import argparse

from governance.cli.lives import add_change_arguments, change_one
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="the version")
    parser.add_argument("--undo", action="store_true", help="make it a draft again")
    add_change_arguments(parser)


def run(call: Call) -> int:
    """0 done or so already, 1 the gate refuses it, or it is still needed, 6 it is no draft, or changed meanwhile."""
    wanted = call.arguments
    return change_one(
        call,
        "a draft again" if wanted.undo else "active",
        lambda plane, name, version, match: (plane.draft_again if wanted.undo else plane.activate)(
            name, version, reason=wanted.reason, match=match, dry_run=wanted.dry_run
        ),
    )
