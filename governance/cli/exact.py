"""JSON text that loses nothing: a Decimal or a huge integer is printed digit for digit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any


def dumps(value: Any, *, indent: int | None = None) -> str:
    """``value`` as JSON text; keys keep their order. Numbers are int, float or Decimal, each exact.

    Raises:
        ValueError: a float that is not finite.
        TypeError: something that is no JSON value.
    """
    try:
        return json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            indent=indent,
            separators=None if indent is not None else (",", ":"),
        )
    except TypeError:
        return "".join(_parts(value, indent, 0))  # a Decimal is in it, or it is no JSON at all


def _parts(value: Any, indent: int | None, depth: int) -> Iterator[str]:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError("not a finite number")
        yield str(value)
    elif isinstance(value, dict):
        pairs = ([encode_basestring(str(key)), ":" if indent is None else ": "] for key in value)
        yield from _group("{}", zip(pairs, value.values(), strict=True), indent, depth)
    elif isinstance(value, list | tuple):
        yield from _group("[]", (([], item) for item in value), indent, depth)
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)


def _group(braces: str, items: Iterator[tuple[list[str], Any]], indent: int | None, depth: int) -> Iterator[str]:
    inner = "" if indent is None else "\n" + " " * indent * (depth + 1)
    empty = True
    yield braces[0]
    for prefix, item in items:
        yield inner if empty else f",{inner}"
        yield from prefix
        yield from _parts(item, indent, depth + 1)
        empty = False
    if indent is not None and not empty:
        yield "\n" + " " * indent * depth
    yield braces[1]
