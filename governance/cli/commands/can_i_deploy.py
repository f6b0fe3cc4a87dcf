"""May this version run in an environment? Each consumer there by name, and whether its calls keep working.

What is on record as running there is replaced, unless the version runs --beside it.
"""

from __future__ import annotations

import argparse

from governance.cli.cards import well_formed
from governance.cli.config import require_connection
from governance.cli.judgement import judgement_report, version_of
from governance.cli.run import Call

JUDGES = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME@VERSION", help="what would be deployed")
    parser.add_argument("--env", required=True, metavar="ENVIRONMENT", help="where, such as prod")
    parser.add_argument("--beside", action="store_true", help="it runs beside what runs there, not in its place")


def run(call: Call) -> int:
    """0 allowed or warned, 1 blocked, 2 no such environment, skill or version."""
    wanted = call.arguments
    name, version = version_of(wanted.skill)
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        judged = plane.can_i_deploy(plane.get_skill(name).name, version, wanted.env, beside=wanted.beside)
    return call.output.emit(judgement_report(judged))
