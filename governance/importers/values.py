"""JSON values as trees: which are equal, where a pointer leads, and how much there is of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from governance.core.compat.model import JSON


def same(one: JSON, other: JSON) -> bool:
    """Equal as JSON: ``true`` is not ``1``, and the order of keys says nothing."""
    return written(one) == written(other)


def written(value: JSON) -> str:
    """One text for one JSON value."""
    return json.dumps(value, sort_keys=True, default=str)


def at(document: JSON, pointer: str) -> JSON:
    """The value at a JSON Pointer, or None."""
    node: Any = document
    for raw in pointer.split("/")[1:]:
        token = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and token in node:
            node = node[token]
        elif isinstance(node, list) and token.isascii() and token.isdigit() and int(token[:9]) < len(node):
            node = node[int(token[:9])]
        else:
            return None
    return node


def size_of(value: JSON) -> int:
    """Values inside a JSON value, itself not counted."""
    count, stack = 0, [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list):
            count += len(node)
            stack.extend(node.values() if isinstance(node, dict) else node)
    return count
