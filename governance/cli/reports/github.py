"""GitHub Actions: annotations at the lines they speak of, and the whole report in the job's summary.

A step shows ten annotations of each level. What stands at one line is said in one annotation; what is left
over stands in the summary, and a line of the log says so.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from governance.cli.markdown import render_markdown
from governance.cli.report import Remark, Report, Weight
from governance.cli.reports.files import checkout_root, host_path
from governance.cli.reports.wording import headline, sentences
from governance.cli.terminal import clean, one_line
from governance.errors import GovernanceError

PER_LEVEL: Final = 10
"""Annotations of one level that the host shows for one step."""
SUMMARY_BYTES: Final = 1024 * 1024
"""What the host takes as the summary of one step."""
SUMMARY: Final = "GITHUB_STEP_SUMMARY"

_COMMANDS: Final = {Weight.ERROR: "error", Weight.WARNING: "warning", Weight.NOTE: "notice"}
_MAX_MESSAGE: Final = 4000


def render_github(report: Report) -> str:
    """Workflow commands, worst first."""
    root = checkout_root()
    lines: list[str] = []
    left = 0
    for weight, command in _COMMANDS.items():
        groups = list(_groups([one for one in report.remarks if one.weight is weight], root))
        lines += (_annotation(command, group, root) for group in groups[:PER_LEVEL])
        left += sum(map(len, groups[PER_LEVEL:]))
    if left:
        where = "in the job's summary" if os.environ.get(SUMMARY) else "in the other reports of this run"
        lines.append(f"govctl: {left} more remarks than GitHub annotates; all of them stand {where}.")
    return "".join(f"{line}\n" for line in lines)


def github_problem(error: GovernanceError) -> str:
    """The error that ended the run, at its place if it has one."""
    place = next((fault.place for fault in error.faults if fault.place), None)
    file = host_path(place, checkout_root())
    where = {"file": file, "line": place.line if place else None} if file else {}
    text = "\n".join((error.message, *map(str, error.faults[:20]), error.fix))
    return _command("error", {**where, "title": f"govctl: {error.title}"}, text) + "\n"


def write_summary(report: Report, environment: Mapping[str, str] | None = None) -> str:
    """Add the report to the job's summary, where there is one; returns what went wrong, or nothing."""
    file = (os.environ if environment is None else environment).get(SUMMARY)
    if not file:
        return ""
    try:
        there = Path(file).stat().st_size if Path(file).exists() else 0
        # a character is at most four bytes
        room = (SUMMARY_BYTES - there) // 4
        with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(render_markdown(report.blocks, fold=True, limit=room) if room > 0 else "")
    except OSError as error:
        return f"The job's summary cannot be written: {(error.strerror or str(error)).lower()}."
    return ""


def quoted(text: str) -> str:
    """``text`` as lines of the log in which the runner obeys nothing, whoever wrote them."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text.rstrip(chr(10))}\n::{token}::\n"


def _groups(remarks: Sequence[Remark], root: Path) -> Iterator[list[Remark]]:
    """What stands at one line of one file, together; what has no line, each alone."""
    found: dict[object, list[Remark]] = {}
    for number, remark in enumerate(remarks):
        file = host_path(remark.place, root)
        key = (file, remark.place.line) if file and remark.place else number
        found.setdefault(key, []).append(remark)
    yield from found.values()


def _annotation(command: str, group: Sequence[Remark], root: Path) -> str:
    first = group[0]
    file = host_path(first.place, root)
    place = first.place if file else None
    properties: dict[str, object] = {"file": file, "line": (place.line or 1) if place else None}
    if len(group) == 1:
        properties |= {"col": place.column if place else None, "title": headline(first)}
        return _command(command, properties, "\n".join(sentences(first)))
    skills = list(dict.fromkeys(one_line(remark.skill) for remark in group))
    whose = skills[0] if len(skills) == 1 else f"{len(skills)} skills"
    told = ("\n".join((headline(remark), *sentences(remark))) for remark in group)
    return _command(command, {**properties, "title": f"{len(group)} remarks on {whose}"}, "\n\n".join(told))


def _command(name: str, properties: Mapping[str, object], message: str) -> str:
    given = ((key, value) for key, value in properties.items() if value not in (None, ""))
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in given)
    text = message if len(message) <= _MAX_MESSAGE else f"{message[: _MAX_MESSAGE - 1]}…"
    return f"::{name} {shown}::{_data(clean(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(clean(text)).replace(":", "%3A").replace(",", "%2C")
