"""Which versions end, by date, with the days left and who is still served by them."""

from __future__ import annotations

import argparse

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.errors import UsageError
from governance.wire import SunsetView


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--within", metavar="DAYS", type=int, help="leave out what is further off")


def run(call: Call) -> int:
    wanted = call.arguments
    if wanted.within is not None and not 0 <= wanted.within <= 36_500:
        raise UsageError("--within is a number of days from 0 to 36500.", fix="Give one, such as --within 90.")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        found = list(plane.sunsets(within_days=wanted.within))
    documents = [document(one) for one in found]
    still = sum(bool(one.consumers) for one in found)
    sentence = f"{counted(len(found), 'version')}" + (f", {still} still in use." if found else ".")
    blocks: list[Block] = [Verdict(word="sunsets", sentence=sentence, tone="warn" if still else "plain")]
    if found:
        columns = ("sunset", "days left", "version", "state", "replacement", "still served")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, found))))
    return call.output.emit(Report(document={"sunsets": documents}, blocks=tuple(blocks), records=documents))


def _row(one: SunsetView) -> tuple[str, ...]:
    more = f" and {one.more_consumers} more" if one.more_consumers else ""
    return (
        one.sunset.isoformat(),
        str(one.days_left),
        f"{one.skill}@{one.version}",
        one.state.value,
        one.replacement or "-",
        ", ".join(one.consumers) + more if one.consumers else "nobody on record",
    )
