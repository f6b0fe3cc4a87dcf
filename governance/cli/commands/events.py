"""What changes, as it changes: publishes, deprecations, exceptions and all else that the registry tells.

Without --follow it prints what there is after the given place and ends.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.exact import dumps
from governance.cli.output import Output, write_stdout
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import ServerUnreachable, UsageError
from governance.wire import Event

_AGAIN_SEC = (1, 2, 5, 10, 30)
"""Between attempts to come back to a stream that broke off."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--after", metavar="ID", help="go on after this event; 0-0: all there are (default without "
                        "--follow)")  # fmt: skip
    parser.add_argument("--type", action="append", default=[], metavar="TYPE", help="such as skill.publish; repeatable")
    parser.add_argument("--namespace", help="only what lies here or below")
    parser.add_argument("--follow", action="store_true", help="wait for more, a JSON line each, until interrupted")


def run(call: Call) -> int:
    wanted = call.arguments
    if wanted.follow and call.output.destinations != Output().destinations:
        raise UsageError(
            "events --follow writes a JSON line each to standard output: it takes neither -o nor --out.",
            fix="govctl events --follow > FILE",
        )
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        if wanted.follow:
            for event in _followed(call, plane, wanted):
                write_stdout(dumps(document(event)) + "\n")
            return 0
        after = wanted.after or "0-0"
        found = list(plane.events(after=after, types=wanted.type, namespace=wanted.namespace))
    documents = [document(event) for event in found]
    blocks: list[Block] = [Verdict(word="events", sentence=f"{counted(len(found), 'event')}.")]
    if found:
        blocks.append(Table(columns=("id", "time", "type", "subject", "who"), rows=tuple(map(_row, found))))
        blocks.append(Paragraph(text=f"Go on from here with --after {found[-1].id}"))
    return call.output.emit(Report(document={"events": documents}, blocks=tuple(blocks), records=documents))


def _row(event: Event) -> tuple[str, ...]:
    return event.id, f"{event.time:%Y-%m-%d %H:%M:%S}", event.type, event.subject, event.actor


def _followed(call: Call, plane: ControlPlane, wanted: argparse.Namespace) -> Iterator[Event]:
    """Every event once, though the stream may break off on the way."""
    after, failures = wanted.after, 0
    while True:
        plane.place = after
        try:
            for event in plane.events(after=after, types=wanted.type, namespace=wanted.namespace, follow=True):
                yield event
                failures = 0
            failures = 0
        except ServerUnreachable as error:
            if plane.place is None:
                raise  # it never began: there is no place to go on from
            call.output.note(error.message)
            failures += 1
        after = plane.place
        time.sleep(_AGAIN_SEC[min(failures, len(_AGAIN_SEC) - 1)])
