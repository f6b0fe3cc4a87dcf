"""What a command found, before anybody has chosen how to print it.

A command returns one :class:`Report`: the JSON document machines read, the blocks people read and, where it
judged something, the cases that CI hosts read. Every output format is a function of these, so a new format
needs no command to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from governance.errors import Place


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The first line: one word, one sentence. ``tone`` is good, warn, bad or plain."""

    word: str
    sentence: str
    tone: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Heading:
    text: str


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    text: str


@dataclass(frozen=True, kw_only=True)
class Bullets:
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Code:
    """Verbatim text, such as a manifest; ``language`` names it for a highlighter."""

    text: str
    language: str = ""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One labelled value. ``verbatim``: it is data (a payload, a fragment), not prose."""

    label: str
    value: str
    verbatim: bool = False


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change: code and place, the sentence, then labelled facts in the order people ask for them."""

    code: str
    place: str
    tone: str
    message: str
    facts: tuple[Fact, ...] = ()


Block: TypeAlias = Verdict | Heading | Paragraph | Bullets | Table | Code | Change


class Weight(StrEnum):
    """What a remark does: ERROR is what blocks, WARNING what passes and should be read, NOTE the rest."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Weight).index(self)


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """Why a remark does not count."""

    reason: str
    in_source: bool
    """By a comment beside it; else from outside."""
    place: Place | None = None
    """Where that is written."""


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One thing said about one skill, and where in its source it stands."""

    skill: str
    weight: Weight
    change: Change
    """What is said, as every format for people shows it."""
    fingerprint: str
    """Stays the same from run to run; two remarks that share it are one."""
    pointer: str = ""
    """Into the skill's manifest."""
    place: Place | None = None
    """The line of a source; None for what came from no file."""
    payload: Any = None
    """The witness as a document, or None where no payload shows it."""
    suppression: Suppression | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One part of one skill that was judged: ``input``, ``output``, ``contract``, ``gate`` or ``lint``."""

    skill: str
    part: str
    remarks: tuple[Remark, ...] = ()
    place: Place | None = None
    suppressed: tuple[Remark, ...] = ()
    """What would have been said, had nobody silenced it."""

    @property
    def failed(self) -> bool:
        return any(remark.weight is Weight.ERROR for remark in self.remarks)


@dataclass(frozen=True, kw_only=True)
class Report:
    """One command's answer. ``records`` are the lines of the ``jsonl`` form (default: the document alone)."""

    document: Any
    blocks: tuple[Block, ...]
    records: Sequence[Any] | None = None
    exit_code: int = 0
    cases: tuple[Case, ...] | None = None
    """What was judged, in the order of the sources; None for a command that judges nothing."""

    @property
    def remarks(self) -> Iterator[Remark]:
        """All remarks of all cases, worst first."""
        found = [remark for case in self.cases or () for remark in case.remarks]
        return iter(sorted(found, key=lambda remark: remark.weight.rank))

    @property
    def suppressed(self) -> Iterator[Remark]:
        return (remark for case in self.cases or () for remark in case.suppressed)

    @property
    def lines(self) -> Sequence[Any]:
        return [self.document] if self.records is None else self.records
