"""Is there a value that satisfies these nodes and violates those? Answered with the value, a proof, or a reason.

A *state* is the set of everything asked of one value: signed nodes. Containment A ⊆ B is the state {A asked,
B denied}: the value found is the witness, and "none" is the proof. The search splits by type, expands the
connectives with unit propagation, and hands what is left to the four type modules, whose children are states
again. A state met again below itself adds nothing to a smallest value, so it counts as empty there: the least
fixpoint for emptiness, which is coinduction for containment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from governance.core.schema import kinds as n
from governance.core.schema.answers import ASKED, DENIED, NOTHING, Answer, State, entry
from governance.core.schema.apart import Tags, tags_of
from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.expansion import Expansion
from governance.core.schema.holding import Holding
from governance.core.schema.nodes import Forest, Node

# A deep schema needs more Python frames than the default thousand. Frames live on the heap, so many are cheap,
# and the solver bounds its own depth. Set once, at import: a limit that moves under a running program surprises.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))

MAX_DEPTH: Final = 400

# What things cost in steps of about a microsecond.
_STEPS_A_QUESTION: Final = 10
_STEPS_A_STATE: Final = 8

_UNDER_WAY: Final = Answer(None, None, "under-way")
_NEVER: Final = 1 << 30

_T = TypeVar("_T")

_ORDER: Final = (n.STRING, n.NUMBER, n.BOOLEAN, n.NULL, n.OBJECT, n.ARRAY)


class Solver:
    """Answers questions about the nodes of one forest within one step budget."""

    def __init__(self, forest: Forest, budget: Budget) -> None:
        self.forest = forest
        self.budget = budget
        self._memo: dict[State, Answer] = {}
        self._depth_of: dict[State, int] = {}
        self._tentative: dict[State, int] = {}
        self._frames: list[list[State]] = []
        self._lowest = _NEVER
        self.holding = Holding(forest, budget)
        self._overlap: dict[tuple[int, int], bool] = {}
        self.props_maps: dict[int, dict[str, Node]] = {}
        self._tags: dict[int, Tags | None] = {}

    def attempt(self, work: Callable[[], _T]) -> _T | None:
        """What ``work`` finds out from the outside; None where it comes to the end of the budget or too deep."""
        try:
            return work()
        except (BudgetExceeded, RecursionError):
            self._reset()
            return None

    def question(self, entries: Iterable[int]) -> Answer:
        """Solve a state from the outside: a spent budget or too deep a recursion becomes a reason."""
        try:
            self.budget.spend(_STEPS_A_QUESTION)
            return self.solve(frozenset(entries))
        except BudgetExceeded:
            self._reset()
            return Answer(None, None, "budget")
        except RecursionError:
            self._reset()
            return Answer(None, None, "depth")

    def _reset(self) -> None:
        """Forget what was under way when the budget ran out; what was settled stays settled."""
        for state in (*self._depth_of, *self._tentative):
            self._memo.pop(state, None)
        self._depth_of.clear()
        self._tentative.clear()
        self._frames.clear()
        self._lowest = _NEVER

    def solve(self, state: State) -> Answer:
        known = self._memo.get(state)
        if known is not None:
            if known is _UNDER_WAY:
                self._lowest = min(self._lowest, self._depth_of[state])
                return NOTHING
            if state in self._tentative:
                self._lowest = min(self._lowest, self._tentative[state])
            return known
        if _contradicts(state):
            return NOTHING
        self.budget.spend(_STEPS_A_STATE + len(state) // 4)
        depth = len(self._frames)
        if depth > MAX_DEPTH:
            return Answer(None, None, "depth")
        self._memo[state] = _UNDER_WAY
        self._depth_of[state] = depth
        self._frames.append([])
        outer, self._lowest = self._lowest, _NEVER
        answer = self._by_type(state)
        self._settle(state, depth, answer, outer)
        return answer

    def _settle(self, state: State, depth: int, answer: Answer, outer: int) -> None:
        """Keep the answer; one that rests on an unfinished ancestor is tentative until that one is settled."""
        dependents, lowest = self._frames.pop(), self._lowest
        del self._depth_of[state]
        self._memo[state] = answer
        self._lowest = outer
        if answer.found is not False:
            for dependent in dependents:
                self._memo.pop(dependent, None)
                self._tentative.pop(dependent, None)
            if answer.found is None and lowest < depth:
                self._lowest = min(outer, lowest)
            return
        if lowest < depth:
            self._tentative[state] = lowest
            for dependent in dependents:
                self._tentative[dependent] = lowest
            self._frames[lowest].extend((state, *dependents))
            self._lowest = min(outer, lowest)
            return
        for dependent in dependents:
            self._tentative.pop(dependent, None)

    def _by_type(self, state: State) -> Answer:
        reason: str | None = None
        types = self._types_of(state)
        for type_mask in _ORDER:
            if not types & type_mask:
                continue
            answer = Expansion(self, type_mask, state).answer()
            if answer.found:
                return answer
            reason = reason or answer.reason
        return Answer(None, None, reason) if reason else NOTHING

    def _types_of(self, state: State) -> int:
        """The types of which a value may meet the state, as far as each node tells by itself."""
        by_id, types = self.forest.by_id, n.ALL_TYPES
        for item in state:
            if item >= 0:
                node = by_id[item >> 2]
                types &= node.can_fail if item & 3 == DENIED else node.can_hold
        return types

    def solve_type(self, type_mask: int, state: State) -> Answer:
        """The same question for values of one type only."""
        return Expansion(self, type_mask, state).answer() if self._types_of(state) & type_mask else NOTHING

    def overlap(self, left: Node, right: Node) -> bool:
        """May both hold for one value? True where that cannot be decided."""
        key = (left.id, right.id)
        known = self._overlap.get(key)
        if known is None:
            known = self.solve(frozenset((entry(left, ASKED), entry(right, ASKED)))).found is not False
            self._overlap[key] = known
        return known

    def props_map(self, props: Node) -> dict[str, Node]:
        known = self.props_maps.get(props.id)
        if known is None:
            known = self.props_maps[props.id] = dict(props.args[0])
        return known

    def tags(self, union: Node) -> Tags | None:
        """What tells a union's branches apart by a constant, if all that may hold for an object have one."""
        if union.id not in self._tags:
            self._tags[union.id] = tags_of(union.args)
        return self._tags[union.id]

    def plain(self, type_mask: int, state: State) -> list[int] | None:
        """The literals that the state comes to for one type; None where it leaves a choice or holds for no value."""
        return Expansion(self, type_mask, state).plain() if self._types_of(state) & type_mask else None

    def name_within(self, name: str, conditions: Iterable[int]) -> bool | None:
        """Does a property name satisfy the signed string nodes? None when that cannot be decided."""
        constant = self.forest.enum([(n.STRING, name)])
        return self.solve_type(n.STRING, frozenset((*conditions, entry(constant, ASKED)))).found


def _contradicts(state: State) -> bool:
    return any(item & 3 == DENIED and item >= 0 and (item - 1 in state or item + 1 in state) for item in state)
