"""The receiver's keywords in the order in which they are judged, one group at a time."""

from __future__ import annotations

from typing import Final

MASKING: Final[tuple[str, ...]] = ("type", "enum", "const")
"""First these, each of which masks the rest: a value of the wrong type has no length to complain of."""

SCALAR: Final[tuple[tuple[str, ...], ...]] = (
    ("minimum", "exclusiveMinimum"),
    ("maximum", "exclusiveMaximum"),
    ("multipleOf",),
    ("minLength",),
    ("maxLength",),
    ("pattern",),
    ("format",),
    ("minItems",),
    ("maxItems",),
    ("uniqueItems",),
    ("contains", "minContains", "maxContains"),
    ("minProperties",),
    ("maxProperties",),
    ("propertyNames",),
    ("not",),
    ("if", "then", "else"),
    ("dependentRequired",),
    ("dependentSchemas",),
    ("dependencies",),
)
"""Then, after fields and items, each of these groups."""

KIND: Final = {
    "dependentRequired": "dependent",
    "dependentSchemas": "dependent",
    "dependencies": "dependent",
    "minContains": "contains",
    "maxContains": "contains",
    "then": "if",
    "else": "if",
}
"""Keywords that are told as one kind; any other is its own."""
