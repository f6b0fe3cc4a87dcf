"""A lint baseline: the warnings a team lives with, so that only new ones count.

An entry names a warning by what stays the same from run to run: lint, client, the skill as its source spells
it, the pointer, and what was found there; never a line or a sentence. Errors are not recorded: an instruction
hidden in a text is as bad on the second day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from governance.core.compat.model import JSON
from governance.core.lint.model import Lint, Located, Severity
from governance.errors import Fault

VERSION: Final = 1
"""Of the file's form."""


class Entry(NamedTuple):
    """What one recorded warning is known by; entries sort as the file lists them."""

    skill: str
    lint: str
    pointer: str
    client: str = ""
    found: str = ""

    @classmethod
    def of(cls, one: Located) -> Entry:
        finding = one.finding
        return cls(one.skill, finding.id, finding.pointer, finding.client or "", finding.found)

    def to_document(self, count: int = 1) -> dict[str, Any]:
        given = {name: value for name, value in self._asdict().items() if value or name == "pointer"}
        return given | ({"count": count} if count > 1 else {})


Baseline = Counter[Entry]
"""Entries, and how often each is allowed: two versions of a skill may show the same."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """One run against a baseline."""

    new: tuple[Located, ...]
    held: tuple[Located, ...]
    stale: Baseline
    """Entries that were looked for and no longer occur."""
    unseen: int = 0
    """Entries of skills, lints and clients that this run did not look at."""


def recorded(found: Iterable[Located]) -> Baseline:
    """A baseline of the warnings among what was found."""
    return Counter(Entry.of(one) for one in found if one.finding.severity is not Severity.ERROR)


def hold(
    found: Iterable[Located],
    baseline: Baseline,
    *,
    skills: frozenset[str],
    lints: frozenset[str],
    clients: frozenset[str],
) -> Held:
    """Part what was found into what is new and what the baseline holds.

    ``skills``, ``lints`` and ``clients`` are those that were looked at: an entry of another is not stale.
    """
    left = Counter(baseline)
    new: list[Located] = []
    held: list[Located] = []
    for one in found:
        entry = Entry.of(one)
        if one.finding.severity is not Severity.ERROR and left[entry] > 0:
            left[entry] -= 1
            held.append(one)
        else:
            new.append(one)
    rest = +left
    seen = {
        entry: count
        for entry, count in rest.items()
        if entry.skill in skills and entry.lint in lints and (not entry.client or entry.client in clients)
    }
    return Held(new=tuple(new), held=tuple(held), stale=Counter(seen), unseen=rest.total() - sum(seen.values()))


def to_document(baseline: Baseline) -> dict[str, Any]:
    """The file: entries in an order of their own, so that two branches merge."""
    entries = [entry.to_document(count) for entry, count in sorted(baseline.items())]
    return {"lint_baseline": VERSION, "entries": entries}


def read_baseline(value: JSON, known: Mapping[str, Lint]) -> tuple[Baseline, Sequence[Fault]]:
    """The baseline a document holds, and every fault in it.

    Args:
        value: what ``to_document`` wrote, as it was read back.
        known: LINTS.
    """
    faults: list[Fault] = []
    if not isinstance(value, dict) or value.get("lint_baseline") != VERSION:
        return Counter(), [Fault(pointer="", message=f'a lint baseline begins with "lint_baseline": {VERSION}')]
    faults += (Fault(pointer=f"/{key}", message="nobody knows this field") for key in value.keys() - _FIELDS)
    entries = value.get("entries")
    if not isinstance(entries, list):
        return Counter(), [*faults, Fault(pointer="/entries", message="a list of entries is expected")]
    baseline: Baseline = Counter()
    for index, entry in enumerate(entries):
        complaints = list(_complaints(entry, known))
        faults += (Fault(pointer=f"/entries/{index}{inside}", message=message) for inside, message in complaints)
        if not complaints and isinstance(entry, dict):
            baseline[Entry(**{name: entry.get(name, "") for name in Entry._fields})] += entry.get("count", 1)
    return baseline, faults


_FIELDS: Final = {"lint_baseline", "entries"}
_NEEDED: Final = ("skill", "lint", "pointer")


def _complaints(entry: JSON, known: Mapping[str, Lint]) -> Iterable[tuple[str, str]]:
    if not isinstance(entry, dict):
        yield "", "an entry is an object with skill, lint and pointer"
        return
    for name in entry.keys() - {*Entry._fields, "count"}:
        yield f"/{name}", "nobody knows this field"
    for name in Entry._fields:
        if not isinstance(entry.get(name, None if name in _NEEDED else ""), str):
            yield f"/{name}" if name in entry else "", f"{name} is a string"
    count = entry.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count < 1_000_000:
        yield "/count", "a count is a whole number from 1"
    lint = entry.get("lint")
    row = known.get(lint) if isinstance(lint, str) else None
    if isinstance(lint, str) and row is None:
        yield "/lint", f"there is no lint {lint[:60]!r}"
    elif row is not None and row.severity is Severity.ERROR:
        yield "/lint", f"{row.id} is an error, and no baseline holds one"
