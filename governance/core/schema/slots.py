"""A field or an item by itself: what is asked of it alone, where nothing else in its object or array hangs on it.

There a question about the part is the question about the whole, and a value of the part, put in its place in any
whole that meets the rest, answers both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance.core.schema import kinds as n
from governance.core.schema.answers import State
from governance.core.schema.arrays import ArraySearch, array_shape
from governance.core.schema.object_shape import object_shape
from governance.core.schema.objects import ObjectSearch, Undecided

if TYPE_CHECKING:
    from governance.core.schema.solver import Solver

_MAX_ITEMS: Final = 64


class Slot(NamedTuple):
    """What is asked of one part, and a whole that it may be put into."""

    state: State
    key: str | int
    whole: Any

    def filled(self, value: Any) -> Any:
        """The whole with ``value`` as the part."""
        if isinstance(self.key, str):
            return {**self.whole, self.key: value}
        return [*self.whole[: self.key], value, *self.whole[self.key + 1 :]]


class Slots:
    """The parts of one state. ``None`` for a part says nothing: it has to be asked about within the whole."""

    def __init__(self, solver: Solver, state: State) -> None:
        self._solver = solver
        self._state = state
        self._object: tuple[ObjectSearch, dict[str, Any]] | None = None
        self._array: ArraySearch | None = None
        self._opened: set[int] = set()

    def field(self, name: str) -> Slot | None:
        """The value under ``name`` of an object.

        Raises:
            BudgetExceeded, RecursionError: the solver gave up.
        """
        if n.OBJECT not in self._opened:
            self._opened.add(n.OBJECT)
            self._object = self._open_object()
        if self._object is None:
            return None
        search, example = self._object
        most = search.shape.most
        if most is not None and name not in example and len(example) >= most:
            return None
        try:
            return Slot(search.state_of(name), name, example) if search.possible(name) else None
        except Undecided:
            return None

    def item(self, position: int, *, alike: bool) -> Slot | None:
        """The item of an array at ``position``; ``alike``: it stands for every one from there on.

        Raises:
            BudgetExceeded, RecursionError: the solver gave up.
        """
        if n.ARRAY not in self._opened:
            self._opened.add(n.ARRAY)
            self._array = self._open_array()
        search = self._array
        if search is None or (alike and search.explicit > position):
            return None
        shape = search.shape
        length = max(shape.shortest, position + 1)
        if length > min(_MAX_ITEMS, length if shape.longest is None else shape.longest):
            return None
        if shape.distinct and length > 1:
            return None
        whole = []
        for place in range(length):
            answer = self._solver.solve(search.state_at(place))
            if not answer.found:
                return None
            whole.append(answer.value)
        return Slot(search.state_at(position), position, whole)

    def _open_object(self) -> tuple[ObjectSearch, dict[str, Any]] | None:
        literals = self._solver.plain(n.OBJECT, self._state)
        if literals is None:
            return None
        shape = object_shape(self._solver, literals)
        if shape.denied or shape.denied_names:
            return None
        example = self._solver.solve_type(n.OBJECT, self._state)
        return (ObjectSearch(self._solver, shape), example.value) if example.found else None

    def _open_array(self) -> ArraySearch | None:
        literals = self._solver.plain(n.ARRAY, self._state)
        if literals is None:
            return None
        shape = array_shape(self._solver, literals)
        if shape.denied or shape.repeated or shape.counts or shape.either:
            return None
        return ArraySearch(self._solver, shape, [])
