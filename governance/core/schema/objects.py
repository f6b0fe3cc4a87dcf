"""Objects: the space of property names split into named ones and classes of the rest, a state for each.

A denied PROPS literal is a demand: some property violates it. Demands are placed one after the other on a
named property or on a fresh name of some class; what survives is the recipe of the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from governance.core.schema import kinds as n
from governance.core.schema.answers import ASKED, DENIED, FORCED, NOTHING, SENT, Answer, State
from governance.core.schema.apart import finite_set
from governance.core.schema.kinds import Kind, Mode
from governance.core.schema.nodes import Node
from governance.core.schema.object_shape import ObjectShape, object_shape
from governance.core.schema.regex import UnsupportedPattern, compile_pattern, matches

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver

_MAX_FILLERS: Final = 400
_STEPS_A_PLACE: Final = 4


class Undecided(Exception):
    """Carries the reason code out of a look-up deep inside."""


@dataclass(frozen=True)
class _Fresh:
    """A property under a name nobody mentions: what its name and its value must satisfy."""

    name: State
    value: State


def find_object(solver: Solver, literals: list[int], state: State) -> Answer:
    """A small object that meets the literals; ``state`` is the whole position, to see what its sender wrote."""
    solver.budget.spend(2 * len(literals))
    shape = object_shape(solver, literals)
    if shape.most is not None and shape.most < shape.fewest:
        return NOTHING
    if any(name in shape.absent for name in shape.required):
        return NOTHING
    try:
        answer = ObjectSearch(solver, shape).run()
        demanding = shape.fewest or shape.denied or shape.names or shape.denied_names
        if answer.found or not shape.closed or shape.forced or not demanding:
            return answer
        # A closing that leaves its sender no value at all is undone; where a value was found it left one.
        sender = frozenset(item for item in state if item < 0 or item & 3 == SENT)
        if solver.solve(sender | {FORCED}).found is not False:
            return answer
        shape.closed = False
        return ObjectSearch(solver, shape).run()
    except Undecided as undecided:
        return Answer(None, None, str(undecided))


class ObjectSearch:
    def __init__(self, solver: Solver, shape: ObjectShape) -> None:
        self.solver = solver
        self.shape = shape
        self.reason: str | None = None
        mentioned: dict[str, Any] = dict(shape.required)
        for node in (*(node for node, _ in shape.asked), *shape.denied):
            mentioned.update(solver.props_map(node))
        mentioned.update(dict.fromkeys(sorted(shape.absent)))
        self.keys = tuple(mentioned)
        self._states: dict[str, State] = {}
        self._possible: dict[str, bool] = {}
        self._pins: dict[str, frozenset[Any] | None] = {}
        solver.budget.spend(_STEPS_A_PLACE + len(self.keys))

    # What stands at a named property.

    def run(self) -> Answer:
        for name in self.shape.required:
            if not self.possible(name):
                return NOTHING
            if self._settled(self.state_of(name)) is False:
                return NOTHING
        demands: list[tuple[Node, bool]] = [(node, False) for node in self.shape.denied if not self._met(node)]
        demands += [(node, True) for node in self.shape.denied_names]
        answer = self._place(demands, 0, {}, ())
        if answer is not None:
            return answer
        return Answer(None, None, self.reason) if self.reason else NOTHING

    def possible(self, name: str) -> bool:
        """May the property be there at all, its value aside?"""
        known = self._possible.get(name)
        if known is None:
            known = self._possible[name] = self._is_possible(name)
        return known

    def _is_possible(self, name: str) -> bool:
        if name in self.shape.absent or (self.shape.closed and not self._declared(name)):
            return False
        if not self.shape.names:
            return True
        within = self.solver.name_within(name, self.shape.names)
        if within is None:
            raise Undecided("property-names")
        return within

    def _declared(self, name: str) -> bool:
        if name in self.shape.told:
            return True
        for node, sign in self.shape.asked:
            if sign == SENT and node.args[3] is not Mode.SILENT:
                if name in self.solver.props_map(node) or any(self._fits(p, name) for p, _ in node.args[1]):
                    return True
                if self._declares_rest(node):
                    return True
        return False

    def _declares_rest(self, node: Node) -> bool:
        rest = node.args[2]
        return rest is not self.solver.forest.true and rest is not self.solver.forest.false

    def _fits(self, pattern: str, name: str) -> bool:
        try:
            return matches(compile_pattern(pattern), name, self.solver.budget)
        except UnsupportedPattern as error:
            raise Undecided(f"regex-{error.reason}") from None

    def applicable(self, props: Node, name: str) -> list[Node]:
        """The nodes that one PROPS literal puts on the value under ``name``."""
        found = [child for pattern, child in props.args[1] if self._fits(pattern, name)]
        own = self.solver.props_map(props).get(name)
        if own is not None:
            found.append(own)
        return found or [props.args[2]]

    def state_of(self, name: str) -> State:
        known = self._states.get(name)
        if known is None:
            true = self.solver.forest.true
            known = self._states[name] = frozenset(
                child.id * 4 + sign
                for node, sign in self.shape.asked
                for child in self.applicable(node, name)
                if child is not true
            )
        return known

    def _settled(self, state: State) -> bool | None:
        answer = self.solver.solve(state)
        if answer.found is None:
            self.reason = self.reason or answer.reason
        return answer.found

    def _met(self, props: Node) -> bool:
        """Does a required property violate the literal whatever its value? Then it demands nothing more."""
        for name in self.shape.required:
            self.solver.budget.spend()
            state = self.state_of(name)
            for child in self.applicable(props, name):
                if not child.can_fail or child.id * 4 in state or child.id * 4 + SENT in state:
                    continue
                pinned, wanted = self._pinned(name), finite_set(child)
                if pinned is not None and wanted is not None and pinned.isdisjoint(wanted):
                    return True
                if self.solver.solve(state | {child.id * 4 + ASKED}).found is False:
                    return True
        return False

    def _pinned(self, name: str) -> frozenset[Any] | None:
        """The finite set that what is asked under ``name`` lies in, if one is plain to see."""
        if name not in self._pins:
            asked = [item for item in self.state_of(name) if item >= 0 and item & 3 != DENIED]
            sets = [found for item in asked if (found := finite_set(self.solver.forest.by_id[item >> 2])) is not None]
            self._pins[name] = frozenset.intersection(*sets) if sets else None
        return self._pins[name]

    # Placing the demands.

    def _place(
        self,
        demands: list[tuple[Node, bool]],
        index: int,
        named: dict[str, State],
        fresh: tuple[_Fresh, ...],
    ) -> Answer | None:
        """An answer with a value, or None when no placement works (``self.reason`` says if one might)."""
        self.solver.budget.spend(_STEPS_A_PLACE)
        if index == len(demands):
            return self._finish(named, fresh)
        node, on_names = demands[index]
        for name, extra in self._named_places(node, on_names):
            state = named.get(name, self.state_of(name))
            if extra is not None:
                state = state | {extra}
            if self._settled(state) and (answer := self._place(demands, index + 1, named | {name: state}, fresh)):
                return answer
        for place in self._fresh_places(node, on_names):
            if answer := self._place(demands, index + 1, named, (*fresh, place)):
                return answer
            if self.shape.most is not None or self.shape.names or place.name:
                for position, other in enumerate(fresh):
                    joined = _Fresh(other.name | place.name, other.value | place.value)
                    merged = (*fresh[:position], joined, *fresh[position + 1 :])
                    if self._settled(joined.value) and (answer := self._place(demands, index + 1, named, merged)):
                        return answer
        return None

    def _named_places(self, node: Node, on_names: bool) -> Iterator[tuple[str, int | None]]:
        keys: Iterable[str] = self.keys
        if not on_names and not node.args[1] and not node.args[2].can_fail:
            keys = self.solver.props_map(node)
        for name in keys:
            self.solver.budget.spend()
            if on_names:
                within = self.solver.name_within(name, (node.id * 4 + DENIED,))
                if within is None:
                    raise Undecided("property-names")
                if within and self.possible(name):
                    yield name, None
                continue
            for child in self.applicable(node, name):
                if child.can_fail and not self._asked_as_is(child, name):
                    asked = child.id * 4
                    state = self.state_of(name)
                    if asked not in state and asked + SENT not in state and self.possible(name):
                        yield name, asked + DENIED

    def _asked_as_is(self, child: Node, name: str) -> bool:
        """Is the very node asked under the name? As in most fields of two versions."""
        return any(self.solver.props_map(props).get(name) is child for props, _ in self.shape.asked)

    def _fresh_places(self, node: Node, on_names: bool) -> Iterator[_Fresh]:
        if self.shape.closed and not self._open_to_fresh():
            return
        names = frozenset(self.shape.names)
        if on_names:
            yield from self._classes(names | {node.id * 4 + DENIED}, frozenset())
            return
        _, patterns, rest, _ = node.args
        for pattern, child in patterns:
            if child.can_fail:
                yield from self._classes(names | {self._pattern(pattern) + ASKED}, frozenset((child.id * 4 + DENIED,)))
        if rest.can_fail:
            outside = frozenset(self._pattern(pattern) + DENIED for pattern, _ in patterns)
            yield from self._classes(names | outside, frozenset((rest.id * 4 + DENIED,)))

    def _open_to_fresh(self) -> bool:
        """Is a closed sender told of any name beyond the mentioned ones?"""
        return any(
            sign == SENT and node.args[3] is not Mode.SILENT and (node.args[1] or self._declares_rest(node))
            for node, sign in self.shape.asked
        )

    def _pattern(self, pattern: str) -> int:
        return self.solver.forest.literal(Kind.PATTERN, pattern).id * 4

    def _classes(self, name: State, value: State) -> Iterator[_Fresh]:
        """The classes of unmentioned names within ``name``, each with what the asked literals add to its value."""
        self.solver.budget.spend(1 + sum(len(node.args[1]) for node, _ in self.shape.asked))
        # What a pattern asks of the very names in question is asked in every class of them.
        forced = frozenset(
            child.id * 4 + sign
            for node, sign in self.shape.asked
            for pattern, child in node.args[1]
            if self._pattern(pattern) + ASKED in name
        )
        if self.solver.solve(value | forced).found is False:
            return
        yield from self._split(list(self.shape.asked), 0, name, value, not self.shape.closed)

    def _split(
        self, asked: list[tuple[Node, int]], index: int, name: State, value: State, declared: bool
    ) -> Iterator[_Fresh]:
        self.solver.budget.spend(_STEPS_A_PLACE)
        if index == len(asked):
            if declared and self._settled(value):
                yield _Fresh(name, value)
            return
        node, sign = asked[index]
        tells = sign == SENT and node.args[3] is not Mode.SILENT
        true = self.solver.forest.true
        for matched, narrowed in self._signatures(node.args[1], 0, name):
            children = matched or (node.args[2],)
            added = frozenset(child.id * 4 + sign for child in children if child is not true)
            told = declared or (tells and (bool(matched) or self._declares_rest(node)))
            yield from self._split(asked, index + 1, narrowed, value | added, told)

    def _signatures(
        self, patterns: tuple[tuple[str, Node], ...], index: int, name: State
    ) -> Iterator[tuple[tuple[Node, ...], State]]:
        """Which of the patterns a name may match together, with the name state that says so."""
        if index == len(patterns):
            yield (), name
            return
        pattern, child = patterns[index]
        for sign in (ASKED, DENIED):
            narrowed = name | {self._pattern(pattern) + sign}
            if narrowed != name and not self._some_name(narrowed):
                continue
            for matched, state in self._signatures(patterns, index + 1, narrowed):
                yield ((child, *matched) if sign == ASKED else matched), state

    def _some_name(self, name: State) -> bool:
        return self._a_name(name, ()) is not None

    def _a_name(self, name: State, taken: tuple[str, ...]) -> str | None:
        """A name that nobody mentions, other than those taken."""
        if not name:
            return self._any_name(taken)
        used = self.solver.forest.enum((n.STRING, other) for other in (*self.keys, *taken))
        conditions = name | {used.id * 4 + DENIED} if used is not self.solver.forest.false else name
        answer = self.solver.solve_type(n.STRING, conditions)
        if answer.found is None:
            raise Undecided(answer.reason or "property-names")
        return answer.value if answer.found else None

    def _any_name(self, taken: tuple[str, ...]) -> str:
        self.solver.budget.spend(1 + len(taken) // 16)
        used = {*self.keys, *taken}
        return next(name for number in count(len(taken)) if (name := _letters(number)) not in used)

    # Putting the object together.

    def _finish(self, named: dict[str, State], fresh: tuple[_Fresh, ...]) -> Answer | None:
        shape = self.shape
        present = {name: named.get(name, self.state_of(name)) for name in shape.required} | named
        if shape.most is not None and len(present) + len(fresh) > shape.most:
            return None
        taken: list[str] = []
        members: list[tuple[str, State]] = []
        for place in fresh:
            chosen = self._a_name(place.name, tuple(taken))
            if chosen is None:
                return None
            taken.append(chosen)
            members.append((chosen, place.value))
        missing = shape.fewest - len(present) - len(members)
        if missing > 0:
            extra = self._fillers(missing, present, taken)
            if extra is None:
                return None
            members.extend(extra)
        result: dict[str, Any] = {}
        for name, state in (*present.items(), *members):
            answer = self.solver.solve(state)
            if not answer.found:
                self.reason = self.reason or answer.reason
                return None
            result[name] = answer.value
        ordered = {name: result[name] for name in self.keys if name in result}
        return Answer(True, ordered | result)

    def _fillers(self, missing: int, present: dict[str, State], taken: list[str]) -> list[tuple[str, State]] | None:
        """``missing`` more properties that nothing forbids, or None."""
        found: list[tuple[str, State]] = []
        for name in self.keys:
            if len(found) == missing:
                return found
            if name not in present and self.possible(name) and self._settled(self.state_of(name)):
                found.append((name, self.state_of(name)))
        if self.shape.closed and not self._open_to_fresh():
            return found if len(found) == missing else None
        taken = list(taken)
        for place in self._classes(frozenset(self.shape.names), frozenset()):
            while len(found) < missing:
                if len(found) > _MAX_FILLERS:
                    self.reason = self.reason or "payload-too-large"
                    return None
                filler = self._a_name(place.name, tuple(taken))
                if filler is None:
                    break
                taken.append(filler)
                found.append((filler, place.value))
        return found if len(found) == missing else None


def _letters(number: int) -> str:
    """a, b, … z, aa, ab, …"""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(97 + digit) + text
    return text
