"""The engine's bare answer to one question, and independent judges of it."""

from __future__ import annotations

import random
from typing import Any, Final

import jsonschema

from governance.core.compat.model import Reading, Side
from governance.core.compat.question import Question
from governance.core.schema.answers import Answer
from governance.core.schema.budget import Budget
from governance.core.schema.dialects import dialect_of
from governance.core.schema.load import schema_faults

STEPS: Final = 90_000
_SCALARS = (0, 1, 2, -1, 0.5, 1.5, 3, 10, "", "a", "b", "ab", "aa", "c", "\n", True, False, None)
_SECOND: Final[dict[int, Any]] = {
    4: jsonschema.Draft4Validator,
    6: jsonschema.Draft6Validator,
    7: jsonschema.Draft7Validator,
    2019: jsonschema.Draft201909Validator,
    2020: jsonschema.Draft202012Validator,
}


def question(old: Any, new: Any, side: Side = Side.INPUT, reading: Reading = Reading.STRICT) -> Question:
    budget = Budget(STEPS)
    return Question(old, new, side=side, reading=reading, assert_formats=False, budget=budget)


def separating(old: Any, new: Any, side: Side = Side.INPUT, reading: Reading = Reading.STRICT) -> Answer:
    """A value that the sender may send and the receiver refuses; literal containment by default."""
    return question(old, new, side, reading).ask()


def contained(old: Any, new: Any) -> bool | None:
    """Is every value of ``old`` one of ``new``, both as written? None when undecided."""
    found = separating(old, new).found
    return None if found is None else not found


def valid(*schemas: Any) -> bool:
    return not any(schema_faults(schema) for schema in schemas)


def judge(schema: Any) -> Any:
    """The independent validator for ``schema``, with ``is_valid``."""
    dialect = dialect_of(schema)
    assert dialect is not None
    return dialect.validator(schema, offline=True)


def second_judge(schema: Any) -> Any:
    """Another validator, of another family."""
    dialect = dialect_of(schema)
    assert dialect is not None
    return _SECOND[dialect.draft](schema)


def _value(source: random.Random, depth: int) -> Any:
    kind = source.random()
    if not depth or kind < 0.4:
        return source.choice(_SCALARS)
    if kind < 0.65:
        return [_value(source, depth - 1) for _ in range(source.randint(0, 3))]
    return {source.choice(("a", "b", "c", "aa")): _value(source, depth - 1) for _ in range(source.randint(0, 3))}


def _pool() -> tuple[Any, ...]:
    source = random.Random(20)
    return (*_SCALARS, [], {}, *(_value(source, 3) for _ in range(600)))


VALUES: Final = _pool()
"""A dense set of small values over the names and scalars that generated schemas speak of."""
