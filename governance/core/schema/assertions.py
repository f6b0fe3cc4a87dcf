"""The keywords that hold no schema: types, constants, bounds, lengths, patterns, formats."""

from __future__ import annotations

from typing import Any, Final

from governance.core.schema import kinds as n
from governance.core.schema.constants import one_of_values
from governance.core.schema.dialects import Dialect
from governance.core.schema.exact import NumberTooLarge, exact, spelled, whole
from governance.core.schema.formats import is_asserted
from governance.core.schema.kinds import Kind
from governance.core.schema.nodes import Forest, Node

_TYPE_MASKS: Final = {
    "null": n.NULL,
    "boolean": n.BOOLEAN,
    "number": n.NUMBER,
    "integer": n.NUMBER,
    "string": n.STRING,
    "array": n.ARRAY,
    "object": n.OBJECT,
}
_COUNTS: Final = {
    "minLength": Kind.MINLENGTH,
    "maxLength": Kind.MAXLENGTH,
    "minItems": Kind.MINITEMS,
    "maxItems": Kind.MAXITEMS,
    "minProperties": Kind.MINPROPS,
    "maxProperties": Kind.MAXPROPS,
}
_MINIMA: Final = {Kind.MINLENGTH, Kind.MINITEMS, Kind.MINPROPS}
_OF_NUMBERS: Final = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"))


def assertions(forest: Forest, schema: dict[str, Any], dialect: Dialect, *, assert_formats: bool) -> list[Node]:
    """The conjuncts of one schema object that look at no part of a value with another schema."""
    parts: list[Node] = []
    if "type" in schema:
        parts.extend(_types(forest, schema["type"]))
    if "enum" in schema:
        parts.append(one_of_values(forest, schema["enum"]))
    if "const" in schema and dialect.draft >= 6:
        parts.append(one_of_values(forest, [schema["const"]]))
    if not _OF_NUMBERS.isdisjoint(schema):
        parts.extend(_numbers(forest, schema, dialect.draft))
    for keyword, kind in _COUNTS.items():
        if keyword in schema and not (kind in _MINIMA and schema[keyword] <= 0):
            parts.append(_count(forest, kind, schema[keyword]))
    if "pattern" in schema:
        parts.append(forest.literal(Kind.PATTERN, schema["pattern"]))
    if assert_formats and isinstance(schema.get("format"), str) and is_asserted(schema["format"]):
        parts.append(forest.literal(Kind.FORMAT, schema["format"]))
    return parts


def _types(forest: Forest, declared: Any) -> list[Node]:
    names = [declared] if isinstance(declared, str) else list(declared)
    mask = 0
    for name in names:
        mask |= _TYPE_MASKS[name]
    parts = [forest.types(mask)]
    if "integer" in names and "number" not in names:
        parts.append(forest.literal(Kind.MULTIPLE, exact(1)))
    return parts


def _numbers(forest: Forest, schema: dict[str, Any], draft: int) -> list[Node]:
    parts: list[Node] = []
    for keyword, kind in (("minimum", Kind.MINIMUM), ("maximum", Kind.MAXIMUM)):
        exclusive = "exclusive" + keyword.capitalize()
        if draft == 4:
            if keyword in schema:
                parts.append(_number(forest, kind, schema[keyword], schema.get(exclusive) is True))
            continue
        if keyword in schema:
            parts.append(_number(forest, kind, schema[keyword], False))
        if exclusive in schema:
            parts.append(_number(forest, kind, schema[exclusive], True))
    if "multipleOf" in schema:
        parts.append(_number(forest, Kind.MULTIPLE, schema["multipleOf"]))
    return parts


def _number(forest: Forest, kind: Kind, value: Any, *rest: Any) -> Node:
    try:
        return forest.literal(kind, exact(value), *rest)
    except NumberTooLarge:
        return forest.opaque("number-too-large", (kind, spelled(value), rest))


def _count(forest: Forest, kind: Kind, value: Any) -> Node:
    try:
        return forest.literal(kind, whole(value))
    except NumberTooLarge:
        return forest.opaque("number-too-large", (kind, spelled(value)))
