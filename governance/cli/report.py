"""What a command found, before anybody has chosen how to print it.

A command returns one :class:`Report`: the JSON document machines read, and the blocks people read. Every
output format is a function of these two, so a new format needs no command to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


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


@dataclass(frozen=True, kw_only=True)
class Report:
    """One command's answer. ``records`` are the lines of the ``jsonl`` form (default: the document alone)."""

    document: Any
    blocks: tuple[Block, ...]
    records: Sequence[Any] | None = None
    exit_code: int = 0

    @property
    def lines(self) -> Sequence[Any]:
        return [self.document] if self.records is None else self.records
