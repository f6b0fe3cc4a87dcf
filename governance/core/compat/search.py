"""When the solver cannot decide: try payloads that somebody wrote down, and small variations of what is sent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from governance.core.compat.model import JSON, Witness
from governance.core.compat.question import Question
from governance.core.schema.budget import BudgetExceeded
from governance.core.schema.constants import one_of_values

MAX_CANDIDATES: Final = 64
_SAMPLE_KEYWORDS: Final = ("x-example", "const", "default")
_PLAIN: Final[tuple[Any, ...]] = ("", "a", "aa", "ab", "a1", "A", "-", " ", "0", 0, 1, -1, 0.5, True, None, [], {})


def searched(question: Question) -> Witness | None:
    """The first candidate that is really sent under the reading in force and really refused."""
    try:
        return _found(question)
    except BudgetExceeded:
        return None


def _found(question: Question) -> Witness | None:
    for payload in islice(_candidates(question), MAX_CANDIDATES):
        if question.receiver_judge.accepts(payload) is not False or not _is_sent(question, payload):
            continue
        if (witness := question.witness(payload)) is not None:
            return witness
    return None


def _is_sent(question: Question, payload: JSON) -> bool:
    """Does the reading allow it? Where even that is undecided, no."""
    return question.sends([one_of_values(question.forest, [payload])]).found is True


def _candidates(question: Question) -> Iterator[JSON]:
    schema = question.sender
    yield from _samples(schema)
    if not isinstance(schema, dict):
        return
    sent = question.sends()
    base = sent.value if sent.found and isinstance(sent.value, dict) else {}
    if sent.found:
        yield sent.value
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, child in properties.items():
            for value in (*_samples(child), *_PLAIN):
                yield {**base, name: value}


def _samples(schema: Any) -> Iterator[JSON]:
    """Values that the author of a schema wrote beside it."""
    if not isinstance(schema, dict):
        return
    for keyword in ("examples", "enum"):
        if isinstance(schema.get(keyword), list):
            yield from schema[keyword]
    for keyword in _SAMPLE_KEYWORDS:
        if keyword in schema:
            yield schema[keyword]
