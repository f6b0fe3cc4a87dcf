"""Is there a value that satisfies these nodes and violates those? Answered with the value, a proof, or a reason.

A *state* is the set of everything asked of one value: signed nodes. Containment A ⊆ B is the state {A asked,
B denied}: the value found is the witness, and "none" is the proof. The search splits by type, expands the
connectives with unit propagation, and hands what is left to the four type modules, whose children are states
again. A state met again below itself adds nothing to a smallest value, so it counts as empty there: the least
fixpoint for emptiness, which is coinduction for containment.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import combinations
from typing import Any, Final

from governance.core.schema import arrays, numbers_leaf, objects, strings_leaf
from governance.core.schema import kinds as n
from governance.core.schema.answers import ASKED, DENIED, NOTHING, SENT, Answer, State, as_written, entry
from governance.core.schema.apart import surely_disjoint
from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.holding import Holding
from governance.core.schema.kinds import Kind
from governance.core.schema.nodes import Forest, Node

# A deep schema needs more Python frames than the default thousand. Frames live on the heap, so many are cheap,
# and the solver bounds its own depth. Set once, at import: a limit that moves under a running program surprises.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))

MAX_DEPTH: Final = 400
MAX_OPTIONS: Final = 64

# What things cost in steps of about a microsecond.
_STEPS_A_QUESTION: Final = 10
_STEPS_A_STATE: Final = 8
_STEPS_A_BRANCH: Final = 8
_CONSTANTS_A_STEP: Final = 12


_UNDER_WAY: Final = Answer(None, None, "under-way")
_NEVER: Final = 1 << 30

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
        for type_mask in _ORDER:
            answer = self.solve_type(type_mask, state)
            if answer.found:
                return answer
            reason = reason or answer.reason
        return Answer(None, None, reason) if reason else NOTHING

    def solve_type(self, type_mask: int, state: State) -> Answer:
        """The same question for values of one type only."""
        by_id = self.forest.by_id
        for item in state:
            if item >= 0:
                node = by_id[item >> 2]
                if not (node.can_fail if item & 3 == DENIED else node.can_hold) & type_mask:
                    return NOTHING
        return _Expansion(self, type_mask, state).run(list(state), set(), [], [])

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

    def name_within(self, name: str, conditions: Iterable[int]) -> bool | None:
        """Does a property name satisfy the signed string nodes? None when that cannot be decided."""
        constant = self.forest.enum([(n.STRING, name)])
        return self.solve_type(n.STRING, frozenset((*conditions, entry(constant, ASKED)))).found


class _Expansion:
    """One position, one type: expands connectives until only literals are left, then asks the type module."""

    def __init__(self, solver: Solver, type_mask: int, state: State) -> None:
        self.solver = solver
        self.by_id = solver.forest.by_id
        self.type = type_mask
        self.state = state

    def run(self, todo: list[int], seen: set[int], literals: list[int], choices: list[list[tuple[int, ...]]]) -> Answer:
        budget = self.solver.budget
        budget.spend(_STEPS_A_BRANCH + len(seen) // 16)
        while True:
            if not self._expand(todo, seen, literals, choices):
                return NOTHING
            budget.spend(len(choices))
            narrowed = self._narrow(seen, choices, todo)
            if narrowed is None:
                return NOTHING
            choices = narrowed
            if not todo:
                break
        if not choices:
            return self._leaf(literals)
        declaring = [choice for choice in choices if self._declares(choice)]
        # While a choice may still declare names to a sender, a closed look would be too strict.
        guess = self._leaf(as_written(literals) if declaring else literals)
        if guess.found is False:
            return NOTHING
        open_choices = [choice for choice in choices if not self._declares(choice)]
        if guess.found:
            open_choices = [choice for choice in open_choices if not self._met_by(guess.value, choice)]
        if not open_choices and not declaring:
            return guess
        # Only a choice that the guess violates can have a part in a refutation.
        split = min(open_choices or declaring, key=len)
        others = [choice for choice in choices if choice is not split]
        reason: str | None = None
        for alternative in split:
            answer = self.run([item for item in alternative if item >= 0], set(seen), list(literals), list(others))
            if answer.found:
                return answer
            reason = reason or answer.reason
            if not alternative or alternative[-1] == _TRUNCATED:
                reason = reason or "union-width"
        return Answer(None, None, reason) if reason else NOTHING

    def _expand(
        self, todo: list[int], seen: set[int], literals: list[int], choices: list[list[tuple[int, ...]]]
    ) -> bool:
        """Work off ``todo``; False when it cannot all be met."""
        type_mask, by_id, budget = self.type, self.by_id, self.solver.budget
        while todo:
            budget.spend(2)
            item = todo.pop()
            if item in seen:
                continue
            if item < 0:
                seen.add(item)
                literals.append(item)
                continue
            node, sign = by_id[item >> 2], item & 3
            standing = self._standing(node, sign, seen)
            if standing is False:
                return False
            seen.add(item)
            if standing:
                continue
            kind = node.kind
            if kind is Kind.AND:
                if sign == DENIED:
                    choices.append([(entry(child, DENIED),) for child in node.args])
                else:
                    todo.extend(entry(child, sign) for child in node.args)
            elif kind is Kind.OR:
                if sign == DENIED:
                    todo.extend(entry(child, DENIED) for child in node.args)
                elif sign == SENT and node.tells & type_mask:
                    choices.append(self._subsets(node))
                else:
                    choices.append([(entry(child, sign),) for child in node.args])
            elif kind is Kind.NOT:
                todo.append(entry(node.args[0], ASKED if sign == DENIED else DENIED))
            elif kind is Kind.ONEOF:
                choices.append(self._exactly_one(node, sign))
            elif kind is Kind.REF:
                todo.append(entry(self.solver.forest.targets[node.args[0]], sign))
            elif kind is not Kind.TYPES:
                literals.append(item)
        return True

    def _standing(self, node: Node, sign: int, seen: set[int]) -> bool | None:
        """True: already met for this type. False: cannot be met. None: open."""
        if sign == DENIED:
            if not node.can_fail & self.type or entry(node, ASKED) in seen or entry(node, SENT) in seen:
                return False
            return not node.can_hold & self.type or None
        if not node.can_hold & self.type or entry(node, DENIED) in seen:
            return False
        if sign == SENT and node.tells & self.type:
            return None
        return not node.can_fail & self.type or None

    def _narrow(
        self, seen: set[int], choices: list[list[tuple[int, ...]]], todo: list[int]
    ) -> list[list[tuple[int, ...]]] | None:
        """Drop dead alternatives and met choices; a choice with one alternative left is no choice."""
        remaining: list[list[tuple[int, ...]]] = []
        for alternatives in choices:
            self.solver.budget.spend(len(alternatives))
            live: list[tuple[int, ...]] = []
            met = False
            for alternative in alternatives:
                standing = self._alternative(alternative, seen)
                if standing and not self._declares(alternatives):
                    met = True
                    break
                if standing is not False:
                    live.append(alternative)
            if met:
                continue
            if not live:
                return None
            if len(live) == 1 and _TRUNCATED not in live[0]:
                todo.extend(live[0])
            else:
                remaining.append(live)
        return remaining

    def _alternative(self, alternative: tuple[int, ...], seen: set[int]) -> bool | None:
        met = True
        for item in alternative:
            if item < 0:
                met = False
                continue
            if item in seen:
                continue
            standing = self._standing(self.by_id[item >> 2], item & 3, seen)
            if standing is False:
                return False
            met = met and bool(standing)
        return met or None

    def _met_by(self, value: Any, choice: list[tuple[int, ...]]) -> bool:
        """Does the value satisfy one of the alternatives?"""
        holds = self.solver.holding.holds
        return any(
            all(item >= 0 and holds(self.by_id[item >> 2], value) is (item & 3 != DENIED) for item in alternative)
            for alternative in choice
        )

    def _declares(self, choice: list[tuple[int, ...]]) -> bool:
        """May taking one alternative more tell a sender of more names? Then none is met for good."""
        return any(
            item >= 0 and item & 3 == SENT and self.by_id[item >> 2].tells & self.type
            for alternative in choice
            for item in alternative
        )

    def _subsets(self, node: Node) -> list[tuple[int, ...]]:
        """What a sender may take at once from a union: names count as declared by every branch that passes."""
        live = [child for child in node.args if child.can_hold & self.type]
        options: list[tuple[int, ...]] = [(entry(child, SENT),) for child in live]
        if surely_disjoint(tuple(live)):
            return options
        grown: list[tuple[Node, ...]] = [(child,) for child in live]
        for _ in range(1, len(live)):
            larger: list[tuple[Node, ...]] = []
            for chosen in grown:
                start = live.index(chosen[-1]) + 1
                for child in live[start:]:
                    if all(self.solver.overlap(one, child) for one in chosen):
                        larger.append((*chosen, child))
                        if len(larger) + len(options) > MAX_OPTIONS:
                            return [*options, (*(entry(one, SENT) for one in live), _TRUNCATED)]
            options.extend(tuple(entry(one, SENT) for one in chosen) for chosen in larger)
            grown = larger
        return options

    def _exactly_one(self, node: Node, sign: int) -> list[tuple[int, ...]]:
        branches: tuple[Node, ...] = node.args[0]
        if sign == DENIED:
            none = tuple(entry(branch, DENIED) for branch in branches)
            live = [branch for branch in branches if branch.can_hold & self.type]
            pairs = [
                (entry(one, ASKED), entry(other, ASKED))
                for one, other in combinations(live, 2)
                if self.solver.overlap(one, other)
            ]
            return [none, *pairs]
        # By position: the same branch twice fits twice, so it can never be the one.
        return [
            (entry(chosen, sign), *(entry(other, DENIED) for place, other in enumerate(branches) if place != index))
            for index, chosen in enumerate(branches)
        ]

    def _leaf(self, literals: list[int]) -> Answer:
        by_id = self.by_id
        if any(item >= 0 and by_id[item >> 2].kind is Kind.OPAQUE for item in literals):
            known = [item for item in literals if item < 0 or by_id[item >> 2].kind is not Kind.OPAQUE]
            if self._known_leaf(known).found is False:
                return NOTHING
            reason = next(
                by_id[item >> 2].args[0] for item in literals if item >= 0 and by_id[item >> 2].kind is Kind.OPAQUE
            )
            return Answer(None, None, reason)
        return self._known_leaf(literals)

    def _known_leaf(self, literals: list[int]) -> Answer:
        if self.type == n.OBJECT:
            return objects.find_object(self.solver, literals, self.state)
        if self.type == n.ARRAY:
            return arrays.find_array(self.solver, literals)
        if self.type == n.STRING:
            return strings_leaf.find(self.solver, literals)
        if self.type == n.NUMBER:
            return numbers_leaf.find(self.solver, literals)
        by_id = self.by_id
        candidates = [False, True] if self.type == n.BOOLEAN else [None]
        for candidate in candidates:
            key = (self.type, candidate)
            if all((key in by_id[item >> 2].args[0]) != (item & 3 == DENIED) for item in literals if item >= 0):
                return Answer(True, candidate)
        return NOTHING


_TRUNCATED: Final = -3
"""Marks an alternative that stands for more than were worth listing."""


def _contradicts(state: State) -> bool:
    return any(item & 3 == DENIED and item >= 0 and (item - 1 in state or item + 1 in state) for item in state)
