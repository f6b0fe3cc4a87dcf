"""The audit log: list shows the newest entries, export writes all of them, a line of canonical JSON each."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from governance.cli.cards import well_formed
from governance.cli.config import require_connection
from governance.cli.output import Output, write_stdout, written_file
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import progress
from governance.client import ControlPlane
from governance.core.canonical import canonical_bytes
from governance.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "export"), help="what to do")
    parser.add_argument("file", nargs="?", metavar="FILE", help="export: where to (default: standard output)")
    parser.add_argument("--subject", help="only entries on this: NAME@VERSION, the id of a token or a check")
    parser.add_argument(
        "--action", dest="kind", metavar="ACTION", help="only entries of this action, such as skill.publish"
    )
    parser.add_argument("--after", metavar="PLACE", help="only what came after the place that an earlier run told")
    parser.add_argument("--limit", type=int, default=50, help="list: most entries to show (default: 50)")


def run(call: Call) -> int:
    wanted = call.arguments
    if wanted.action == "list" and wanted.file:
        raise UsageError("audit list writes no file.", fix="govctl audit export FILE")
    if wanted.action == "export" and call.output.destinations != Output().destinations:
        raise UsageError(
            "audit export writes the entries as they are kept, a line each: it takes neither -o nor --out.",
            fix="govctl audit export FILE",
        )
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        if wanted.action == "export":
            return _export(call, plane)
        return call.output.emit(_list(plane, wanted))


def _list(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    newest: deque[dict[str, Any]] = deque(maxlen=max(1, wanted.limit))
    last, count = wanted.after, 0
    for page in _pages(plane, wanted):
        newest.extend(page.items)
        last, count = page.last, count + len(page.items)
    entries = list(newest)
    sentence = f"{count}." if count == len(entries) else f"the newest {len(entries)} of {count}."
    blocks: list[Block] = [Verdict(word="entries", sentence=sentence)]
    if entries:
        columns = ("at", "who", "action", "subject", "outcome", "reason")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, entries))))
    if last is not None:
        blocks.append(Paragraph(text=f"Go on from here with --after {last}"))
    return Report(document={"entries": entries, "last": last}, blocks=tuple(blocks), records=entries)


def _pages(plane: ControlPlane, wanted: argparse.Namespace) -> Iterator[Any]:
    return plane.audit_pages(after=wanted.after, subject=wanted.subject, action=wanted.kind)


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    at, who = str(entry["at"])[:19].replace("T", " "), entry["actor"]["name"]
    return at, who, entry["action"], entry["subject"], entry["outcome"], entry["reason"] or ""


def _export(call: Call, plane: ControlPlane) -> int:
    """Page after page, so that the length of the log costs no memory; the place to go on from goes to stderr."""
    wanted = call.arguments
    count, last = 0, wanted.after
    with progress("exporting", None, quiet=call.output.quiet) as bar:
        if wanted.file:
            with written_file(Path(wanted.file)) as stream:
                for page in _pages(plane, wanted):
                    stream.write(_lines(page.items))
                    count, last = count + len(page.items), page.last
                    bar.advance(len(page.items))
        else:
            for page in _pages(plane, wanted):
                write_stdout(_lines(page.items))
                count, last = count + len(page.items), page.last
    if not call.output.quiet:
        place = f"; go on from here with --after {last}" if last else ""
        print(f"{count} entries{place}", file=sys.stderr)
    return 0


def _lines(entries: list[dict[str, Any]]) -> str:
    return "".join(canonical_bytes(entry).decode() + "\n" for entry in entries)
