"""JSON Schemas by themselves, where somebody forgot to say which side of a skill they are."""

from __future__ import annotations

from typing import Any, Final

_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")
_KEYS: Final = ("$schema", "$ref", "properties", "required", "items", "enum", "anyOf", "oneOf", "allOf")


def is_bare_schema(value: Any) -> bool:
    """Does it look like a JSON Schema rather than like a skill?"""
    if not isinstance(value, dict) or "name" in value:
        return False
    return value.get("type") in _TYPES or isinstance(value.get("type"), list) or any(key in value for key in _KEYS)
