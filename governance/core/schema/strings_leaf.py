"""String literals of one position to one question for the pattern algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance.core.schema import kinds as n
from governance.core.schema.answers import DENIED, NOTHING, Answer
from governance.core.schema.formats import SAMPLES, has_format, has_match
from governance.core.schema.kinds import Kind
from governance.core.schema.regex import Regex, UnsupportedPattern, compile_pattern, matches
from governance.core.schema.strings import find_string

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver


_CONSTANTS_A_STEP: Final = 12
_STEPS_A_JUDGEMENT: Final = 2
_BACKTRACKS_A_STEP: Final = 8


def find(solver: Solver, literals: list[int]) -> Answer:
    """A simple string that meets the literals."""
    shortest, longest = 0, None
    required: list[Regex] = []
    forbidden: list[Regex] = []
    excluded: set[str] = set()
    allowed: set[str] | None = None
    reason: str | None = None
    formats: list[tuple[str, bool]] = []
    judged: list[tuple[str, bool]] = []
    for item in literals:
        if item < 0:
            continue
        node, denied = solver.forest.by_id[item >> 2], item & 3 == DENIED
        kind, args = node.kind, node.args
        if kind is Kind.ENUM:
            solver.budget.spend(len(args[0]) // _CONSTANTS_A_STEP)
            points = {value for type_mask, value in args[0] if type_mask == n.STRING}
            if denied:
                excluded |= points
            else:
                allowed = points if allowed is None else allowed & points
        elif kind is Kind.PATTERN:
            try:
                (forbidden if denied else required).append(compile_pattern(args[0]))
            except UnsupportedPattern as error:
                reason = f"regex-{error.reason}"
                judged.append((args[0], denied))
        elif kind is Kind.FORMAT:
            formats.append((args[0], denied))
        elif (kind is Kind.MINLENGTH) != denied:
            shortest = max(shortest, args[0] + (1 if kind is Kind.MAXLENGTH else 0))
        else:
            bound = args[0] - (1 if kind is Kind.MINLENGTH else 0)
            longest = bound if longest is None else min(longest, bound)

    def fits(text: str) -> bool:
        return (
            text not in excluded
            and shortest <= len(text)
            and (longest is None or len(text) <= longest)
            and all(matches(regex, text, solver.budget) for regex in required)
            and not any(matches(regex, text, solver.budget) for regex in forbidden)
            and all(has_format(name, text) != denied for name, denied in formats)
            and all(judged_by(pattern, text) != denied for pattern, denied in judged)
        )

    def judged_by(pattern: str, text: str) -> bool:
        # A validator that backtracks may take long with a long text, and nothing interrupts it.
        solver.budget.spend(_STEPS_A_JUDGEMENT + len(text) ** 2 // _BACKTRACKS_A_STEP)
        return has_match(pattern, text)

    if allowed is not None:
        allowed -= excluded
        solver.budget.spend(len(allowed) // 2)
        try:
            fitting = [text for text in allowed if fits(text)]
        except ValueError:  # a pattern that the validator does not know either
            return Answer(None, None, reason)
        if not fitting:
            return NOTHING
        # A pattern that cannot be reasoned about can still judge each of finitely many texts.
        return Answer(True, min(fitting, key=lambda t: (len(t), t)))
    if longest is not None and shortest > longest:
        return NOTHING
    found = find_string(
        required=required,
        forbidden=forbidden,
        min_length=shortest,
        max_length=longest,
        excluded=frozenset(excluded),
        budget=solver.budget,
        count=4 if formats else 1,
    )
    if not found:
        return NOTHING
    if formats:
        # Formats are opaque: a candidate can be judged, but that there is none cannot be proved.
        fitting = [text for text in (*found, *SAMPLES) if fits(text)]
        if not fitting:
            return Answer(None, None, "format")
        found = fitting
    return Answer(None, None, reason) if reason else Answer(True, found[0])
