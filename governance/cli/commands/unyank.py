"""Let ranges reach a yanked version again."""

from __future__ import annotations

import argparse

from governance.cli.lives import add_change_arguments, change_one
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="the version")
    add_change_arguments(parser)


def run(call: Call) -> int:
    """0 done or so already, 6 changed by somebody else meanwhile."""
    wanted = call.arguments
    return change_one(
        call,
        "no longer yanked",
        lambda plane, name, version, match: plane.unyank(
            name, version, reason=wanted.reason, match=match, dry_run=wanted.dry_run
        ),
    )
