"""Canonical JSON (RFC 8785) and the digests over it."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import Any

import rfc8785

from governance.errors import Fault, InvalidContract

MAX_SAFE_INTEGER = 2**53
"""Beyond it a JSON number has no unique IEEE 754 double, and RFC 8785 no form."""


def canonical_bytes(value: Any) -> bytes:
    """The one byte form of a JSON value.

    Raises:
        InvalidContract: a number has no canonical form, or a string holds a lone surrogate; with its pointer.
    """
    try:
        return _dumps(value)
    except (ValueError, RecursionError, OverflowError):
        faults = uncanonical(value) or [Fault(pointer="", message="the document nests too deep to canonicalise")]
        raise InvalidContract(
            f"The document has no canonical form: {faults[0].message}.",
            fix="Write numbers that an IEEE 754 double holds exactly, and text as valid Unicode.",
            faults=faults,
        ) from None


def _dumps(value: Any) -> bytes:
    """RFC 8785; the standard library's writer says the same of plain values, many times faster."""
    if _is_plain(value):
        try:
            return _PLAIN.encode(value).encode()
        except (ValueError, RecursionError):
            pass  # the other writer says what is wrong, in its own words
    return rfc8785.dumps(value)


_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_LEAVES = frozenset({str, bool, type(None)})


def _is_plain(value: Any) -> bool:
    """Nothing in it that the two writers spell or sort differently: floats, large numbers, keys beyond ASCII."""
    stack = [value]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind is dict:
            if not all(type(key) is str and key.isascii() for key in node):
                return False
            stack.extend(node.values())
        elif kind is list or kind is tuple:
            stack.extend(node)
        elif kind is not int or abs(node) >= MAX_SAFE_INTEGER:
            return False
    return True


def digest(value: Any) -> str:
    """``sha256:`` and 64 hex digits over the canonical bytes."""
    return "sha256:" + hashlib.sha256(canonical_bytes(value)).hexdigest()


def uncanonical(value: Any) -> list[Fault]:
    """Every number and string in ``value`` that RFC 8785 cannot hold, each with its JSON Pointer."""
    faults: list[Fault] = []
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, dict):
            for key, child in node.items():
                if not _is_unicode(key):
                    faults.append(Fault(pointer=pointer, message="a key holds a lone surrogate", code="unicode"))
                stack.append((f"{pointer}/{escape(key)}", child))
        elif isinstance(node, list | tuple):
            stack.extend((f"{pointer}/{index}", child) for index, child in enumerate(node))
        elif isinstance(node, str):
            if not _is_unicode(node):
                faults.append(Fault(pointer=pointer, message="the text holds a lone surrogate", code="unicode"))
        elif isinstance(node, bool) or node is None:
            continue
        elif isinstance(node, Decimal) or (isinstance(node, int) and abs(node) >= MAX_SAFE_INTEGER):
            message = f"the number {_brief(node)} has no exact double"
            faults.append(Fault(pointer=pointer, message=message, code="number"))
        elif isinstance(node, float) and (node != node or node in (float("inf"), float("-inf"))):
            faults.append(Fault(pointer=pointer, message="not a finite number", code="number"))
        elif isinstance(node, float) and MAX_SAFE_INTEGER <= abs(node) < 1e21:
            # RFC 8785 prints these as integers, and so they would read back as another kind of number.
            message = f"the number {node!r} lies beyond 2^53"
            faults.append(Fault(pointer=pointer, message=message, code="number"))
    return faults[::-1]


def canonical_or_text(value: Any) -> str:
    """Canonical text where there is one, else plain sorted JSON: to look up and fingerprint, not digest."""
    try:
        return _dumps(value).decode()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        return json.dumps(value, sort_keys=True, default=str)


def escape(token: str) -> str:
    """One reference token of a JSON Pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def _brief(number: int | Decimal) -> str:
    if isinstance(number, int) and number.bit_length() > 13_000:
        return f"of {number.bit_length()} bits"  # past the length that int allows itself to print
    text = str(number)
    return text if len(text) <= 40 else f"{text[:20]}… ({len(text)} digits)"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
