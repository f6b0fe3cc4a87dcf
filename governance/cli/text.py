"""Blocks as plain text for a terminal. Everything that came from outside is cleaned here, and only here."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from governance.cli.report import Block, Bullets, Change, Code, Heading, Paragraph, Table, Verdict
from governance.cli.terminal import Style, clean, data, one_line

_LABEL_WIDTH = 9
_MAX_CELL = 80


def render_text(blocks: Sequence[Block], style: Style) -> str:
    """The blocks one after another, a blank line between them; ends with a line feed."""
    lines: list[str] = []
    after_change = False
    for block in blocks:
        if after_change and isinstance(block, Paragraph | Table | Code | Bullets):
            lines.append("")
        lines += _lines(block, style)
        after_change = isinstance(block, Change)
    return "\n".join(lines).rstrip("\n") + "\n"


def _lines(block: Block, style: Style) -> Iterable[str]:
    match block:
        case Verdict():
            yield f"{style.paint(clean(block.word.upper()), block.tone)}  {one_line(block.sentence, 1000)}"
        case Heading():
            yield ""
            yield style.paint(one_line(block.text), "strong")
        case Paragraph():
            yield from clean(block.text).split("\n")
        case Bullets():
            yield from (f"  - {one_line(item, 1000)}" for item in block.items)
        case Table():
            yield from _table(block, style)
        case Code():
            yield from clean(block.text).rstrip("\n").split("\n")
        case Change():
            yield ""
            place = f"  {style.paint(one_line(block.place), 'faint')}" if block.place else ""
            yield f"  {style.paint(one_line(block.code), block.tone)}{place}"
            message = clean(block.message)
            yield from textwrap.wrap(message, 100, initial_indent="    ", subsequent_indent="    ")
            for fact in block.facts:
                value = data(fact.value) if fact.verbatim else one_line(fact.value, 1000)
                yield f"    {style.paint(f'{fact.label}:'.ljust(_LABEL_WIDTH), 'faint')} {value}"


def _table(table: Table, style: Style) -> Iterable[str]:
    rows = [tuple(one_line(cell, _MAX_CELL) for cell in row) for row in table.rows]
    widths = [max(map(len, column)) for column in zip(table.columns, *rows, strict=True)]

    def line(cells: Iterable[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    yield style.paint(line(table.columns), "faint")
    yield from map(line, rows)
