"""One position, one type: connectives are expanded until only literals are left, for the type module to solve.

Alternatives are taken only where a guess violates a choice. A union whose branches a constant tells apart waits
until that constant is known: then one branch is looked at, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from governance.core.schema import arrays, numbers_leaf, objects, strings_leaf
from governance.core.schema import kinds as n
from governance.core.schema.answers import ASKED, DENIED, NOTHING, SENT, Answer, State, as_written, entry
from governance.core.schema.apart import finite_set, surely_disjoint
from governance.core.schema.kinds import Kind
from governance.core.schema.nodes import Node

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver

MAX_OPTIONS: Final = 64
_STEPS_A_BRANCH: Final = 8
_ENTRIES_A_STEP: Final = 16
_TRUNCATED: Final = -3
"""Alone it is an alternative that stands for all that were not worth listing."""

_Choice: TypeAlias = "list[tuple[int, ...]]"
"""Alternatives, of which one is to be met: each so many signed nodes."""


@dataclass(kw_only=True)
class _Way:
    """How far one way through the choices has come."""

    todo: list[int]
    seen: set[int] = field(default_factory=set)
    literals: list[int] = field(default_factory=list)
    choices: list[_Choice] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    """Signed unions that wait for the constant that tells their branches apart."""

    def taking(self, alternative: tuple[int, ...], split: _Choice) -> _Way:
        """The way that goes on with one alternative of ``split``."""
        return _Way(
            todo=[item for item in alternative if item >= 0],
            seen=set(self.seen),
            literals=list(self.literals),
            choices=[choice for choice in self.choices if choice is not split],
            waiting=list(self.waiting),
        )

    def unclosed(self, split: _Choice) -> _Way:
        """The way on which senders send what the schema as written lets pass, with one of the single alternatives of
        ``split``: all that senders send on any way is sent on this one."""
        single: _Choice = [alternative for alternative in split if len(alternative) == 1]
        # Of a choice with more alternatives than are listed nothing is asked: that lets even more pass.
        others = [choice for choice in self.choices if choice is not split and (_TRUNCATED,) not in choice]
        return _Way(
            todo=[],
            seen=set(self.seen),
            literals=as_written(self.literals),
            choices=[
                [tuple(as_written(alternative)) for alternative in choice if alternative != (_TRUNCATED,)]
                for choice in (single, *others)
            ],
            waiting=as_written(self.waiting),
        )


class Expansion:
    """Answers what the solver asks of one type in one state."""

    def __init__(self, solver: Solver, type_mask: int, state: State) -> None:
        self.solver = solver
        self.by_id = solver.forest.by_id
        self.type = type_mask
        self.state = state

    def answer(self) -> Answer:
        """A value of the type that meets the state, a proof that there is none, or a reason."""
        return self._follow(_Way(todo=list(self.state)))

    def plain(self) -> list[int] | None:
        """The literals that the state comes to; None where it leaves a choice or holds for no value."""
        way = _Way(todo=list(self.state))
        settled = self._settle(way) and not way.choices and not way.waiting
        opaque = any(item >= 0 and self.by_id[item >> 2].kind is Kind.OPAQUE for item in way.literals)
        return way.literals if settled and not opaque else None

    def _follow(self, way: _Way) -> Answer:
        self.solver.budget.spend(_STEPS_A_BRANCH + len(way.seen) // 16)
        if not self._settle(way):
            return NOTHING
        if not way.choices and not way.waiting:
            return self._leaf(way.literals)
        declaring = [choice for choice in way.choices if self._declares(choice)]
        # While a choice may still declare names to a sender, a closed look would be too strict.
        guess = self._leaf(as_written(way.literals) if declaring else way.literals)
        if guess.found is False:
            return NOTHING
        open_choices = [choice for choice in way.choices if not self._declares(choice)]
        waiting = way.waiting
        if guess.found:
            open_choices = [choice for choice in open_choices if not self._met_by(guess.value, choice)]
            waiting = [item for item in waiting if not self._holds(item, guess.value)]
        if open_choices or declaring:
            # Only a choice that the guess violates can have a part in a refutation.
            return self._split(way, min(open_choices or declaring, key=len))
        if not waiting:
            return guess
        # Nothing will tell the constant any more: every branch is denied for itself.
        way.waiting = [item for item in way.waiting if item not in waiting]
        way.todo = [entry(child, DENIED) for item in waiting for child in self.by_id[item >> 2].args]
        return self._follow(way)

    def _split(self, way: _Way, split: _Choice) -> Answer:
        reason: str | None = None
        if (_TRUNCATED,) in split:
            if self._follow(way.unclosed(split)).found is False:
                return NOTHING
            reason = "union-width"
        for alternative in split:
            if alternative == (_TRUNCATED,):
                continue
            answer = self._follow(way.taking(alternative, split))
            if answer.found:
                return answer
            reason = reason or answer.reason
        return Answer(None, None, reason) if reason else NOTHING

    def _settle(self, way: _Way) -> bool:
        """Go on until only literals and true choices are left; False when it cannot all be met."""
        budget = self.solver.budget
        while True:
            if not self._expand(way):
                return False
            budget.spend(len(way.choices))
            narrowed = self._narrow(way)
            if narrowed is None:
                return False
            way.choices = narrowed
            if not way.todo and not self._match(way):
                return True

    def _expand(self, way: _Way) -> bool:
        """Work off what is to do; False when it cannot all be met."""
        type_mask, by_id, budget = self.type, self.by_id, self.solver.budget
        todo, seen, literals = way.todo, way.seen, way.literals
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
                    way.choices.append([(entry(child, DENIED),) for child in node.args])
                else:
                    todo.extend([entry(child, sign) for child in node.args])
            elif kind is Kind.OR:
                if type_mask == n.OBJECT and self.solver.tags(node) is not None:
                    way.waiting.append(item)
                elif sign == DENIED:
                    todo.extend([entry(child, DENIED) for child in node.args])
                else:
                    way.choices.append(self._alternatives(node.args, sign, tells=node.tells))
            elif kind is Kind.NOT:
                todo.append(entry(node.args[0], ASKED if sign == DENIED else DENIED))
            elif kind is Kind.ONEOF:
                way.choices.append(self._exactly_one(node, sign))
            elif kind is Kind.REF:
                todo.append(entry(self.solver.forest.targets[node.args[0]], sign))
            elif kind is not Kind.TYPES:
                literals.append(item)
        return True

    def _match(self, way: _Way) -> bool:
        """Let the waiting unions whose constant is known go on, and those asked for in any case; False if none did."""
        before, way.waiting = way.waiting, []
        for item in before:
            union, sign = self.by_id[item >> 2], item & 3
            tags = self.solver.tags(union)
            assert tags is not None, "a union waits for nothing else"
            constants = self._constants(tags.name, way.literals)
            if constants is None and sign == DENIED:
                way.waiting.append(item)
                continue
            reached = union.args if constants is None else tags.reached(constants)
            self.solver.budget.spend(len(reached))
            if sign == DENIED:
                way.todo.extend([entry(branch, DENIED) for branch in reached])
            else:
                way.choices.append(self._alternatives(reached, sign, tells=union.tells))
        return len(way.waiting) < len(before)

    def _constants(self, name: str, literals: list[int]) -> frozenset[Any] | None:
        """The finite set that what is asked under a field's name lies in, if one is plain to see."""
        found: frozenset[Any] | None = None
        for item in literals:
            if item < 0 or item & 3 == DENIED or (node := self.by_id[item >> 2]).kind is not Kind.PROPS:
                continue
            child = self.solver.props_map(node).get(name)
            constants = None if child is None else finite_set(child)
            if constants is not None:
                found = constants if found is None else found & constants
        return found

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

    def _narrow(self, way: _Way) -> list[_Choice] | None:
        """Drop dead alternatives and met choices; a choice with one alternative left is no choice."""
        remaining: list[_Choice] = []
        for alternatives in way.choices:
            self.solver.budget.spend(len(alternatives))
            live: _Choice = []
            met = False
            for alternative in alternatives:
                standing = self._alternative(alternative, way.seen)
                if standing and not self._declares(alternatives):
                    met = True
                    break
                if standing is not False:
                    live.append(alternative)
            if met:
                continue
            if not live:
                return None
            if len(live) == 1 and live[0] != (_TRUNCATED,):
                way.todo.extend(live[0])
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

    def _met_by(self, value: Any, choice: _Choice) -> bool:
        """Does the value satisfy one of the alternatives?"""
        return any(all(self._holds(item, value) for item in alternative) for alternative in choice)

    def _holds(self, item: int, value: Any) -> bool:
        """Is what the signed node says of the value surely so?"""
        return item >= 0 and self.solver.holding.holds(self.by_id[item >> 2], value) is (item & 3 != DENIED)

    def _declares(self, choice: _Choice) -> bool:
        """May taking one alternative more tell a sender of more names? Then none is met for good."""
        return any(
            item >= 0 and item & 3 == SENT and self.by_id[item >> 2].tells & self.type
            for alternative in choice
            for item in alternative
        )

    def _alternatives(self, branches: tuple[Node, ...], sign: int, *, tells: int) -> _Choice:
        """What there is to take from a union's branches."""
        if sign == SENT and tells & self.type:
            return self._subsets(branches)
        return [(entry(branch, sign),) for branch in branches]

    def _subsets(self, branches: tuple[Node, ...]) -> _Choice:
        """What a sender may take at once from a union: names count as declared by every branch that passes."""
        live = [branch for branch in branches if branch.can_hold & self.type]
        options: _Choice = [(entry(branch, SENT),) for branch in live]
        if surely_disjoint(tuple(live)):
            return options
        grown: list[tuple[Node, ...]] = [(branch,) for branch in live]
        for _ in range(1, len(live)):
            larger: list[tuple[Node, ...]] = []
            for chosen in grown:
                start = live.index(chosen[-1]) + 1
                for branch in live[start:]:
                    if all(self.solver.overlap(one, branch) for one in chosen):
                        larger.append((*chosen, branch))
                        if len(larger) + len(options) > MAX_OPTIONS:
                            return [*options, (_TRUNCATED,)]
            options.extend(tuple(entry(one, SENT) for one in chosen) for chosen in larger)
            grown = larger
        return options

    def _exactly_one(self, node: Node, sign: int) -> _Choice:
        branches: tuple[Node, ...] = node.args[0]
        self.solver.budget.spend(len(branches) ** 2 // _ENTRIES_A_STEP)
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
