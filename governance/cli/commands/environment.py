"""Where skills run: make and change environments, list them, show one with what runs there."""

from __future__ import annotations

import argparse
from contextlib import suppress

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import NotFound, UsageError
from governance.wire import DeploymentState, Environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("set", "list", "show"), help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help="of the environment, such as prod")
    parser.add_argument(
        "--protected",
        action=argparse.BooleanOptionalAction,
        help="set: it takes only what the gate lets in there and what is ready (default: as it was, else no)",
    )
    parser.add_argument("--description", help="set: what it is (default: as it was)")


def run(call: Call) -> int:
    """0 done, 2 there is no such environment, 4 a right is missing, 6 somebody else changed it meanwhile."""
    wanted = call.arguments
    if wanted.action != "list" and not wanted.name:
        raise UsageError(f"environment {wanted.action} needs a name.", fix=f"govctl environment {wanted.action} prod")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        act = {"set": _set, "show": _show, "list": _list}[wanted.action]
        return call.output.emit(act(plane, wanted))


def _set(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    before: Environment | None = None
    with suppress(NotFound):
        before = plane.get_environment(wanted.name)
    protected, description = (before.protected, before.description) if before else (False, None)
    found = plane.put_environment(
        wanted.name,
        protected=protected if wanted.protected is None else wanted.protected,
        description=description if wanted.description is None else wanted.description,
        revision=before.revision if before else 0,
    )
    return Report(document=document(found), blocks=(Verdict(word="set", sentence=_sentence(found), tone="good"),))


def _show(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    found = plane.get_environment(wanted.name)
    running = list(plane.deployments(wanted.name, state=DeploymentState.STANDING))
    blocks: list[Block] = [Verdict(word="environment", sentence=_sentence(found))]
    if running:
        rows = tuple((one.skill, one.version, f"{one.deployed_at:%Y-%m-%d %H:%M}", one.deployed_by) for one in running)
        blocks.append(Table(columns=("skill", "version", "since", "by"), rows=rows))
    return Report(document=document(found) | {"deployments": [document(one) for one in running]}, blocks=tuple(blocks))


def _list(plane: ControlPlane, wanted: argparse.Namespace) -> Report:
    found = list(plane.environments())
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word="environments", sentence=f"{counted(len(found), 'environment')}.")]
    if found:
        rows = tuple((one.name, "protected" if one.protected else "open", one.description or "") for one in found)
        blocks.append(Table(columns=("name", "takes", "description"), rows=rows))
    return Report(document={"environments": documents}, blocks=tuple(blocks), records=documents)


def _sentence(found: Environment) -> str:
    takes = "protected: it takes what the gate lets in there and what is ready" if found.protected else "open"
    return f"{found.name} is {takes}."
