"""The one JSON writer: every digit of every number survives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import BaseModel


def write_json(value: Any) -> bytes:
    """UTF-8 JSON of plain values, messages, dates and enums; integers and Decimals keep every digit."""
    try:
        return _ENCODER.encode(value).encode()
    except _DecimalFoundError:
        return "".join(_exactly(value)).encode()
    except UnicodeEncodeError:  # a lone surrogate, which only the escaped form can carry
        return json.dumps(value, default=_plain_or_text, separators=(",", ":")).encode()


class _DecimalFoundError(Exception):
    pass


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        raise _DecimalFoundError
    return _plain_or_text(value)


def _plain_or_text(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _exactly(value: Any) -> list[str]:
    """The pieces of the text; iterative, for a document may nest as deep as its limit allows."""
    pieces: list[str] = []
    stack: list[Any] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, _Raw):
            pieces.append(node.text)
        elif isinstance(node, Decimal):
            pieces.append(str(node))
        elif isinstance(node, dict):
            items: list[Any] = [_Raw("{")]
            for index, (key, child) in enumerate(node.items()):
                items += [_Raw(("," if index else "") + json.dumps(key, ensure_ascii=False) + ":"), child]
            stack.extend(reversed([*items, _Raw("}")]))
        elif isinstance(node, list | tuple):
            items = [_Raw("[")]
            for index, child in enumerate(node):
                items += [_Raw(","), child] if index else [child]
            stack.extend(reversed([*items, _Raw("]")]))
        elif node is None or isinstance(node, str | int | float):
            pieces.append(_ENCODER.encode(node))
        else:
            stack.append(_plain_or_text(node))
    return pieces


class _Raw:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text
