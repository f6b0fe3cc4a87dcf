"""The truth table of the docs is what resolve does: its rows are read from the page and asked, one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from governance.core.consent import Published, resolve
from governance.core.lines import in_order
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import GovernanceError

PAGE = Path(__file__).parents[3] / "docs" / "consent.md"
HEAD = "| case | versions | asked | caller | answer |"
SWITCHES: dict[str, dict[str, Any]] = {"yanked": {"yanked": "leaks"}, "disabled": {"disabled": "on fire"}}
CASES = {
    "bare name", "open range", "anchored range", "exact pin", "prerelease", "yanked", "deprecated", "sunset", "retired",
    "first contact, named", "first contact, anonymous", "previously accepted", "a break that slipped into a minor",
    "a breaking minor below 1.0", "a major that breaks nothing",
}  # fmt: skip
"""What the table must speak of."""


def rows() -> list[tuple[str, ...]]:
    lines = PAGE.read_text().splitlines()
    table = lines[lines.index(HEAD) + 2 :]
    found = []
    for line in table[: next(n for n, one in enumerate([*table, ""]) if not one.startswith("|"))]:
        cells = [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
        found.append(tuple(cell.replace("\\|", "|") for cell in cells))
    return found


def versions(spec: str) -> list[Published]:
    """``1.0.0! 1.1.0(yanked) 2.0.0!``: ``!`` opens a line."""
    found: list[Published] = []
    for number, opens, state in re.findall(r"([0-9][^\s!(]*)(!?)(?:\((\w+)\))?", spec):
        version = Version.parse(number)
        below = [one for one in found if one.is_baseline and one.version < version]
        found.append(
            Published(
                version=version,
                contract_digest=f"sha256:{version}",
                manifest_digest=f"sha256:m{version}",
                opens_line=opens == "!",
                baseline=in_order(below)[-1].version if below else None,
                **(SWITCHES[state] if state in SWITCHES else {"state": Status(state or "active")}),
            )
        )
    return found


def answer(spec: str, asked: str, caller: str) -> str:
    who, *further = caller.split(", ")
    said = dict(one.rpartition(" ")[::2] for one in further)
    how: dict[str, Any] = {
        "consumer": "agent" if who == "named" else None,
        "on_record": "on record" in further,
        "accept_breaking": "flag" in further,
        "blanket_allowed": "flag forbidden" not in further,
    }
    if "flag forbidden" in further:
        how["accept_breaking"] = True
    if "accepted" in said:
        how["accepted"] = [Version.parse(said["accepted"])]
    if "accepts line" in said:
        how["accept_line"] = Version.parse(said["accepts line"])
    try:
        found = resolve("skill", None if asked == "(bare)" else asked, versions(spec), **how)
    except GovernanceError as error:
        return f"refused: {error.code}"
    told = f"{found.version} by {found.basis.value}"
    if found.held_back is not None:
        told += f", held back from {found.held_back.version}"
    if found.notices:
        told += f", warns {' and '.join(one.code for one in found.notices)}"
    for one in found.acceptances:
        told += f", records {one.line}" + (
            (" for days" if how["consumer"] else " for this call") if one.expires else ""
        )
    return told


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}: {row[2]} by {row[3]} of {row[1]}")
def test_the_page_tells_what_resolve_does(row: tuple[str, ...]) -> None:
    _, spec, asked, caller, told = row
    assert answer(spec, asked, caller) == told


def test_the_page_speaks_of_every_case_once_at_least() -> None:
    assert {case for case, *_ in rows()} >= CASES
    assert len(set(rows())) == len(rows())
