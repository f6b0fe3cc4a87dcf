"""Which parts of a schema object are schemas themselves."""

from __future__ import annotations

from typing import Any, Final

from governance.core.canonical import escape
from governance.core.schema.dialects import Dialect

_MAPS: Final = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
_SINGLES: Final = frozenset((
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
))  # fmt: skip


def subschemas(schema: dict[str, Any], dialect: Dialect) -> list[tuple[str, Any]]:
    """The direct subschemas of ``schema`` with their relative pointers, definitions included."""
    found: list[tuple[str, Any]] = []
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if keyword in _MAPS:
                found.extend(
                    [
                        (f"/{keyword}/{escape(name)}", child)
                        for name, child in value.items()
                        if isinstance(child, dict | bool)
                    ]
                )
            elif keyword in _SINGLES:
                found.append((f"/{keyword}", value))
        elif isinstance(value, list):
            if keyword in _LISTS:
                found.extend(
                    [
                        (f"/{keyword}/{index}", child)
                        for index, child in enumerate(value)
                        if isinstance(child, dict | bool)
                    ]
                )
        elif isinstance(value, bool) and keyword in _SINGLES:
            found.append((f"/{keyword}", value))
    return found
