"""Take a deprecation back. Past its sunset a version comes back as deprecated, with a new and later day."""

from __future__ import annotations

import argparse

from governance.cli.lives import add_change_arguments, change_one, day
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="the version")
    parser.add_argument("--sunset", metavar="DATE|+DAYS", type=day, help="past its sunset: the new day")
    add_change_arguments(parser)


def run(call: Call) -> int:
    """0 done or not deprecated, 6 retired for good or changed by somebody else meanwhile."""
    wanted = call.arguments
    return change_one(
        call,
        "no longer deprecated" if wanted.sunset is None else "deprecated again",
        lambda plane, name, version, match: plane.undeprecate(
            name, version, sunset=wanted.sunset, reason=wanted.reason, match=match, dry_run=wanted.dry_run
        ),
    )
