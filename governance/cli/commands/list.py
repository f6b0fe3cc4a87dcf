"""The skills of the registry, by name."""

from __future__ import annotations

import argparse
from itertools import islice

from governance.cli.cards import STATES, skills_report
from governance.cli.config import require_connection
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tag", help="only with this tag")
    parser.add_argument("--owner", help="only of this owner")
    parser.add_argument("--state", choices=STATES, help="only in this state")
    parser.add_argument("--limit", type=int, default=1000, help="most skills to show (default: 1000)")


def run(call: Call) -> int:
    wanted = call.arguments
    with require_connection(wanted, call.environment).open() as plane:
        found = list(islice(plane.search(tag=wanted.tag, owner=wanted.owner, state=wanted.state), wanted.limit + 1))
    return call.output.emit(skills_report(found[: wanted.limit], truncated=len(found) > wanted.limit))
