"""The lines that consumers have accepted: list them, revoke one. Whose acceptance is revoked is asked again."""

from __future__ import annotations

import argparse

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.errors import UsageError
from governance.wire import AcceptanceView


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "revoke"), help="what to do")
    parser.add_argument("id", nargs="?", metavar="ID", help="revoke: the acceptance")
    parser.add_argument("--skill", metavar="NAME", help="list: only of this skill")
    parser.add_argument("--consumer", help="list: only of this consumer")
    parser.add_argument("--ended", action="store_true", help="list: those revoked and expired, too")


def run(call: Call) -> int:
    wanted = call.arguments
    if (wanted.action == "revoke") != (wanted.id is not None):
        raise UsageError("revoke takes the id of an acceptance, list takes none.", fix="govctl acceptance revoke ID")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        if wanted.id is not None:
            revoked = plane.revoke_acceptance(wanted.id)
            sentence = f"{revoked.consumer} no longer accepts the line of {revoked.skill} {revoked.line}."
            verdict = Verdict(word="revoked", sentence=sentence, tone="good")
            return call.output.emit(Report(document=document(revoked), blocks=(verdict,)))
        found = list(plane.acceptances(skill=wanted.skill, consumer=wanted.consumer, ended=wanted.ended))
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="acceptances", sentence=f"{counted(len(found), 'acceptance')}.")]
    if found:
        columns = ("id", "consumer", "skill", "line", "by", "since", "until")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, found))))
    return call.output.emit(Report(document={"acceptances": documents}, blocks=tuple(blocks), records=documents))


def _row(one: AcceptanceView) -> tuple[str, ...]:
    until = f"{one.expires_at:%Y-%m-%d}" if one.expires_at else "it is revoked"
    if one.revoked_at is not None:
        until = f"revoked {one.revoked_at:%Y-%m-%d}"
    return one.id, one.consumer, one.skill, one.line, one.basis, f"{one.accepted_at:%Y-%m-%d}", until
