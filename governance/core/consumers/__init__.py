"""Consumers: who is hit by a change, told for each by name."""

from governance.core.consumers.impacts import Change, ConsumerImpact, Impact, impacts, summary
from governance.core.consumers.matrix import Cell, MatrixRow, matrix
from governance.core.consumers.moves import Moves
from governance.core.consumers.narrowing import narrowed
from governance.core.consumers.needs import Need, Source

__all__ = [
    "Cell",
    "Change",
    "ConsumerImpact",
    "Impact",
    "MatrixRow",
    "Moves",
    "Need",
    "Source",
    "impacts",
    "matrix",
    "narrowed",
    "summary",
]
