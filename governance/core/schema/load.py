"""Is this a schema at all? Caps, dialect, metaschema and references, each fault with its pointer."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from governance.core.canonical import escape
from governance.core.schema.budget import Budget
from governance.core.schema.dialects import dialect_of
from governance.core.schema.metaschema import metaschema_faults
from governance.errors import Fault

_Trail: TypeAlias = "tuple[_Trail, str | int] | None"

MAX_DEPTH: Final = 96
"""The independent validator gives up between 120 and 200 levels; a schema it cannot judge is no contract."""
MAX_NODES: Final = 200_000
MAX_ADDRESSES: Final = 50_000_000
"""Characters of the pointers to all its places together: they grow with the square of a document of long names."""
_STEPS_A_PLACE: Final = 1
_VALUES_A_STEP: Final = 8
_INDEX: Final = 4
_ENOUGH: Final = 1 << 60


def schema_faults(schema: Any, budget: Budget | None = None) -> list[Fault]:
    """Everything that keeps ``schema`` from being one, most basic first; empty when it is a valid schema.

    Pointers are relative to the schema. Nothing is fetched: a reference that leaves the document is a fault.
    Without a ``budget`` the caps alone bound the work.

    Raises:
        BudgetExceeded: the budget did not last; nothing is known about the schema.
    """
    budget = budget or Budget(_ENOUGH)
    if not isinstance(schema, dict | bool):
        return [Fault(pointer="", message="a schema is an object or a boolean", code="schema-type")]
    if (too_large := _over_caps(schema, budget)) is not None:
        return [too_large]
    dialect = dialect_of(schema)
    if dialect is None:
        named = schema.get("$schema") if isinstance(schema, dict) else None
        message = f"nobody knows the dialect {str(named)[:80]!r}; drafts 4, 6, 7, 2019-09 and 2020-12 are read"
        return [Fault(pointer="/$schema", message=message, code="schema-dialect")]
    if dialect.draft == 4 and isinstance(schema, bool):
        return [Fault(pointer="", message="draft 4 has no boolean schemas", code="schema-type")]
    if faults := metaschema_faults(schema, dialect):
        return faults
    from governance.core.schema.reference_faults import reference_faults  # the lowering knows what a reference is

    return reference_faults(schema, dialect, budget)


def accepts_only_objects(schema: Any) -> bool:
    """Is it proved that ``schema`` accepts nothing but objects? Expects a schema without faults."""
    from governance.core.schema.objecthood import only_objects

    return only_objects(schema)


def _over_caps(schema: Any, budget: Budget) -> Fault | None:
    """The first cap that the document breaks; walks without recursion, so any depth is safe."""
    nodes, addresses = 1, 0
    stack: list[tuple[Any, int, int, _Trail]] = [(schema, 0, 0, None)] if isinstance(schema, dict) else []
    while stack:
        node, depth, address, trail = stack.pop()
        budget.spend(_STEPS_A_PLACE + len(node) // _VALUES_A_STEP)
        nodes += len(node)
        addresses += address * (len(node) + 1)
        if depth >= MAX_DEPTH and node:
            return Fault(pointer=_pointer(trail), message=f"nests deeper than {MAX_DEPTH} levels", code="schema-depth")
        if nodes > MAX_NODES:
            return Fault(pointer="", message=f"has more than {MAX_NODES} nodes", code="schema-size")
        if addresses > MAX_ADDRESSES:
            message = f"its names are too long to write down where each place is ({MAX_ADDRESSES} characters)"
            return Fault(pointer="", message=message, code="schema-size")
        stack.extend(
            [
                (child, depth + 1, address + (len(key) + 1 if isinstance(key, str) else _INDEX), (trail, key))
                for key, child in (node.items() if isinstance(node, dict) else enumerate(node))
                if isinstance(child, dict | list)
            ]
        )
    return None


def _pointer(trail: _Trail) -> str:
    tokens: list[str] = []
    while trail is not None:
        trail, token = trail
        tokens.append(f"/{escape(str(token))}")
    return "".join(reversed(tokens))
