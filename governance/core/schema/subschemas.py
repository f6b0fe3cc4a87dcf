"""Which parts of a schema object are schemas themselves."""

from __future__ import annotations

from collections.abc import Sequence
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


def subschema_at(schema: dict[str, Any], tokens: Sequence[str]) -> tuple[Any, int] | None:
    """The direct subschema that a pointer's unescaped ``tokens`` lead into, and how many of them that takes."""
    if not tokens or tokens[0] not in schema:
        return None
    keyword, value = tokens[0], schema[tokens[0]]
    if keyword in _MAPS and isinstance(value, dict) and len(tokens) > 1 and tokens[1] in value:
        child, used = value[tokens[1]], 2
    elif keyword in _LISTS and isinstance(value, list) and len(tokens) > 1 and is_index(tokens[1], value):
        child, used = value[int(tokens[1])], 2
    elif keyword in _SINGLES:
        child, used = value, 1
    else:
        return None
    return (child, used) if isinstance(child, dict | bool) else None


def is_index(token: str, values: Sequence[Any]) -> bool:
    """Does a pointer's token name one of ``values``?"""
    return token.isascii() and token.isdigit() and len(token) < 9 and int(token) < len(values)
