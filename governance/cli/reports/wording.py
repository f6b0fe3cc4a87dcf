"""A remark as plain text: what every host shows, in one order."""

from __future__ import annotations

from typing import Final

from governance.cli.report import Remark
from governance.cli.terminal import clean, data, one_line

_MESSAGE: Final = 1000
_DATA: Final = 2000


def sentences(remark: Remark) -> list[str]:
    """The message, then each fact as ``label: value``; every line cleaned and bounded."""
    change = remark.change
    lines = [one_line(change.message, _MESSAGE)]
    for fact in change.facts:
        value = data(fact.value, _DATA) if fact.verbatim else one_line(fact.value, _MESSAGE)
        lines.append(f"{clean(fact.label)}: {value}")
    return lines


def headline(remark: Remark) -> str:
    """The code and whose it is, on one line: ``input.required-added: shop.orders_find``."""
    return f"{one_line(remark.change.code)}: {one_line(remark.skill)}"
