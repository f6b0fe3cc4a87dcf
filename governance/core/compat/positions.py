"""A position of what is sent that can be asked about by itself.

To ask every finding of the whole document costs its depth each time. Where nothing around a field or an item has a
say in what is sent there, the question is put there, and the payload is put together once, for the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from governance.core.compat.question import Question
from governance.core.schema.answers import ASKED, Answer, State, entry
from governance.core.schema.nodes import Node
from governance.core.schema.slots import Slot, Slots


class Position:
    """The root of what is sent, or a part of another position."""

    def __init__(
        self, question: Question, state: State, *, around: Position | None = None, slot: Slot | None = None
    ) -> None:
        self._question = question
        self._state = state
        self._around = around
        self._slot = slot
        self._slots: dict[State, Slots] = {}

    @staticmethod
    def root(question: Question) -> Position:
        return Position(question, question.base)

    def ask(self, denied: Node, also: Iterable[Node] = ()) -> Answer:
        """A value that is sent here, meets ``also`` and violates ``denied``."""
        return self._question.ask(denied, also, of=self._state)

    def payload(self, value: Any) -> Any:
        """A whole payload with ``value`` at this position."""
        if self._around is None or self._slot is None:
            return value
        return self._around.payload(self._slot.filled(value))

    def field(self, name: str, also: Iterable[Node] = ()) -> Position | None:
        """The field of the objects that meet ``also``, if it can be asked about by itself."""
        return self._part(also, lambda slots: slots.field(name))

    def item(self, index: int, also: Iterable[Node] = (), *, alike: bool) -> Position | None:
        """The item of the arrays that meet ``also``; ``alike``: it stands for every one from there on."""
        return self._part(also, lambda slots: slots.item(index, alike=alike))

    def _part(self, also: Iterable[Node], find: Callable[[Slots], Slot | None]) -> Position | None:
        state = self._state.union([entry(node, ASKED) for node in also])
        if state not in self._slots:
            self._slots[state] = Slots(self._question.solver, state)
        slot = self._question.solver.attempt(lambda: find(self._slots[state]))
        return None if slot is None else Position(self._question, slot.state, around=self, slot=slot)
