"""Which parts of a schema object are schemas themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.schema.dialects import Dialect

_NEVER: Final = 9999
_MAPS: Final = {
    "properties": 4, "patternProperties": 4, "definitions": 4, "$defs": 4, "dependencies": 4, "dependentSchemas": 2019,
}  # fmt: skip
_LISTS: Final = {"allOf": 4, "anyOf": 4, "oneOf": 4, "items": 4, "prefixItems": 2020}
_SINGLES: Final = {
    "items": 4, "not": 4, "additionalItems": 4, "additionalProperties": 4, "contains": 6, "propertyNames": 6,
    "if": 7, "then": 7, "else": 7, "unevaluatedItems": 2019, "unevaluatedProperties": 2019,
}  # fmt: skip
"""Keyword to the draft that brought it: to an older one it is unknown and may hold anything. ``$defs`` holds schemas
in documents of every age."""


def subschemas(schema: dict[str, Any], dialect: Dialect) -> list[tuple[str, Any]]:
    """The direct subschemas of ``schema`` with their relative pointers, definitions included."""
    found: list[tuple[str, Any]] = []
    draft = dialect.draft
    for keyword, value in schema.items():
        if isinstance(value, dict):
            if _MAPS.get(keyword, _NEVER) <= draft:
                found.extend(
                    [
                        (f"/{keyword}/{escape(name)}", child)
                        for name, child in value.items()
                        if isinstance(child, dict | bool)
                    ]
                )
            elif _SINGLES.get(keyword, _NEVER) <= draft:
                found.append((f"/{keyword}", value))
        elif isinstance(value, list):
            if _LISTS.get(keyword, _NEVER) <= draft:
                found.extend(
                    [
                        (f"/{keyword}/{index}", child)
                        for index, child in enumerate(value)
                        if isinstance(child, dict | bool)
                    ]
                )
        elif isinstance(value, bool) and _SINGLES.get(keyword, _NEVER) <= draft:
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
