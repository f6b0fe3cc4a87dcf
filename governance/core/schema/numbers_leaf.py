"""Number literals of one position to one question about bounds, periods and points."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from governance.core.schema.answers import DENIED, NOTHING, Answer
from governance.core.schema.exact import plain_number
from governance.core.schema.kinds import NUMBER, Kind
from governance.core.schema.numbers import NumberRange, NumberUndecided

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver

_CONSTANTS_A_STEP: Final = 12


def find(solver: Solver, literals: list[int]) -> Answer:
    wanted = NumberRange()
    allowed: set[Any] | None = None
    for item in literals:
        if item < 0:
            continue
        node, denied = solver.forest.by_id[item >> 2], item & 3 == DENIED
        kind, args = node.kind, node.args
        if kind is Kind.ENUM:
            solver.budget.spend(len(args[0]) // _CONSTANTS_A_STEP)
            points = {value for type_mask, value in args[0] if type_mask == NUMBER}
            if denied:
                wanted.excluded |= points
            else:
                allowed = points if allowed is None else allowed & points
        elif kind is Kind.MULTIPLE:
            (wanted.not_periods if denied else wanted.periods).append(args[0])
        elif (kind is Kind.MINIMUM) != denied:
            wanted.at_least(args[0], exclusive=args[1] != denied)
        else:
            wanted.at_most(args[0], exclusive=args[1] != denied)
    if allowed is not None:
        best = None
        for value in allowed:
            solver.budget.spend()
            if wanted.admits(value) and (best is None or _plainness(value) < _plainness(best)):
                best = value
        return NOTHING if best is None else Answer(True, plain_number(best))
    try:
        found = wanted.find(solver.budget)
    except NumberUndecided:
        return Answer(None, None, "number-too-rare")
    return NOTHING if found is None else Answer(True, plain_number(found))


def _plainness(value: Fraction) -> tuple[Fraction, bool]:
    """Numbers near zero are the plainest, and of two as near the positive one."""
    return abs(value), value < 0
