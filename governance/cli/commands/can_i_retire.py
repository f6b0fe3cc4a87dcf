"""May this version go? Each consumer by name: what would serve it then, and whether its calls keep working."""

from __future__ import annotations

import argparse

from governance.cli.cards import well_formed
from governance.cli.config import require_connection
from governance.cli.judgement import judgement_report, version_of
from governance.cli.run import Call

JUDGES = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="what would go")


def run(call: Call) -> int:
    """0 allowed or warned, 1 blocked."""
    name, version = version_of(call.arguments.skill)
    with well_formed(), require_connection(call.arguments, call.environment).open() as plane:
        judged = plane.can_i_retire(plane.get_skill(name).name, version)
    return call.output.emit(judgement_report(judged))
