"""Switch a version off at once, for everybody, exact pins included. For operators."""

from __future__ import annotations

import argparse

from governance.cli.lives import add_change_arguments, change_one, needs_reason
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="the version")
    add_change_arguments(parser, reason="why; callers are shown it")


def run(call: Call) -> int:
    """0 done or so already, 6 changed by somebody else meanwhile."""
    wanted = call.arguments
    reason = needs_reason(wanted, "disable")
    return change_one(
        call,
        "switched off",
        lambda plane, name, version, match: plane.disable(name, version, reason, match=match, dry_run=wanted.dry_run),
    )
