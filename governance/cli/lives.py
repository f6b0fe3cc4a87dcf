"""Changes of versions' lives on the command line: what they take, and what became of the versions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.judgement import judgement_report, version_of
from governance.cli.present import finding_change
from governance.cli.report import Block, Bullets, Change, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import StillNeeded, UsageError
from governance.wire import DropInView, Judgement, LifecycleChange, ServedView, VersionChange

Act = Callable[[ControlPlane, str, str, str], LifecycleChange]
"""``act(plane, name, version, match)``: the change of one version that stands as ``match`` says."""


def add_change_arguments(parser: argparse.ArgumentParser, *, reason: str = "why; it goes on record") -> None:
    """What every change takes beside its version."""
    parser.add_argument("--reason", help=reason)
    parser.add_argument("--dry-run", action="store_true", help="say what would become of it and whom it reaches")


def day(text: str) -> date:
    """The ``type`` of an argument that is a date, or so many days from today as ``+400``."""
    try:
        if text.startswith("+") and text[1:].isdecimal() and len(text) <= 5:
            return datetime.now(UTC).date() + timedelta(days=int(text))
        if len(text) == 10:
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is neither a date such as 2027-05-31 nor days from today as +400")


def needs_reason(wanted: argparse.Namespace, command: str) -> str:
    """Raises UsageError without one."""
    if not (wanted.reason or "").strip():
        raise UsageError(f"{command} needs a reason; people will read it.", fix="Add --reason WHY.")
    return str(wanted.reason)


def change_one(call: Call, done: str, act: Act) -> int:
    """Read the version, change the state that was read, and tell what became of it.

    ``done`` is the word for it. Somebody who changed it in between is noticed: PreconditionFailed.
    """
    name, version = version_of(call.arguments.skill)
    with well_formed(), require_connection(call.arguments, call.environment).open() as plane:
        read = plane.get_version(name, version)
        try:
            change = act(plane, read.name, read.version, read.etag)
        except StillNeeded as error:
            judgement = error.details.get("judgement")
            if not isinstance(judgement, dict):
                raise
            return call.output.emit(judgement_report(Judgement.model_validate(judgement)))
    return call.output.emit(change_report(change, done))


def change_report(change: LifecycleChange, done: str) -> Report:
    """What became of some versions of a skill: the verdict, what replaces them, who is served by them."""
    changed = [one for one in change.versions if one.changed]
    named = ", ".join(one.version for one in changed[:5]) + (" and others" if len(changed) > 5 else "")
    if changed:
        word = f"would be {done}" if change.dry_run else done
        verdict = Verdict(word=word, sentence=f"{change.skill} {named}{_until(changed)}.", tone="good")
    else:
        versions = ", ".join(one.version for one in change.versions) or "nothing"
        verdict = Verdict(word="unchanged", sentence=f"{change.skill} {versions} stands so already.")
    blocks: list[Block] = [verdict]
    if change.left_alone:
        blocks.append(Bullets(items=tuple(f"{one.version} is left alone: {one.why}" for one in change.left_alone)))
    for each in change.drop_in:
        blocks += _drop_in(each)
    if change.serves:
        blocks += _serves(change)
    if change.forced:
        blocks.append(Change(code="forced", place="", tone="warn", message=" ".join(change.forced)))
    return Report(document=document(change), blocks=tuple(blocks))


def _until(changed: list[VersionChange]) -> str:
    sunsets = {one.after.sunset for one in changed if one.after.state.value == "deprecated"}
    return f" until {min(day for day in sunsets if day)}" if sunsets and all(sunsets) else ""


def _drop_in(each: DropInView) -> Iterator[Block]:
    if each.drop_in:
        yield Bullets(items=(f"{each.replacement} takes every call that {each.version} takes.",))
        return
    message = f"Callers of {each.version} cannot call {each.replacement} as it is: {each.verdict}."
    yield Change(code="no-drop-in", place="", tone="warn", message=message)
    yield from map(finding_change, each.findings)


def _serves(change: LifecycleChange) -> Iterator[Block]:
    count = len(change.serves) + change.more_served
    yield Bullets(items=(f"{counted(count, 'consumer')} served by it now:",))
    yield Table(
        columns=("consumer", "owner", "environment", "asks for", "served", "without it"),
        rows=tuple(map(_served_row, change.serves)),
    )


def _served_row(one: ServedView) -> tuple[str, ...]:
    return (
        one.consumer,
        one.owner or "-",
        one.environment or "all",
        one.range or "(bare name)",
        one.version,
        one.then or "nothing",
    )
