"""Arrays: a state for each position, demands placed on positions, distinctness by matching."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from governance.core.schema.answers import ASKED, DENIED, NOTHING, SENT, Answer, State, as_written
from governance.core.schema.constants import one_of_values
from governance.core.schema.kinds import Kind
from governance.core.schema.nodes import Node

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver

_MAX_LENGTH: Final = 50_000
_MAX_DISTINCT: Final = 200
_STEPS_A_PLACE: Final = 4


@dataclass
class ArrayShape:
    """The literals of one array position, sorted by what they say."""

    asked: list[tuple[Node, int]] = field(default_factory=list)
    denied: list[Node] = field(default_factory=list)
    shortest: int = 0
    longest: int | None = None
    distinct: bool = False
    repeated: bool = False
    counts: list[tuple[Node, int, int, int | None]] = field(default_factory=list)
    """(node, sign, at least, at most)"""
    either: list[tuple[Node, int, int | None]] = field(default_factory=list)
    """Denied counts: fewer than the minimum, or more than the maximum."""


def find_array(solver: Solver, literals: list[int]) -> Answer:
    """A short array that meets the literals."""
    shape = array_shape(solver, literals)
    reason: str | None = None
    for counts in _count_choices(shape.either):
        answer = ArraySearch(solver, shape, [*shape.counts, *counts]).run()
        if answer.found:
            return answer
        reason = reason or answer.reason
    return Answer(None, None, reason) if reason else NOTHING


def array_shape(solver: Solver, literals: list[int]) -> ArrayShape:
    shape = ArrayShape()
    for item in literals:
        if item < 0:
            continue
        node, sign = solver.forest.by_id[item >> 2], item & 3
        kind, args, denied = node.kind, node.args, sign == DENIED
        if kind is Kind.ITEMS:
            if denied:
                shape.denied.append(node)
            else:
                shape.asked.append((node, sign))
        elif kind is Kind.UNIQUE:
            shape.distinct, shape.repeated = shape.distinct or not denied, shape.repeated or denied
        elif kind is Kind.CONTAINS:
            if denied:
                shape.either.append((args[0], args[1], args[2]))
            else:
                shape.counts.append((args[0], sign, args[1], args[2]))
        elif (kind is Kind.MINITEMS) != denied:
            shape.shortest = max(shape.shortest, args[0] + (1 if kind is Kind.MAXITEMS else 0))
        else:
            bound = args[0] - (1 if kind is Kind.MINITEMS else 0)
            shape.longest = bound if shape.longest is None else min(shape.longest, bound)
    return shape


def _count_choices(
    either: list[tuple[Node, int, int | None]],
) -> Iterator[list[tuple[Node, int, int, int | None]]]:
    """Each way to break every denied count: too few, or too many."""
    if not either:
        yield []
        return
    node, minimum, maximum = either[0]
    for others in _count_choices(either[1:]):
        if minimum > 0:
            yield [(node, ASKED, 0, minimum - 1), *others]
        if maximum is not None:
            yield [(node, ASKED, maximum + 1, None), *others]


class ArraySearch:
    def __init__(self, solver: Solver, shape: ArrayShape, counts: list[tuple[Node, int, int, int | None]]) -> None:
        self.solver = solver
        self.shape = shape
        self.counts = counts
        self.reason: str | None = None
        self._states: dict[int, State] = {}
        prefixes = [len(node.args[0]) for node, _ in shape.asked] + [len(node.args[0]) for node in shape.denied]
        self.explicit = max(prefixes, default=0)
        """Positions from here on are all alike."""
        self.telling = any(sign == SENT and node.tells for node, sign, _, _ in counts)
        """May an item that is contained be told of more names? Then a closed look at it alone is too strict."""

    def run(self) -> Answer:
        shape = self.shape
        if shape.longest is not None and shape.longest < shape.shortest:
            return NOTHING
        if shape.distinct and shape.repeated:
            return NOTHING
        demands = len(shape.denied) + sum(minimum for _, _, minimum, _ in self.counts) + 2 * shape.repeated
        # Elements that carry no demand and stand among the alike ones can be taken out of any longer array.
        last = max(shape.shortest, self.explicit) + demands
        if shape.longest is not None:
            last = min(last, shape.longest)
        first = max(shape.shortest, max((minimum for _, _, minimum, _ in self.counts), default=0))
        states: list[State] = []
        for length in range(first, last + 1):
            self.solver.budget.spend(_STEPS_A_PLACE + length // 8)
            too_long = length > _MAX_LENGTH
            added = [
                self.state_at(position)
                for position in range(len(states), min(length, self.explicit + 1) if too_long else length)
            ]
            # Where one position cannot be filled, no array can be this long or longer, demands aside.
            if any(self._refuted(state) for state in set(added)):
                if length == first:
                    return NOTHING
                break
            if too_long:
                return Answer(None, None, "payload-too-large")
            states += added
            value = self._deny_items(0, states)
            if value is not None:
                return Answer(True, value)
        return Answer(None, None, self.reason) if self.reason else NOTHING

    def state_at(self, position: int) -> State:
        place = min(position, self.explicit)
        known = self._states.get(place)
        if known is None:
            self.solver.budget.spend(1 + len(self.shape.asked))
            true = self.solver.forest.true
            known = self._states[place] = frozenset(
                child.id * 4 + sign for node, sign in self.shape.asked if (child := _item(node, place)) is not true
            )
        return known

    def _refuted(self, state: State) -> bool:
        """Is it proved that no item has this state, whatever it is told of later?"""
        return self._settled(frozenset(as_written(state)) if self.telling else state) is False

    def _settled(self, state: State) -> bool | None:
        answer = self.solver.solve(state)
        if answer.found is None:
            self.reason = self.reason or answer.reason
        return answer.found

    def _deny_items(self, index: int, states: list[State]) -> list[Any] | None:
        """Place each denied ITEMS literal on a position that violates it."""
        self.solver.budget.spend(_STEPS_A_PLACE)
        if index == len(self.shape.denied):
            return self._count(0, states)
        node = self.shape.denied[index]
        tried: set[tuple[State, int]] = set()
        for position, state in enumerate(states):
            child = _item(node, position)
            # Two alike positions in one state are interchangeable.
            if not child.can_fail or (position >= self.explicit and (state, child.id) in tried):
                continue
            tried.add((state, child.id))
            self.solver.budget.spend(_STEPS_A_PLACE + len(states) // 8)
            denied = state | {child.id * 4 + DENIED}
            if not self._refuted(denied):
                placed = [*states[:position], denied, *states[position + 1 :]]
                if (value := self._deny_items(index + 1, placed)) is not None:
                    return value
        return None

    def _count(self, index: int, states: list[State]) -> list[Any] | None:
        """Choose which positions match each counted node, and with an upper count that no other does."""
        if index == len(self.counts):
            return self._repeat(states)
        node, sign, minimum, maximum = self.counts[index]
        holds, fails = node.id * 4 + sign, node.id * 4 + DENIED
        if maximum is None and sign == SENT and node.tells:
            sizes = list(range(minimum, len(states) + 1))
        elif maximum is None:
            sizes = [minimum]
        else:
            sizes = list(range(minimum, min(maximum, len(states)) + 1))
        for size in sizes:
            for chosen in self._choices(states, size):
                self.solver.budget.spend(_STEPS_A_PLACE + len(states) // 4)
                picked = set(chosen)
                marked = [
                    state | {holds} if position in picked else (state if maximum is None else state | {fails})
                    for position, state in enumerate(states)
                ]
                possible = not any(self._refuted(state) for state in set(marked))
                if possible and (value := self._count(index + 1, marked)) is not None:
                    return value
        return None

    def _choices(self, states: list[State], size: int) -> Iterator[tuple[int, ...]]:
        """Sets of positions, of which those in equal states count as one and the same."""
        alike: dict[State, list[int]] = {}
        for position, state in enumerate(states):
            alike.setdefault(state, []).append(position)
        yield from _picks(list(alike.values()), size)

    def _repeat(self, states: list[State]) -> list[Any] | None:
        if not self.shape.repeated:
            return self._fill(states)
        for first, second in combinations(range(len(states)), 2):
            self.solver.budget.spend(_STEPS_A_PLACE)
            both = states[first] | states[second]
            answer = self.solver.solve(both)
            if answer.found is None:
                self.reason = self.reason or answer.reason
            if answer.found:
                value = self._fill([s for i, s in enumerate(states) if i not in (first, second)])
                if value is not None:
                    value.insert(first, answer.value)
                    value.insert(second, answer.value)
                    return value
        return None

    def _fill(self, states: list[State]) -> list[Any] | None:
        if self.shape.distinct and len(states) > 1:
            return self._distinct(states)
        values: list[Any] = []
        for state in states:
            answer = self.solver.solve(state)
            if not answer.found:
                self.reason = self.reason or answer.reason
                return None
            values.append(answer.value)
        return values

    def _distinct(self, states: list[State]) -> list[Any] | None:
        """Values that differ pairwise: enough candidates for each position, then a matching."""
        if len(states) > _MAX_DISTINCT:
            self.reason = self.reason or "payload-too-large"
            return None
        known: dict[State, list[tuple[Node, Any]]] = {}
        for state in states:
            if state not in known:
                known[state] = self._values(state, len(states))
        owner: dict[Node, int] = {}

        def seat(position: int, visited: set[Node]) -> bool:
            for node, _ in known[states[position]]:
                if node not in visited:
                    visited.add(node)
                    if node not in owner or seat(owner[node], visited):
                        owner[node] = position
                        return True
            return False

        if not all(seat(position, set()) for position in range(len(states))):
            return None
        by_position = {position: node for node, position in owner.items()}
        return [
            next(value for node, value in known[state] if node is by_position[position])
            for position, state in enumerate(states)
        ]

    def _values(self, state: State, count: int) -> list[tuple[Node, Any]]:
        """Up to ``count`` different values of a state, each with its constant's node."""
        found: list[tuple[Node, Any]] = []
        while len(found) < count:
            answer = self.solver.solve(state)
            if not answer.found:
                if answer.found is None:
                    self.reason = self.reason or answer.reason
                break
            self.solver.budget.spend(_STEPS_A_PLACE + len(found))
            node = one_of_values(self.solver.forest, [answer.value])
            found.append((node, answer.value))
            state = state | {node.id * 4 + DENIED}
        return found


def _item(node: Node, position: int) -> Node:
    prefix: tuple[Node, ...] = node.args[0]
    found: Node = prefix[position] if position < len(prefix) else node.args[1]
    return found


def _picks(groups: list[list[int]], size: int) -> Iterator[tuple[int, ...]]:
    """``size`` positions, so many from each group and always its first ones."""
    if not groups:
        if not size:
            yield ()
        return
    first, others = groups[0], groups[1:]
    room = sum(map(len, others))
    for count in range(min(size, len(first)), max(size - room, 0) - 1, -1):
        for rest in _picks(others, size - count):
            yield (*first[:count], *rest)
