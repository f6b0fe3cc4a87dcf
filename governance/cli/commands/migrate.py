"""Bring a database to this version's tables: DATABASE_OWNER_URL, else DATABASE_URL, else the embedded one."""

from __future__ import annotations

import argparse

from governance.cli import door
from governance.cli.report import Report, Verdict
from governance.cli.run import Call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="change nothing; 1 when something is to be done")


def run(call: Call) -> int:
    """0 when the database is, or now is, at this version's tables."""
    found = door.migrate(call.environment, check=call.arguments.check)
    if found.current == found.head:
        done = f"from {found.before or 'empty'} to {found.head}" if found.before != found.head else found.head
        verdict = Verdict(word="up to date", sentence=f"{done}.", tone="good")
    else:
        verdict = Verdict(word="behind", sentence=f"{found.current or 'empty'}, {found.head} is due.", tone="bad")
    document = {"before": found.before, "current": found.current, "head": found.head}
    return call.output.emit(
        Report(document=document, blocks=(verdict,), exit_code=0 if found.current == found.head else 1)
    )
