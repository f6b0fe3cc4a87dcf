"""Consumers by versions: what serves each of them now, and which versions would keep its calls working."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted

_WORDS: Final = {"compatible": "ok", "risky": "risky", "breaking": "BREAKS", "undecided": "undecided", None: "?"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME", help="the skill")
    parser.add_argument(
        "versions", metavar="VERSION", nargs="*", default=[], help="the columns (default: the highest that serve)"
    )
    parser.add_argument("--consumer", help="this consumer alone")
    parser.add_argument("--env", metavar="ENVIRONMENT", help="what is needed in this environment alone")


def run(call: Call) -> int:
    wanted = call.arguments
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        name = plane.get_skill(wanted.skill).name
        found = plane.matrix(name, versions=wanted.versions, consumer=wanted.consumer, environment=wanted.env)
    consumers = len({row["consumer"] for row in found.rows})
    sentence = f"{found.skill}: {counted(consumers, 'consumer')}, {counted(len(found.versions), 'version')}."
    blocks: list[Block] = [Verdict(word="matrix", sentence=sentence)]
    if found.rows:
        columns = ("consumer", "environment", "range", "served", *found.versions)
        blocks.append(Table(columns=columns, rows=tuple(map(_row, found.rows))))
        blocks.append(Paragraph(text="A * marks what serves now; a cell in brackets lies outside the range."))
    if found.left_out:
        left = f"{counted(found.left_out, 'row')} more: name a consumer or an environment."
        blocks.append(Paragraph(text=left))
    return call.output.emit(Report(document=document(found), blocks=tuple(blocks), records=list(found.rows)))


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    where, range_ = row["environment"] or "all", row["range"] or "(bare name)"
    return row["consumer"], where, range_, row["now"] or "nothing", *(_cell(cell) for cell in row["cells"])


def _cell(cell: Mapping[str, Any]) -> str:
    word = ("* " if cell["serves"] else "") + _WORDS.get(cell["verdict"], str(cell["verdict"]))
    return word if cell["admitted"] else f"({word})"
