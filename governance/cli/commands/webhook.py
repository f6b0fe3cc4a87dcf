"""Webhooks: who is told of changes, and what was sent to them.

add URL · list · remove ID · rotate ID · enable ID · ping ID · deliveries ID · redeliver ID DELIVERY
"""

from __future__ import annotations

import argparse
from itertools import islice
from typing import Final

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import UsageError
from governance.wire import Delivery, Webhook, WebhookCreated

_SUBJECTS: Final = {
    "add": ("URL",), "list": (), "remove": ("ID",), "rotate": ("ID",), "enable": ("ID",), "ping": ("ID",),
    "deliveries": ("ID",), "redeliver": ("ID", "DELIVERY"),
}  # fmt: skip
"""Each action and the words it needs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=tuple(_SUBJECTS), help="what to do")
    parser.add_argument("subjects", nargs="*", default=[], metavar="URL|ID|DELIVERY", help="on what")
    parser.add_argument("--namespace", default="*", help="add: what lies here or below (default: everything)")
    parser.add_argument("--type", action="append", default=[], metavar="TYPE", help="add: such as skill.publish")
    parser.add_argument("--state", choices=("waiting", "delivered", "given_up"), help="deliveries: these alone")
    parser.add_argument("--limit", type=int, default=50, help="deliveries: most to show (default: 50)")


def run(call: Call) -> int:
    wanted = call.arguments
    needed = _SUBJECTS[wanted.action]
    if len(wanted.subjects) != len(needed):
        spelled = " ".join(("govctl webhook", wanted.action, *needed))
        raise UsageError(f"webhook {wanted.action} needs {' and '.join(needed) or 'nothing more'}.", fix=spelled)
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        return call.output.emit(_act(plane, wanted))


def _act(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    given = wanted.subjects
    match wanted.action:
        case "add":
            return _secret(plane.create_webhook(given[0], namespace=wanted.namespace, types=wanted.type), "added")
        case "rotate":
            return _secret(plane.rotate_webhook(given[0]), "rotated")
        case "remove":
            return _one(plane.remove_webhook(given[0]), "removed")
        case "enable":
            return _one(plane.enable_webhook(given[0]), "enabled")
        case "ping":
            return _sent(plane.ping_webhook(given[0]))
        case "redeliver":
            return _sent(plane.redeliver(given[0], given[1]))
        case "deliveries":
            return _log(list(islice(plane.deliveries(given[0], state=wanted.state), max(1, wanted.limit))))
        case _:
            return _list(plane.webhooks())


def _secret(created: WebhookCreated, word: str) -> Report:
    blocks = (
        Verdict(word=word, sentence=f"{created.url}, id {created.id}.", tone="good"),
        Paragraph(text=created.secret),
        Paragraph(text="It is shown this once; receivers verify with it, by Standard Webhooks."),
    )
    return Report(document=document(created), blocks=blocks)


def _one(webhook: Webhook, word: str) -> Report:
    verdict = Verdict(word=word, sentence=f"{webhook.url}, id {webhook.id}.", tone="good")
    return Report(document=document(webhook), blocks=(verdict,))


def _sent(delivery: Delivery) -> Report:
    sentence = f"delivery {delivery.id}; `govctl webhook deliveries ID` tells what became of it."
    return Report(document=document(delivery), blocks=(Verdict(word="waiting", sentence=sentence),))


def _list(webhooks: list[Webhook]) -> Report:
    documents = [document(one) for one in webhooks]
    blocks: list[Block] = [Verdict(word="webhooks", sentence=f"{counted(len(webhooks), 'webhook')}.")]
    if webhooks:
        rows = tuple(
            (one.id, one.url, one.namespace, ", ".join(one.types) or "all", one.disabled or "on") for one in webhooks
        )
        blocks.append(Table(columns=("id", "url", "namespace", "types", "state"), rows=rows))
    return Report(document={"webhooks": documents}, blocks=tuple(blocks), records=documents)


def _log(found: list[Delivery]) -> Report:
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="deliveries", sentence=f"{counted(len(found), 'delivery', 'deliveries')}.")]
    if found:
        columns = ("id", "created", "type", "event", "state", "attempts", "last")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, found))))
    return Report(document={"deliveries": documents}, blocks=tuple(blocks), records=documents)


def _row(one: Delivery) -> tuple[str, ...]:
    last = one.last_error or (str(one.last_status) if one.last_status else "")
    return one.id, f"{one.created_at:%Y-%m-%d %H:%M:%S}", one.type, one.event, one.state, str(one.attempts), last
