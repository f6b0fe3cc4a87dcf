"""TOML as JSON values: dates become text, numbers keep their exact value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from functools import cache
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.document import Document, Limits, exact_number
from governance.core.positions import to_pointer
from governance.errors import DocumentTooLarge, Fault, MalformedDocument, Place

TOML_LIMITS: Final = Limits(size=1024 * 1024)

_AT: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_HEADER: Final = re.compile(r"\s*\[\[?\s*([\w.\"' -]+?)\s*\]\]?\s*(?:#.*)?")
_KEY: Final = re.compile(r"\s*([\w\"'-]+(?:\s*\.\s*[\w\"'-]+)*)\s*=")
_ASIDE: Final = re.compile(
    r'"{3}(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|(?P<comment>#[^\n]*)', re.DOTALL
)
"""Texts and comments: in neither does anything begin."""
_INK: Final = re.compile(r"[^\n]")


def read_toml(text: str, *, file: str | None = None, limits: Limits = TOML_LIMITS) -> Document:
    """One TOML text.

    Raises:
        MalformedDocument: not TOML, or a number JSON has not; located.
        DocumentTooLarge: past a limit.
    """
    if len(text) > limits.size:
        raise _too_large(f"the TOML has {len(text):,} characters, {limits.size:,} are allowed", "", file)
    try:
        value = _json(tomllib.loads(text, parse_float=_number), limits, file)
    except RecursionError:
        raise _too_large(f"the document nests deeper than {limits.depth} levels", "", file) from None
    except ValueError as error:  # TOMLDecodeError is one; int() of too many digits raises a bare one
        match = _AT.search(str(error))
        line = int(match[1]) if match and match[1] else text.count("\n") + 1 if match else None
        column = int(match[2]) if match and match[2] else None
        known = isinstance(error, tomllib.TOMLDecodeError | _NotFiniteError)
        message = _AT.sub("", str(error)) if known else "a number is too long"
        raise _malformed(message[:1].lower() + message[1:], "", Place(file=file, line=line, column=column)) from None
    heads = cache(lambda: list(toml_heads(text)))
    return Document(value=value, file=file, locate=lambda pointer: _locate(heads(), pointer, file))


class _NotFiniteError(ValueError):
    pass


def _number(literal: str) -> Any:
    if "n" in literal:
        raise _NotFiniteError(f"{literal} is no JSON number")
    if len(literal) > TOML_LIMITS.digits:
        raise ValueError("a number is too long")
    exponent = literal.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > TOML_LIMITS.digits:
        raise ValueError("a number is too long")
    return exact_number(literal.replace("_", ""))


def _json(root: dict[str, Any], limits: Limits, file: str | None) -> JSON:
    """The tree with dates as text; checked for depth on the way."""
    whole: list[Any] = [root]
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(whole, ())]
    while stack:
        parent, path = stack.pop()
        if len(path) > limits.depth + 1:
            raise _too_large(f"the document nests deeper than {limits.depth} levels", to_pointer(path[1:]), file)
        for key, child in parent.items() if isinstance(parent, dict) else enumerate(parent):
            if isinstance(child, dict | list):
                stack.append((child, (*path, key)))
            elif isinstance(child, datetime | date | time):
                parent[key] = child.isoformat()
    return whole[0]


def toml_heads(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """``(line, path, opens a table)`` of every line that names a value, in order."""
    bare = _ASIDE.sub(lambda aside: _INK.sub("#" if aside["comment"] else "_", aside[0]), text)
    table: list[str] = []
    for number, (line, plain) in enumerate(zip(text.split("\n"), bare.split("\n"), strict=True), start=1):
        if _HEADER.fullmatch(plain) and (header := _HEADER.fullmatch(line)):
            table = _keys(header[1])
            yield number, table, True
        elif _KEY.match(plain) and (key := _KEY.match(line)):
            yield number, table + _keys(key[1]), False


def toml_comments(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text, ``#`` included, of every comment."""
    yield from ((aside.start(), aside[0]) for aside in _ASIDE.finditer(text) if aside["comment"])


def _locate(heads: Iterable[tuple[int, list[str], bool]], pointer: str, file: str | None) -> Place:
    """The line of the longest part of the pointer that a table header or a key names: near enough."""
    target = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    target = [token for token in target if not token.isdigit()]
    best, depth = None, 0
    for number, path, _ in heads:
        if depth < len(path) <= len(target) and path == target[: len(path)]:
            best, depth = number, len(path)
    return Place(file=file, line=best)


def _keys(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def _malformed(message: str, pointer: str, place: Place) -> MalformedDocument:
    fault = Fault(pointer=pointer, message=message, code="syntax", place=place)
    fix = "Correct the document at the place named."
    return MalformedDocument(f"{place}: not valid TOML: {message}.", fix=fix, faults=[fault])


def _too_large(message: str, pointer: str, file: str | None) -> DocumentTooLarge:
    place = Place(file=file)
    fault = Fault(pointer=pointer, message=message, code="size", place=place)
    fix = "Split the document, or leave out what no contract needs."
    return DocumentTooLarge(f"{place}: {message}.", fix=fix, faults=[fault])
