"""May these skills be published, and who would be hit? The registry's own gate; nothing is published.

The same decision as ``govctl check --against registry``, under the name that stands beside can-i-deploy.
"""

from __future__ import annotations

import argparse

from governance.cli.announcing import Numbers, only_one_number
from governance.cli.registry import check_online
from governance.cli.releases import release_report
from governance.cli.run import Call
from governance.cli.servers import SOURCES, WORD, add_owner, add_servers, read_sources, some
from governance.core.compat.model import Verdict

JUDGES = True
COMMAND_AFTER = WORD


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=SOURCES)
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    add_owner(parser)
    parser.add_argument("--version", metavar="VERSION", help="of the candidates, where they have none")
    parser.add_argument("--bump", choices=("auto",), help="auto: each takes the smallest honest number, breaks too")
    parser.add_argument("--fail-on", choices=("risky", "breaking"), help="block these whatever the number says")
    add_servers(parser)


def run(call: Call) -> int:
    """0 allowed or warned, 1 blocked, 3 undecided findings are all that blocks."""
    wanted = call.arguments
    only_one_number(wanted)
    new = some(read_sources(call, wanted.paths, namespace=wanted.namespace, version=wanted.version))
    numbers = Numbers(chosen=wanted.version is not None, automatic=wanted.bump == "auto")
    fail_on = Verdict(wanted.fail_on) if wanted.fail_on else None
    release = check_online(call, new, fail_on=fail_on, transitive=True, numbers=numbers)
    return call.output.emit(release_report(release, exit_code=release.exit_code))
