"""The versions of a skill, highest first; with --range those it admits."""

from __future__ import annotations

import argparse

from governance.cli.cards import document, versions_table
from governance.cli.config import require_connection
from governance.cli.report import Block, Report, Verdict
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a skill")
    parser.add_argument("--range", help="an npm range, such as ^1.2")


def run(call: Call) -> int:
    """0, or 1 when the range admits none."""
    wanted = call.arguments
    with require_connection(wanted, call.environment).open() as plane:
        found = plane.versions(wanted.name, range=wanted.range)
    documents = [document(version) for version in found]
    count = f"{len(found)} version{'' if len(found) == 1 else 's'}"
    blocks: list[Block] = [Verdict(word="versions", sentence=f"{wanted.name}: {count}.")]
    if found:
        blocks.append(versions_table(found))
    return call.output.emit(
        Report(
            document={"name": wanted.name, "range": wanted.range, "versions": documents},
            blocks=tuple(blocks),
            records=documents,
            exit_code=0 if found else 1,
        )
    )
