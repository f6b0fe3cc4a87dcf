"""Many derivatives at once: an expression whose only change from step to step is that its counts go down."""

from __future__ import annotations

from typing import Final

from governance.core.schema.expressions import Chars, Concat, Inter, Loop, Not, Regex
from governance.core.schema.language import complement, concat, intersection, loop

_WITHOUT_END: Final = 1 << 62


def countdown(regex: Regex) -> int:
    """For how many steps the expression keeps its shape, its characters and whether it holds the empty string."""
    match regex:
        case Loop() if isinstance(regex.body, Chars):
            if regex.low:
                return regex.low - 1
            return _WITHOUT_END if regex.high is None else regex.high - 1
        case Concat() if isinstance(regex.head, Loop) and regex.head.low:
            return countdown(regex.head)
        case Not():
            return countdown(regex.inner)
        case Inter():
            return min(map(countdown, regex.members))
        case _:
            return 0


def counted_down(regex: Regex, steps: int) -> Regex:
    """The derivative by ``steps`` characters, at most ``countdown(regex)``, that every counted part allows."""
    match regex:
        case Loop():
            return loop(regex.body, max(regex.low - steps, 0), None if regex.high is None else regex.high - steps)
        case Concat():
            return concat(counted_down(regex.head, steps), regex.tail)
        case Not():
            return complement(counted_down(regex.inner, steps))
        case Inter():
            return intersection(*(counted_down(member, steps) for member in regex.members))
        case _:
            raise AssertionError("nothing counts down here")
