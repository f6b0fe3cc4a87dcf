"""Blocks as Markdown for a pull request. Data stands in code, prose is escaped: no skill's text is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from governance.cli.report import Block, Bullets, Change, Code, Heading, Paragraph, Table, Verdict
from governance.cli.terminal import clean, data, one_line

COMMENT_LIMIT = 65_000
"""Hosts cut a comment at 65,536 characters; a report that would pass it says what it left out."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$@!])")
_SIGN = {"good": "✅", "warn": "⚠️", "bad": "❌"}


def render_markdown(blocks: Sequence[Block]) -> str:
    """The blocks as one comment, cut between blocks so that it stays below :data:`COMMENT_LIMIT`."""
    parts: list[str] = []
    size = 0
    for index, block in enumerate(blocks):
        part = "\n".join(_lines(block)) + "\n"
        if size + len(part) > COMMENT_LIMIT:
            parts.append(f"…and {len(blocks) - index} more; `-o json` has all of them.\n")
            break
        parts.append(part)
        size += len(part) + 1
    return "\n".join(parts)


def escape(text: str) -> str:
    """Prose with nothing in it that Markdown or a host's mentions would act on."""
    return _SPECIAL.sub(r"\\\1", clean(text)).replace("\\@", "&#64;").replace("\\<", "&lt;")


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


def _lines(block: Block) -> Iterable[str]:
    match block:
        case Verdict():
            sign = f"{_SIGN[block.tone]} " if block.tone in _SIGN else ""
            yield f"### {sign}{escape(block.word)}"
            yield ""
            yield escape(block.sentence)
        case Heading():
            yield f"#### {escape(one_line(block.text))}"
        case Paragraph():
            yield escape(block.text)
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
            place = f" at {code(block.place)}" if block.place else ""
            message = escape(one_line(block.message, 1000))
            yield f"- {_SIGN.get(block.tone, '•')} {code(block.code)}{place}: {message}"
            for fact in block.facts:
                value = code(fact.value) if fact.verbatim else escape(one_line(fact.value, 1000))
                yield f"  - {escape(fact.label)}: {value}"
