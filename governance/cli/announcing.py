"""One rule for breaks, whoever judges them: a break waits until somebody chose the number that announces it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from governance.cli.present import JSONObject
from governance.core.gate import REASONS
from governance.core.versioning import Version
from governance.errors import UsageError

_CODE: Final = "unnumbered-break"


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What a command line says about numbers."""

    chosen: bool = False
    """``--version`` was given: it is the number of every candidate that has none."""
    automatic: bool = False
    """``--bump auto`` was given: every candidate takes the smallest honest number, breaks included."""


def only_one_number(arguments: argparse.Namespace) -> None:
    """Raises UsageError where a command line both gives a number and leaves it to us."""
    if arguments.bump == "auto" and arguments.version is not None:
        raise UsageError("--bump auto numbers every skill, and so does --version.", fix="Give one of the two.")


def withheld(
    decision: JSONObject, *, number: str | None, why: str = "It carries no version", do: str = ""
) -> JSONObject:
    """A decision whose number nobody chose: refused if it breaks.

    ``number`` is the one that would announce the break, None where what stood before has none either. ``do``
    replaces what to do about it.
    """
    if decision["verdict"] != "breaking":
        return decision
    found = _worst(decision)
    row = REASONS[_CODE]
    reason = {
        "code": _CODE,
        "outcome": row.outcome.value,
        "message": f"{why}, and it breaks its callers: {found['message']}" if found else f"{why}, and it breaks.",
        "fix": do or row.fix.format(smallest=number or "the number of a new major"),
        **({"fingerprint": found["fingerprint"]} if found else {}),
    }
    rest = [one for one in decision["reasons"] if one["code"] != "opens-line"]
    return {**decision, "decision": "block", "reasons": [reason, *rest]}


def too_small_to_add(decision: JSONObject, *, above: str, smallest: str) -> JSONObject:
    """The decision on an added skill whose release takes too small a step from ``above``."""
    message = f"{decision['version']} is too small a step from {above}: {decision['skill']} is added, a minor is due."
    return _blocked(decision, "bump-too-small", message, REASONS["bump-too-small"].fix.format(smallest=smallest))


def unreadable_before(decision: JSONObject, *, name: str, why: str, against: str) -> JSONObject:
    """The decision on a skill that may have stood in ``against``, where it could not be read."""
    what = f"{name} in {against}" if name else f"A source in {against}"
    message = f"{what} is not readable, so nobody knows what {decision['skill']} would break: {why}"
    blocked = _blocked(decision, "baseline-invalid", message, REASONS["baseline-invalid"].fix)
    return {**blocked, "verdict": "invalid"}


def _blocked(decision: JSONObject, code: str, message: str, fix: str) -> JSONObject:
    reason = {"code": code, "outcome": REASONS[code].outcome.value, "message": message, "fix": fix}
    rest = [one for one in decision["reasons"] if one["code"] != "first-version"]
    return {**decision, "decision": "block", "reasons": [reason, *rest]}


def assumed(decision: JSONObject) -> JSONObject:
    """A decision over numbers that are ours, since what stood before has none: no line opens, and none is told."""
    reasons = [one for one in decision["reasons"] if one["code"] != "opens-line"]
    return {**decision, "assumed": True, "smallest_version": None, "reasons": reasons}


def _worst(decision: JSONObject) -> JSONObject | None:
    findings = (f for compared in decision["compared"] if compared["role"] != "next" for f in compared["findings"])
    return next((finding for finding in findings if finding["level"] == "breaking"), None)


def undecided_alone(decisions: Sequence[JSONObject]) -> bool:
    """Something blocks, and all that does is undecided."""
    blocks = [
        reason["code"]
        for decision in decisions
        if decision["decision"] == "block"
        for reason in decision["reasons"]
        if reason["outcome"] == "block"
    ]
    return bool(blocks) and set(blocks) == {"undecided"}


def breaks_let_in(decisions: Sequence[JSONObject], *, verb: str) -> str:
    """What the first line says of breaks that pass because their number announces them; empty if none does.

    ``verb``: what happens to them, such as ``published``.
    """
    passing = [one for one in decisions if one["verdict"] == "breaking" and one["decision"] != "block"]
    if not passing:
        return ""
    count = f"{len(passing)} break their callers" if len(passing) > 1 else f"{passing[0]['skill']} breaks its callers"
    if any(one.get("assumed") for one in passing):
        return f"{count} (to be published as a new major)"
    moves = {(one["version"], one["baseline"]) for one in passing}
    if len(moves) > 1:
        return f"{count} ({verb} as new majors; ranges of the old ones stay where they are)"
    ((version, baseline),) = moves
    return f"{count} ({verb} as {version}; {_caret(baseline)} stays on {baseline})"


def _caret(baseline: str) -> str:
    old = Version.parse(baseline)
    return f"^{old.major}" if old.major else f"^0.{old.minor}" if old.minor else f"^{old}"
