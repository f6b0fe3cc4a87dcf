"""Blocks as Markdown for a pull request. Data stands in code, prose is escaped: no skill's text is markup.

A judgement is one comment: a hidden marker in its first line lets the next run find and replace it, payloads
are folded, and what a host would cut off is left out by us, with a sentence that says what is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from governance.cli.report import Block, Bullets, Change, Code, Fact, Heading, Paragraph, Table, Verdict
from governance.cli.terminal import clean, data, one_line

COMMENT_LIMIT = 65_000
"""Hosts cut a comment at 65,536 characters; a report that would pass it says what it left out."""

MARKER: Final = "<!-- govctl -->"
"""The first line of a judgement; whoever posts it may put a word of its own before the arrow."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$!])")
_LINKED = re.compile(r"(@|(?<=[a-zA-Z]):(?=//)|(?<=www)\.|(?<=WWW)\.|\\#(?=\d)|(?<=[gG][hH])-(?=\d))")
"""Where hosts would make a mention, a link or a reference of plain text."""
_OPENS: Final = re.compile(r"^([ \t]*)(?:([-+=])|(\d+)([.)]))", re.MULTILINE)
"""What opens a list or underlines a heading at the beginning of a line."""
_BREAK: Final = "&#8203;"
_SIGN = {"good": "✅", "warn": "⚠️", "bad": "❌"}
_FOLDED: Final = frozenset({"payload", "shows"})
_NOTICE: Final = 500
"""Characters kept for saying what was left out."""


def render_markdown(
    blocks: Sequence[Block], *, fold: bool = False, marker: str = "", limit: int = COMMENT_LIMIT
) -> str:
    """The blocks as one comment of at most ``limit`` characters.

    Args:
        blocks: what to tell, the most important first.
        fold: payloads stand in a block that opens on a click.
        marker: a first line that nobody sees.
        limit: characters; a table is cut between rows, the rest between blocks.
    """
    parts = [f"{marker}\n"] if marker else []
    room = limit - _NOTICE - sum(map(len, parts))
    for index, block in enumerate(blocks):
        if isinstance(block, Table):
            block = _shortened(block, min(room, limit // 3))  # the changes matter more than a long list
        part = "\n".join(_lines(block, fold=fold)) + "\n"
        if len(part) + 1 > room:
            parts.append(_missing(blocks[index:]))
            break
        parts.append(part)
        room -= len(part) + 1
    return "\n".join(parts)[:limit]


def _shortened(table: Table, room: int) -> Table:
    used = sum(map(len, table.columns)) + 8 * len(table.columns) + 40
    for index, cells in enumerate(table.rows):
        used += len(row(map(cell, cells))) + 1
        if used > room:
            rest = (f"…and {len(table.rows) - index} more", *[""] * (len(table.columns) - 1))
            return replace(table, rows=(*table.rows[:index], rest))
    return table


def _missing(blocks: Sequence[Block]) -> str:
    """What a reader of the cut text does not see, by weight."""
    tones = Counter(block.tone for block in blocks if isinstance(block, Change))
    changes = sum(tones.values())
    told = ", ".join(f"{tones[tone]} {sign}" for tone, sign in reversed(_SIGN.items()) if tones[tone])
    weights = f" ({told})" if told else ""
    left = f"{changes} more change{'' if changes == 1 else 's'}{weights}" if changes else f"{len(blocks)} more parts"
    return f"**Cut here**: this comment would be too long. Left out: {left}; `-o json` has all of them.\n"


def escape(text: str) -> str:
    """Prose with nothing in it that Markdown acts on, or that a host turns into a mention or a link."""
    shown = _SPECIAL.sub(r"\\\1", clean(text).replace("&", "&amp;")).replace("\\<", "&lt;")
    return _LINKED.sub(rf"\1{_BREAK}", shown).replace("@", "&#64;")


def _flush(text: str) -> str:
    """Prose that stands at the beginning of a line, where a few more characters mean something."""
    return _OPENS.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", escape(text))


def code(text: str) -> str:
    """A code span that holds any text, backticks included."""
    shown = data(text)
    longest = max(map(len, re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}" if shown else ""


def markdown_row(word: str, cells: Iterable[str]) -> str:
    """One answer of a stream as a list item."""
    return f"- **{cell(word)}** " + " · ".join(code(text) for text in cells if text)


def row(cells: Iterable[str]) -> str:
    """One line of a table; the cells are Markdown already."""
    return "| " + " | ".join(cells) + " |"


def cell(text: str) -> str:
    return escape(one_line(text, 300))


def _lines(block: Block, *, fold: bool) -> Iterable[str]:
    match block:
        case Verdict():
            sign = f"{_SIGN[block.tone]} " if block.tone in _SIGN else ""
            yield f"### {sign}{escape(block.word)}"
            yield ""
            yield _flush(one_line(block.sentence, 1000))
        case Heading():
            yield f"#### {escape(one_line(block.text))}"
        case Paragraph():
            yield _flush(block.text)
        case Bullets():
            yield from (f"- {escape(one_line(item, 1000))}" for item in block.items)
        case Table():
            yield row(map(cell, block.columns))
            yield row("---" for _ in block.columns)
            yield from (row(map(cell, cells)) for cells in block.rows)
        case Code():
            text = clean(block.text).rstrip("\n")
            fence = "`" * max(3, max(map(len, re.findall(r"`+", text)), default=0) + 1)
            yield from (f"{fence}{block.language}", text, fence)
        case Change():
            yield from _change(block, fold=fold)


def _change(change: Change, *, fold: bool) -> Iterator[str]:
    place = f" at {code(change.place)}" if change.place else ""
    yield f"- {_SIGN.get(change.tone, '•')} {code(change.code)}{place}: {escape(one_line(change.message, 1000))}"
    folded = [fact for fact in change.facts if fold and fact.label in _FOLDED]
    yield from (f"  - {_fact(fact)}" for fact in change.facts if fact not in folded)
    if folded:
        yield ""
        yield "  <details><summary>the payload that shows it</summary>"
        yield ""
        yield from (f"  - {_fact(fact)}" for fact in folded)
        yield ""
        yield "  </details>"
        yield ""


def _fact(fact: Fact) -> str:
    value = code(fact.value) if fact.verbatim else escape(one_line(fact.value, 1000))
    return f"{escape(fact.label)}: {value}"
