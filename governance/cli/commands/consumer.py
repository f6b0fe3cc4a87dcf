"""Who relies on what: register a consumer with the ranges and fields it uses, list consumers, show one.

register takes FILE (YAML, JSON or TOML with name, owner, description and needs, each with skill, range, environments,
reads, sends), or NAME with --need. What it declared before and does not say again is gone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.sources import read_document
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import Fault, InvalidRequest, NotFound, UsageError
from governance.wire import Consumer, ConsumerRequest

_LOOKED_UP: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("register", "list", "show"), help="what to do")
    parser.add_argument("subject", nargs="?", metavar="FILE|NAME", help="register: a file, or a name; show: a name")
    parser.add_argument(
        "--need", action="append", default=[], metavar="SKILL[@RANGE]", help="register NAME: what it needs; repeatable"
    )
    parser.add_argument("--owner", help="register NAME: who answers for it")
    parser.add_argument("--description", help="register NAME: what it is")
    parser.add_argument(
        "--environment", action="append", default=[], help="register NAME: where, repeatable; list: needed there"
    )
    parser.add_argument("--reads", action="append", metavar="POINTER", help="with one --need: an output field it reads")
    parser.add_argument("--sends", action="append", metavar="POINTER", help="with one --need: an input field it sends")
    parser.add_argument("--skill", metavar="NAME", help="list: only those that need this skill")


def run(call: Call) -> int:
    """0 registered or shown, 2 a need that cannot stand or nobody of that name, 4 a right is missing."""
    wanted = call.arguments
    if wanted.action != "list" and not wanted.subject:
        raise UsageError(
            f"consumer {wanted.action} needs a name.", fix="govctl consumer register NAME --need SKILL@RANGE"
        )
    asked = _asked(wanted) if wanted.action == "register" else None
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        if asked is not None:
            registered = plane.put_consumer(*asked)
            for skill in _unpublished(plane, registered):
                call.output.note(f"{skill} is not published yet: nothing can be told of it until it is.")
            return call.output.emit(_one(registered, word="registered"))
        if wanted.action == "show":
            return call.output.emit(_one(plane.get_consumer(wanted.subject)))
        return call.output.emit(_list(plane, wanted))


def _unpublished(plane: ControlPlane, consumer: Consumer) -> list[str]:
    """Of the first needs: a name misspelt would else look like one that is needed."""
    found = []
    for skill in list(dict.fromkeys(need.skill for need in consumer.needs))[:_LOOKED_UP]:
        try:
            plane.get_skill(skill)
        except NotFound:
            found.append(skill)
    return found


def _asked(wanted: argparse.Namespace) -> tuple[str, ConsumerRequest]:
    """The consumer's name, and what it declares."""
    if Path(wanted.subject).is_file():
        if wanted.need or wanted.owner or wanted.description or wanted.environment:
            raise UsageError(
                "The file says what the consumer needs.", fix="Leave the flags out, or give a name instead."
            )
        return _from_file(wanted.subject)
    if not wanted.need:
        raise UsageError(
            f"There is no file {wanted.subject!r}, and a consumer of that name would need nothing.",
            fix="Add --need SKILL@RANGE, or name a file.",
        )
    if (wanted.reads or wanted.sends) and len(wanted.need) > 1:
        raise UsageError("Fields are those of one skill.", fix="Give one --need, or write a file.")
    for flag, pointers in (("--reads", wanted.reads or ()), ("--sends", wanted.sends or ())):
        for text in pointers:
            if not text.startswith("/"):
                fix = f"Write /{text}; the price of every item is /items/*/price."
                raise UsageError(f"{flag} {text!r} is no JSON Pointer.", fix=fix)
    needs = [
        {
            "skill": skill,
            "range": range_ or None,
            "environments": wanted.environment or None,
            "reads": wanted.reads,
            "sends": wanted.sends,
        }
        for skill, _, range_ in (need.partition("@") for need in wanted.need)
    ]
    with well_formed():
        return wanted.subject, ConsumerRequest.model_validate(
            {"owner": wanted.owner, "description": wanted.description, "needs": needs}
        )


def _from_file(path: str) -> tuple[str, ConsumerRequest]:
    found: Any = read_document(path).value
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise InvalidRequest(
            f"{path} describes no consumer.",
            fix="Give it name and needs: {name: agents/one, needs: [{skill: billing.charge, range: ^1.2}]}.",
            faults=[Fault(pointer="/name", message="a consumer has a name", code="missing")],
        )
    with well_formed():
        return found["name"], ConsumerRequest.model_validate({key: one for key, one in found.items() if key != "name"})


def _one(consumer: Consumer, *, word: str = "consumer") -> Report:
    owner = f", of {consumer.owner}" if consumer.owner else ""
    sentence = f"{consumer.name}{owner}: {counted(len(consumer.needs), 'need')}."
    blocks: list[Block] = [Verdict(word=word, sentence=sentence, tone="good" if word == "registered" else "plain")]
    if consumer.description:
        blocks.append(Paragraph(text=consumer.description))
    if consumer.needs:
        rows = tuple(
            (
                need.skill,
                need.range or "(bare name)",
                need.environment or "all",
                "any" if need.reads is None else " ".join(need.reads) or "none",
                "any" if need.sends is None else " ".join(need.sends) or "none",
                need.source,
            )
            for need in consumer.needs
        )
        blocks.append(Table(columns=("skill", "range", "environment", "reads", "sends", "says"), rows=rows))
    if consumer.hidden:
        blocks.append(Paragraph(text=f"{counted(consumer.hidden, 'need')} of skills this token may not read."))
    return Report(document=document(consumer), blocks=tuple(blocks))


def _list(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    if len(wanted.environment) > 1:
        raise UsageError("One environment at a time.", fix="Give --environment once.")
    environment = wanted.environment[0] if wanted.environment else None
    found = list(plane.consumers(skill=wanted.skill, environment=environment))
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="consumers", sentence=f"{counted(len(found), 'consumer')}.")]
    if found:
        rows = tuple((one.name, one.owner or "-", ", ".join(one.skills) or "-", one.description or "") for one in found)
        blocks.append(Table(columns=("name", "owner", "needs", "description"), rows=rows))
    return Report(document={"consumers": documents}, blocks=tuple(blocks), records=documents)
