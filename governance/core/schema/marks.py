"""``x-sensitive``: which places of a schema hold values that nobody may be shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from governance.core.schema.budget import Budget

HIDDEN: Final = "‹sensitive›"
"""What is shown instead of a sensitive value."""

VALUE_KEYWORDS: Final = frozenset({"enum", "const", "default", "example", "examples", "x-example"})
"""Keywords under which a schema holds values, and no schemas."""


def marks_sensitive(document: Any, budget: Budget | None = None) -> bool:
    """Does anything in it stand under ``x-sensitive: true``? Draws on the budget, where there is one."""
    stack = [document]
    while stack:
        node = stack.pop()
        if budget is not None:
            budget.spend()
        if isinstance(node, dict):
            if node.get("x-sensitive") is True:
                return True
            stack.extend([child for child in node.values() if isinstance(child, dict | list)])
        elif isinstance(node, list):
            stack.extend([child for child in node if isinstance(child, dict | list)])
    return False


def holds_hidden(value: Any) -> bool:
    """Does :data:`HIDDEN` stand in the place of something in it?"""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif node == HIDDEN:
            return True
    return False


def touches_sensitive(document: Any, path: Sequence[str | int]) -> bool:
    """Does the place lie within a sensitive position, or a sensitive position within the place?"""
    node = document
    for token in path:
        if isinstance(node, dict) and node.get("x-sensitive") is True:
            return True
        try:
            node = node[int(token)] if isinstance(node, list) else node[token]
        except (KeyError, IndexError, TypeError, ValueError):
            break
    return marks_sensitive(node)


def target_of(document: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """What the references of one schema into its own document lead to, by pointer."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        reference = schema.get(keyword)
        if not isinstance(reference, str) or not reference.startswith("#"):
            continue
        node = document
        for token in reference.lstrip("#").split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and name in node:
                node = node[name]
            elif isinstance(node, list) and name.isdigit() and int(name) < len(node):
                node = node[int(name)]
            else:
                break
        else:
            yield node
