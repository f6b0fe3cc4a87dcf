"""JSON values as trees: where a pointer leads, and how much there is of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance.core.compat.model import JSON


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
