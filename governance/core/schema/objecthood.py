"""Does a schema accept objects alone? An input's arguments are named, so nothing else may pass."""

from __future__ import annotations

from typing import Any

from governance.core.schema import kinds as n
from governance.core.schema.answers import ASKED, entry
from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.dialects import dialect_of
from governance.core.schema.lower import Lowering
from governance.core.schema.nodes import Forest
from governance.core.schema.solver import Solver


def only_objects(schema: Any) -> bool:
    """Is it proved that a schema (without faults) accepts nothing but objects?"""
    if _says_so(schema):
        return True
    forest = Forest()
    try:
        node = Lowering(forest, schema).lower()
    except BudgetExceeded:
        return False
    if node.can_hold & ~n.OBJECT == 0:
        return True
    solver = Solver(forest, Budget(20_000))
    others = (n.NULL, n.BOOLEAN, n.NUMBER, n.STRING, n.ARRAY)
    try:
        asked = frozenset((entry(node, ASKED),))
        return all(solver.solve_type(other, asked).found is False for other in others)
    except BudgetExceeded:
        return False


def _says_so(schema: Any) -> bool:
    """Does it stand at the root in so many words, as almost always?"""
    if not isinstance(schema, dict) or schema.get("type") not in ("object", ["object"]):
        return False
    dialect = dialect_of(schema)
    return dialect is not None and not ("$ref" in schema and dialect.ref_hides_siblings)
