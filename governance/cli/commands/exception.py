"""Findings that may pass for a while: ask for an exception, approve, list, show, revoke.

add takes the id of a check, or NAME@VERSION of what is published, and fingerprints of findings as `govctl check` tells
them; without fingerprints it says which there are. What was asked for opens nothing until somebody else approves it.
"""

from __future__ import annotations

import argparse

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Change, Fact, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import UsageError
from governance.wire import ExceptionState, ExceptionView

_TONES = {ExceptionState.PROPOSED: "warn", ExceptionState.IN_FORCE: "good"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("add", "approve", "list", "show", "revoke"), help="what to do")
    parser.add_argument(
        "subject", nargs="?", metavar="SOURCE|ID", help="add: a check's id or NAME@VERSION; else an exception's id"
    )
    parser.add_argument(
        "fingerprints", nargs="*", default=[], metavar="FINGERPRINT", help="add: the findings that may pass"
    )
    parser.add_argument("--reason", help="why; add and revoke need one")
    parser.add_argument("--days", type=int, metavar="N", help="add: days until it ends; a policy bounds them")
    parser.add_argument("--max-uses", type=int, metavar="N", help="add: times it may be needed (default: any)")
    parser.add_argument("--environment", help="add: let the findings into this environment alone")
    parser.add_argument("--consumer", help="add: let the findings reach this consumer alone")
    parser.add_argument("--state", choices=tuple(ExceptionState), help="list: only in this state")
    parser.add_argument("--skill", metavar="NAME", help="list: only of this skill")
    parser.add_argument("--ending", type=int, metavar="DAYS", help="list: only those that end within so many days")


def run(call: Call) -> int:
    """0 done, 2 no such finding, check or exception, 4 it is your own or you may not, 6 it is over."""
    wanted = call.arguments
    if wanted.action != "list" and not wanted.subject:
        what = "a check's id or NAME@VERSION" if wanted.action == "add" else "an exception's id"
        raise UsageError(f"exception {wanted.action} needs {what}.", fix="`govctl exception list` shows exceptions.")
    if wanted.action == "revoke" and not wanted.reason:
        raise UsageError("exception revoke needs a reason.", fix="Add --reason WHY; it goes on record.")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        return call.output.emit(_ACTIONS[wanted.action](plane, wanted))


def _add(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    if not wanted.fingerprints or not wanted.reason or wanted.days is None:
        raise UsageError(
            "exception add needs fingerprints, --reason and --days.",
            fix=f"{wanted.subject} tells of {', '.join(_told(plane, wanted.subject)) or 'no break or risk'}.",
        )
    made = plane.ask_for_exception(
        wanted.subject,
        wanted.fingerprints,
        reason=wanted.reason,
        expires_in_days=wanted.days,
        environment=wanted.environment,
        consumer=wanted.consumer,
        max_uses=wanted.max_uses,
    )
    return _one(made, f"It opens nothing until somebody else runs `govctl exception approve {made.id}`.")


def _told(plane: ControlPlane, source: str) -> list[str]:
    """The findings that may be excepted: fingerprint, skill and code each."""
    name, _, version = source.partition("@")
    decisions = [plane.get_version(name, version).decision] if version else plane.get_check(source).decisions
    return [
        f"{finding['fingerprint']} ({decision['skill']}: {finding['code']})"
        for decision in decisions
        for finding in {
            one["fingerprint"]: one for compared in decision["compared"] for one in compared["findings"]
        }.values()
        if finding["fingerprint"] in decision.get("surroundings", ())
    ]


def _approve(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    return _one(plane.approve_exception(wanted.subject, reason=wanted.reason))


def _show(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    return _one(plane.get_exception(wanted.subject))


def _revoke(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    return _one(plane.revoke_exception(wanted.subject, reason=wanted.reason))


def _list(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    state = None if wanted.state is None else ExceptionState(wanted.state)
    found = list(plane.exceptions(state=state, skill=wanted.skill, expires_within_days=wanted.ending))
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="exceptions", sentence=f"{counted(len(found), 'exception')}.")]
    if found:
        columns = ("id", "skill", "state", "ends", "uses", "for", "asked by", "why")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, found))))
    return Report(document={"exceptions": documents}, blocks=tuple(blocks), records=documents)


_ACTIONS = {"add": _add, "approve": _approve, "list": _list, "show": _show, "revoke": _revoke}


def _row(one: ExceptionView) -> tuple[str, ...]:
    return (
        one.id,
        one.skill,
        _word(one.state),
        f"{one.expires_at:%Y-%m-%d}",
        _uses(one),
        _scope(one),
        one.created_by,
        one.reason,
    )


def _one(one: ExceptionView, then: str = "") -> Report:
    sentence = f"{one.id} for {one.skill}, until {one.expires_at:%Y-%m-%d %H:%M} UTC, used {_uses(one)}."
    facts = [("for", _scope(one)), ("asked by", one.created_by)]
    facts += [("approved by", one.approved_by)] if one.approved_by else []
    facts += [("revoked by", f"{one.revoked_by}: {one.revoked_reason}")] if one.revoked_by else []
    facts += [("do", then)] if then else []
    told = {finding.fingerprint: finding for finding in one.findings}
    changes = [
        Change(code=finding.code, place=fingerprint, tone="warn", message=finding.message)
        for fingerprint, finding in told.items()
    ]
    terms = Change(
        code="exception",
        place=one.id,
        tone="plain",
        message=one.reason,
        facts=tuple(Fact(label=label, value=value) for label, value in facts),
    )
    verdict = Verdict(word=_word(one.state), sentence=sentence, tone=_TONES.get(one.state, "plain"))
    return Report(document=document(one), blocks=(verdict, terms, *changes))


def _word(state: ExceptionState) -> str:
    return state.value.replace("_", " ")


def _uses(one: ExceptionView) -> str:
    return f"{one.uses} of {one.max_uses}" if one.max_uses is not None else counted(one.uses, "time")


def _scope(one: ExceptionView) -> str:
    scopes = [f"environment {one.environment}"] if one.environment else []
    scopes += [f"consumer {one.consumer}"] if one.consumer else []
    return " and ".join(scopes) or "the gate"
