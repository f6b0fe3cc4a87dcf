"""What runs where: put on record that a version runs in an environment, or no longer does; list what ran.

record takes the place of what runs there, or stands --beside it, and tells who is hit; a protected environment refuses
what `govctl can-i-deploy` blocks.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.judgement import judgement_report, version_of
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import GateRefused, UsageError
from governance.wire import Deployment, DeploymentState, Judgement


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("record", "end", "list"), help="what to do")
    parser.add_argument("skill", nargs="?", metavar="NAME[@VERSION]", help="record: NAME@VERSION; end, list: or NAME")
    parser.add_argument("--env", required=True, metavar="ENVIRONMENT", help="where, such as prod")
    parser.add_argument("--beside", action="store_true", help="record: it runs beside what runs there")
    parser.add_argument("--all", action="store_true", help="list: what ended too")
    parser.add_argument("--reason", help="record, end: why, for the audit log")


def run(call: Call) -> int:
    """0 on record, 1 the environment is protected and the gate refused, 2 no such environment, skill or version."""
    wanted = call.arguments
    if wanted.action != "list" and not wanted.skill:
        raise UsageError(
            f"deployment {wanted.action} needs a skill.", fix="govctl deployment record NAME@VERSION --env prod"
        )
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        act = {"record": _record, "end": _end, "list": _list}[wanted.action]
        return call.output.emit(act(plane, wanted))


def _record(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    name, version = version_of(wanted.skill)
    try:
        done = plane.put_deployment(wanted.env, name, version, beside=wanted.beside, reason=wanted.reason)
    except GateRefused as refused:
        judged = refused.details.get("judgement")
        if judged is None:
            raise
        return judgement_report(Judgement.model_validate(judged))
    ended = f", in the place of {', '.join(one.version for one in done.ended)}" if done.ended else ""
    what = "runs" if done.created else "ran already"
    judged_too = judgement_report(Judgement.model_validate(done.judgement))
    return Report(
        document=document(done),
        blocks=(
            Verdict(word="on record", sentence=f"{name} {version} {what} in {wanted.env}{ended}.", tone="good"),
            *judged_too.blocks[1:],
        ),
    )


def _end(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    name, _, version = wanted.skill.partition("@")
    ended = plane.end_deployment(wanted.env, name, version=version or None, reason=wanted.reason)
    return _deployments(ended, f"{counted(len(ended), 'deployment')} of {name} in {wanted.env} ended.")


def _list(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    name = (wanted.skill or "").partition("@")[0] or None
    state = None if wanted.all else DeploymentState.STANDING
    found = list(plane.deployments(wanted.env, skill=name, state=state))
    return _deployments(found, f"{counted(len(found), 'deployment')} in {wanted.env}.")


def _deployments(found: Sequence[Deployment], sentence: str) -> Report:
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="deployments", sentence=sentence)]
    if found:
        rows = tuple(
            (
                one.skill,
                one.version,
                f"{one.deployed_at:%Y-%m-%d %H:%M}",
                f"{one.ended_at:%Y-%m-%d %H:%M}" if one.ended_at else "-",
                one.deployed_by,
            )
            for one in found
        )
        blocks.append(Table(columns=("skill", "version", "since", "until", "by"), rows=rows))
    return Report(document={"deployments": documents}, blocks=tuple(blocks), records=documents)
