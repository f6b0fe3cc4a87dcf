"""Announce the end of a version, of a range or of a whole skill: its sunset, and what replaces it.

NAME@1.2.3 is one version, NAME@^1 all that the range admits, NAME alone every version. Again, to amend: the date may
move later, never earlier. The answer shows whether callers could call the replacement as it is, with a payload if not,
and who they are.
"""

from __future__ import annotations

import argparse

from governance.cli.arguments import plain
from governance.cli.cards import well_formed
from governance.cli.config import require_connection
from governance.cli.lives import add_change_arguments, change_one, change_report, day
from governance.cli.run import Call
from governance.client import ControlPlane
from governance.core.versioning import Range
from governance.errors import UsageError
from governance.wire import LifecycleChange

VALUES_MAY_BEGIN_WITH_DASH = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME[@RANGE]", type=plain, help="a version, a range, or the whole skill")
    parser.add_argument(
        "--sunset", metavar="DATE|+DAYS", type=day, required=True, help="the day it ends for new callers"
    )
    parser.add_argument("--replacement", metavar="NAME@RANGE", required=True, help="what to use instead, or none")
    parser.add_argument("--guide", metavar="URL", help="where the way over is described")
    add_change_arguments(parser)


def run(call: Call) -> int:
    """0 done, 2 too little notice or an earlier date, 6 its state or its replacement does not allow it."""
    wanted = call.arguments
    name, at, admitted = wanted.skill.partition("@")
    if at and not admitted:
        raise UsageError(f"{wanted.skill!r} has no range after the @.", fix="Write NAME@^1.2, or NAME alone.")
    if admitted and Range.parse(admitted).exact is not None:
        return change_one(call, "deprecated", lambda plane, *which: _one(plane, call, *which))
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        change = plane.deprecate_range(
            plane.get_skill(name).name,
            admitted or None,
            sunset=wanted.sunset,
            replacement=wanted.replacement,
            migration_guide=wanted.guide,
            reason=wanted.reason,
            dry_run=wanted.dry_run,
        )
    return call.output.emit(change_report(change, "deprecated"))


def _one(plane: ControlPlane, call: Call, name: str, version: str, match: str) -> LifecycleChange:
    wanted = call.arguments
    return plane.deprecate(
        name,
        version,
        sunset=wanted.sunset,
        replacement=wanted.replacement,
        migration_guide=wanted.guide,
        reason=wanted.reason,
        match=match,
        dry_run=wanted.dry_run,
    )
