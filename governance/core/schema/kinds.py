"""What nodes speak of: the six types of JSON values as masks, and the kinds of node."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = (1 << bit for bit in range(6))
ALL_TYPES: Final = (1 << 6) - 1
TYPE_NAMES: Final = {
    NULL: "null",
    BOOLEAN: "boolean",
    NUMBER: "number",
    STRING: "string",
    ARRAY: "array",
    OBJECT: "object",
}


class Kind(IntEnum):
    TRUE = 0
    FALSE = 1
    TYPES = 2
    """(mask,)"""
    ENUM = 3
    """(frozenset of scalar keys,): see :func:`scalar_key`; compound values are lowered structurally."""
    MINIMUM = 4
    """(Fraction, exclusive)"""
    MAXIMUM = 5
    """(Fraction, exclusive)"""
    MULTIPLE = 6
    """(Fraction > 0,): ``integer`` is MULTIPLE 1"""
    MINLENGTH = 7
    MAXLENGTH = 8
    PATTERN = 9
    """(pattern text,)"""
    FORMAT = 10
    """(name,), only where formats assert"""
    ITEMS = 11
    """(prefix nodes, rest node)"""
    MINITEMS = 12
    MAXITEMS = 13
    UNIQUE = 14
    CONTAINS = 15
    """(node, minimum, maximum or None)"""
    PROPS = 16
    """(names, patterns, rest, mode): sorted (name, node) pairs, sorted (pattern, node) pairs; see Mode."""
    REQUIRED = 17
    """(name,)"""
    MINPROPS = 18
    MAXPROPS = 19
    NAMES = 20
    """(node,): every property name satisfies the node"""
    AND = 21
    OR = 22
    ONEOF = 23
    NOT = 24
    REF = 25
    """(key,): looked up in ``Forest.targets``; only recursion makes one"""
    OPAQUE = 26
    """(reason code, identity): something that cannot be reasoned about"""


class Mode(IntEnum):
    """What a PROPS literal says about which names a sender was told of."""

    SILENT = 0
    """Declares nothing (made by lowering a constant, say)."""
    DECLARES = 1
    """Its names count as declared, but the position stays free-form (``dependentRequired``, a map)."""
    STRUCTURES = 2
    """``properties`` or ``patternProperties`` stood here: the position is no longer free-form."""


LITERAL_TYPES: Final = {
    Kind.MINIMUM: NUMBER,
    Kind.MAXIMUM: NUMBER,
    Kind.MULTIPLE: NUMBER,
    Kind.MINLENGTH: STRING,
    Kind.MAXLENGTH: STRING,
    Kind.PATTERN: STRING,
    Kind.FORMAT: STRING,
    Kind.ITEMS: ARRAY,
    Kind.MINITEMS: ARRAY,
    Kind.MAXITEMS: ARRAY,
    Kind.UNIQUE: ARRAY,
    Kind.CONTAINS: ARRAY,
    Kind.PROPS: OBJECT,
    Kind.REQUIRED: OBJECT,
    Kind.MINPROPS: OBJECT,
    Kind.MAXPROPS: OBJECT,
    Kind.NAMES: OBJECT,
}
