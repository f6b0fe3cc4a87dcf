"""A version takes over in steps, and steps back by itself: start, list, show, hold, resume, advance, fall-back, cancel.

start takes NAME@VERSION; without --incumbent the version takes over from what serves in its line without it. The way
back to an older version is a start too: without --weights it is gone at once. What steers a rollout takes its id and
--reason. cancel steers nobody any more: the highest match serves, the candidate too. docs/rollouts.md tells the rest.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Change, Fact, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.core.rollout import RolloutState
from governance.errors import UsageError

if TYPE_CHECKING:
    from governance.client import ControlPlane
    from governance.wire import PlanRequest, RolloutView, StepView, TallyView

STEERED = ("hold", "resume", "advance", "fall-back", "cancel")
_TONES = {RolloutState.COMPLETED: "good", RolloutState.FALLEN_BACK: "bad", RolloutState.CANCELLED: "plain"}
_PLAN = {"min_calls": "min_calls", "dwell": "dwell_sec", "max_silence": "max_silence_sec"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("start", "list", "show", *STEERED), help="what to do")
    parser.add_argument(
        "subject", nargs="?", metavar="NAME@VERSION|ID", help="start: the candidate; else a rollout's id"
    )
    parser.add_argument("--reason", help="why; what steers a rollout needs one")
    parser.add_argument("--incumbent", metavar="VERSION", help="start: what it takes over from")
    parser.add_argument("--environment", metavar="NAME", help="start: for its callers alone; list: only those")
    parser.add_argument("--weights", metavar="1,5,25,50,100", help="start: the steps, in per cent of the consumers")
    parser.add_argument("--min-calls", type=int, metavar="N", help="start: calls of each side before a step is left")
    parser.add_argument("--dwell", type=int, metavar="SECONDS", help="start: how long each step stands at the least")
    parser.add_argument("--max-silence", type=int, metavar="SECONDS", help="start: how old the newest call may be")
    for rate in ("failures", "violations"):
        parser.add_argument(
            f"--{rate}",
            metavar="ABSOLUTE[,RELATIVE]",
            help=f"start: the rate of {rate} may be the incumbent's × (1 + RELATIVE) + ABSOLUTE",
        )
    parser.add_argument("--skill", metavar="NAME", help="list: only of this skill")
    parser.add_argument("--state", choices=tuple(RolloutState), help="list: only in this state")
    parser.add_argument("--in-force", action="store_true", help="list: only those that keep somebody from a version")


def run(call: Call) -> int:
    """0 done, 2 no such skill, version or rollout, or a plan that cannot be, 4 you may not, 6 its state forbids it."""
    wanted = call.arguments
    if wanted.action != "list" and not wanted.subject:
        what = "NAME@VERSION" if wanted.action == "start" else "a rollout's id"
        raise UsageError(f"rollout {wanted.action} needs {what}.", fix="`govctl rollout list` shows rollouts.")
    if wanted.action in STEERED and not wanted.reason:
        raise UsageError(f"rollout {wanted.action} needs a reason.", fix="Add --reason WHY; it goes on record.")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        return call.output.emit(_report(plane, wanted))


def _report(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    match wanted.action:
        case "start":
            return _one(_start(plane, wanted))
        case "show":
            return _one(plane.get_rollout(wanted.subject))
        case "list":
            return _list(plane, wanted)
        case _:
            steer = {
                "hold": plane.hold_rollout,
                "resume": plane.resume_rollout,
                "advance": plane.advance_rollout,
                "fall-back": plane.fall_back,
                "cancel": plane.cancel_rollout,
            }[wanted.action]
            return _one(steer(wanted.subject, wanted.reason))


def _start(plane: ControlPlane, wanted: argparse.Namespace) -> RolloutView:
    name, _, version = wanted.subject.partition("@")
    if not version:
        raise UsageError(f"{wanted.subject!r} names no version.", fix=f"govctl rollout start {name}@VERSION")
    return plane.start_rollout(
        name,
        version,
        incumbent=wanted.incumbent,
        environment=wanted.environment,
        plan=_plan(wanted),
        reason=wanted.reason,
    )


def _plan(wanted: argparse.Namespace) -> PlanRequest | None:
    from governance.wire import PlanRequest

    given: dict[str, Any] = {
        field: value for name, field in _PLAN.items() if (value := getattr(wanted, name)) is not None
    }
    if wanted.weights is not None:
        given["weights"] = [int(one) for one in _numbers("weights", wanted.weights, whole=True)]
    for rate in ("failures", "violations"):
        text = getattr(wanted, rate)
        if text is not None:
            margin = dict(zip(("absolute", "relative"), _numbers(rate, text, most=2), strict=False))
            given[rate] = margin
    return PlanRequest.model_validate(given) if given else None


def _numbers(option: str, text: str, *, whole: bool = False, most: int = 20) -> list[float]:
    parts = text.split(",")
    try:
        found: list[float] = [int(one) if whole else float(one) for one in parts]
    except ValueError:
        found = []
    if not 0 < len(found) <= most:
        raise UsageError(
            f"--{option} takes up to {most} {'whole ' if whole else ''}numbers with commas between.",
            fix="--weights 10,50,100" if whole else f"--{option} 0.02,0.1",
        )
    return found


def _list(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    found = list(
        plane.rollouts(
            skill=wanted.skill,
            environment=wanted.environment,
            state=None if wanted.state is None else RolloutState(wanted.state),
            in_force=True if wanted.in_force else None,
        )
    )
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="rollouts", sentence=f"{counted(len(found), 'rollout')}.")]
    if found:
        columns = ("id", "skill", "from", "to", "where", "state", "share", "since", "why")
        blocks.append(Table(columns=columns, rows=tuple(map(_row, found))))
    return Report(document={"rollouts": documents}, blocks=tuple(blocks), records=documents)


def _row(one: RolloutView) -> tuple[str, ...]:
    since = one.ended_at or one.step_since
    where = one.environment or "everywhere"
    state = _word(one.state)
    return (
        one.id, one.skill, one.incumbent, one.candidate, where, state, f"{one.weight} %", f"{since:%Y-%m-%d %H:%M}",
        one.reason or "-",
    )  # fmt: skip


def _one(one: RolloutView) -> Report:
    where = f" in {one.environment}" if one.environment else ""
    sentence = f"{one.id}: {one.skill} {one.incumbent} → {one.candidate}{where}. {_served(one)}"
    facts = [("started by", f"{one.started_by}, {one.started_at:%Y-%m-%d %H:%M} UTC")]
    facts += [("next", f"{one.outlook.verdict.replace('_', ' ')}: {one.outlook.why}")] if one.outlook else []
    told = Change(
        code=one.outlook.code if one.outlook else _word(one.state),
        place=one.id,
        tone="plain",
        message=one.reason or "no reason was given",
        facts=tuple(Fact(label=label, value=value) for label, value in facts),
    )
    blocks: list[Block] = [Verdict(word=_word(one.state), sentence=sentence, tone=_TONES.get(one.state, "warn")), told]
    if one.steps:
        columns = ("share", "since", "until", "candidate", "failed", "violated", "incumbent", "failed", "violated")
        blocks.append(Table(columns=columns, rows=tuple(map(_step, one.steps))))
    if one.in_force and one.ended_at is not None:
        newer = ", ".join(one.withholds)
        blocks.append(Paragraph(text=f"{newer} stays withheld until `govctl rollout cancel {one.id} --reason WHY`."))
    return Report(document=document(one), blocks=tuple(blocks))


def _served(one: RolloutView) -> str:
    match one.state:
        case RolloutState.COMPLETED:
            return f"{one.candidate} serves all."
        case RolloutState.FALLEN_BACK:
            return f"{one.incumbent} serves all."
        case RolloutState.CANCELLED:
            return "It steers nobody: the highest match serves."
        case RolloutState.RUNNING | RolloutState.HELD:
            return f"{one.weight} % of the named consumers get {one.candidate}."


def _step(one: StepView) -> tuple[str, ...]:
    until = f"{one.until:%Y-%m-%d %H:%M}" if one.until else "now"
    return (f"{one.weight} %", f"{one.since:%Y-%m-%d %H:%M}", until, *_rates(one.candidate), *_rates(one.incumbent))


def _rates(tally: TallyView) -> tuple[str, str, str]:
    def rate(events: int) -> str:
        return f"{events / tally.calls:.2%}" if tally.calls else "-"

    return counted(tally.calls, "call"), rate(tally.failures), rate(tally.violations)


def _word(state: str) -> str:
    return state.replace("_", " ")
