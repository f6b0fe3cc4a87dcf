"""Two schemas on one side as one question to the solver, under a reading."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from governance.core.compat.declared import tell_alike
from governance.core.compat.judge import Judge, confirmed
from governance.core.compat.model import JSON, Reading, Side, Witness
from governance.core.schema.answers import ASKED, DENIED, ROOT, SENT, Answer, State, entry
from governance.core.schema.budget import READING_STEPS, Budget, BudgetExceeded
from governance.core.schema.constants import none_of_values
from governance.core.schema.effort import values_in
from governance.core.schema.lower import Lowering
from governance.core.schema.nodes import Forest, Node
from governance.core.schema.solver import Solver

_MOST_REMEMBERED: Final = 200
"""Values in a payload."""


class Question:
    """Is every value the sender may send one the receiver takes?

    On the input side old callers send and the new version receives; on the output side the new version
    sends and old readers receive. The default reading closes the sender and, on outputs, opens the receiver
    (docs/compatibility.md); the strict one takes both as written. Raises BudgetExceeded where the two cannot even be
    read.
    """

    def __init__(
        self,
        old: JSON,
        new: JSON,
        *,
        side: Side,
        reading: Reading,
        assert_formats: bool,
        budget: Budget,
        secrets: Iterable[JSON] = (),
    ) -> None:
        """``secrets``: texts and numbers that no payload should hold which can do without."""
        self.side = side
        self.reading = reading
        self.assert_formats = assert_formats
        self.sender, self.receiver = (old, new) if side is Side.INPUT else (new, old)
        self._secrets = tuple(secrets)
        self.forest = Forest(budget.beside(READING_STEPS))
        self.solver = Solver(self.forest, budget)
        self.sender_lowering = Lowering(self.forest, self.sender, assert_formats=assert_formats)
        self.receiver_lowering = Lowering(
            self.forest,
            self.receiver,
            lifted=side is Side.OUTPUT and reading is Reading.DEFAULT,
            assert_formats=assert_formats,
        )
        self.sender_judge, self.receiver_judge = (
            Judge(lowering.document, assert_formats=assert_formats, references=lowering.references)
            for lowering in (self.sender_lowering, self.receiver_lowering)
        )
        self.sent = self.sender_lowering.lower()
        self.received = self.receiver_lowering.lower()
        self.explanation_budget = budget.remaining
        """As many steps again for the findings as the verdict may take."""
        self.base: State = frozenset((entry(self.sent, ASKED),))
        """What is sent, as a state."""
        self._confirmed: dict[str, Witness | None] = {}
        if reading is Reading.DEFAULT:
            self.base = frozenset((entry(self.sent, SENT), *([ROOT] if side is Side.INPUT else [])))

    @property
    def interrupted(self) -> bool:
        """Did whoever asks say that it took long enough?"""
        return self.solver.budget.interrupted or self.forest.budget.interrupted

    def ask(self, denied: Node | None = None, also: Iterable[Node] = (), *, of: State | None = None) -> Answer:
        """A value that is sent, meets ``also`` and violates ``denied`` (the whole receiver by default).

        ``of`` is what is asked of one position, in place of all that is sent.
        """
        node = self.received if denied is None else denied
        state = self.base if of is None else of
        items = (*state, entry(node, DENIED), *(entry(one, ASKED) for one in also))
        answer = self.solver.question(items)
        if self._secrets and answer.found and _holds_any(self._secrets, answer.value):
            discreet = self.solver.question((*items, entry(none_of_values(self.forest, self._secrets), ASKED)))
            answer = discreet if discreet.found else answer
        return Answer(None, None, "time") if answer.reason == "budget" and self.interrupted else answer

    def sends(self, also: Iterable[Node] = ()) -> Answer:
        """Any value that is sent and meets ``also``."""
        return self.solver.question((*self.base, *(entry(one, ASKED) for one in also)))

    def witness(self, payload: JSON) -> Witness | None:
        """The payload as a witness, if the independent validator confirms it against the schemas as written."""
        # The verdict's own payload is most often that of the first finding as well.
        key = _spelled(payload)
        if key is not None and key in self._confirmed:
            return self._confirmed[key]
        witness = self._judged(payload)
        if key is not None:
            self._confirmed[key] = witness
        return witness

    def _judged(self, payload: JSON) -> Witness | None:
        try:
            for judge in (self.sender_judge, self.receiver_judge):
                self.solver.budget.remaining -= judge.steps(payload)
            return confirmed(self.side, payload, sender=self.sender_judge, receiver=self.receiver_judge)
        except BudgetExceeded:
            return None

    def equivalent(self) -> bool:
        """Is it proved that both schemas hold the same values, as written and closed?"""
        strict = self.sent, self.received
        if self.receiver_lowering.lifted:
            try:
                strict = self.sent, self._as_written()
            except BudgetExceeded:
                return False
        if strict[0] is strict[1]:
            return True
        one, other = strict
        return tell_alike(self.forest, one, other) and all(
            self.solver.question((entry(left, ASKED), entry(right, DENIED))).found is False
            for left, right in ((one, other), (other, one))
        )

    def strictly(self) -> Answer:
        """The literal question: a value of the sender as written that the receiver as written refuses."""
        try:
            as_written = self._as_written()
        except BudgetExceeded:
            return Answer(None, None, self.forest.budget.reason)
        return self.solver.question((entry(self.sent, ASKED), entry(as_written, DENIED)))

    def _as_written(self) -> Node:
        return self.receiver_lowering.lower(lifted=False)


def _holds_any(values: tuple[JSON, ...], payload: JSON) -> bool:
    stack = [payload]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif not isinstance(node, bool) and node in values:
            return True
    return False


def _spelled(payload: JSON) -> str | None:
    """A small payload as text, in which ``1`` and ``true`` differ; None for one that is not worth it."""
    try:
        return repr(payload) if values_in(payload) <= _MOST_REMEMBERED else None
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return None
