"""What a question is made of and answered with: signs, states, answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from governance.core.schema.nodes import Node

ASKED, DENIED, SENT = 0, 1, 2
"""The sign of a node in a state. SENT is ASKED of a sender who sends only what it was told of."""
ROOT: Final = -1
"""In a state: this position is the root of an input, whose arguments are named even where none is."""
FORCED: Final = -2
"""In a state: close this position without asking whether that leaves a value."""

State: TypeAlias = frozenset[int]
"""Everything asked of one value: signed nodes as ``node.id * 4 + sign``, and the marks above."""


class Answer(NamedTuple):
    """``found`` is True with a value, False when there is provably none, None with a reason code."""

    found: bool | None
    value: Any = None
    reason: str | None = None


NOTHING: Final = Answer(False)


def entry(node: Node, sign: int) -> int:
    return node.id * 4 + sign


def as_written(items: Iterable[int]) -> list[int]:
    """The same of a sender who may send anything that the schema as written lets pass."""
    return [item - SENT if item & 3 == SENT else item for item in items if item >= 0]
