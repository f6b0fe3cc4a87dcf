"""Strict reading of JSON, and the value that lets every fault be found in its file.

All input is hostile: size, depth and node count are bounded before anything is built, duplicate keys, lone
surrogates, NaN and Infinity are refused. NUL inside a string is legal JSON and stays (documents are stored as
bytes); names and other short texts refuse it themselves.

Numbers keep their exact value: integers are ``int``; other literals are ``float`` when the double prints back
to the same number, else ``Decimal`` (``1e400``, ``0.1000000000000000055``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.positions import STRING, TOKEN, Locator, place_at, pointer_at, to_pointer, unquoted, walk
from governance.errors import DocumentTooLarge, Fault, MalformedDocument, Place

Locate = Callable[[str], Place | None]
"""From a JSON Pointer to where that value (or its nearest ancestor) stands in the source."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on one document."""

    size: int = 16 * 1024 * 1024
    """Bytes (characters, if text is given)."""
    depth: int = 128
    """Nested arrays and objects."""
    nodes: int = 1_000_000
    """Values, counted generously."""
    digits: int = 4_000
    """Characters of one number, and the greatest decimal exponent either way."""


DEFAULT_LIMITS: Final = Limits()


def nowhere(pointer: str) -> Place | None:
    """The :data:`Locate` of a value that came from no file."""
    return None


@dataclass(frozen=True, kw_only=True)
class Document:
    """A value read from a source, with the way back to it."""

    value: JSON
    file: str | None = None
    locate: Locate = field(default=nowhere, compare=False)


def read_json(data: bytes | str, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS) -> JSON:
    """The value of one JSON text.

    Raises:
        MalformedDocument: not JSON, or not the strict kind; the fault has pointer, line and column.
        DocumentTooLarge: past a limit.
    """
    text = decode(data, file=file, limits=limits)
    _check_shape(text, file, limits)
    flaws: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            flaws.append("key")
        return value

    def constant(name: str) -> Any:
        flaws.append("constant")
        return None

    def integer(literal: str) -> int:
        if len(literal) > limits.digits:
            flaws.append("number")
            return 0
        return int(literal)

    def fraction(literal: str) -> float | Decimal:
        if _too_long(literal, limits):
            flaws.append("number")
            return 0.0
        return exact_number(literal)

    try:
        value = json.loads(
            text, object_pairs_hook=unique, parse_constant=constant, parse_int=integer, parse_float=fraction
        )
    except json.JSONDecodeError as error:
        place = Place(file=file, line=error.lineno, column=error.colno)
        complaint = _plain(error, text)
        pointer = "" if error.msg == "Extra data" else _printable(pointer_at(text, error.pos))
        raise _malformed(complaint, Fault(pointer=pointer, message=complaint, code="syntax", place=place)) from None
    if flaws or _SURROGATE_ESCAPE.search(text):
        _refuse_flaw(text, file, limits)
    return value


def json_document(data: bytes | str, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Like :func:`read_json`, with a ``locate`` that scans the text only when it is asked."""
    text = decode(data, file=file, limits=limits)
    value = read_json(text, file=file, limits=limits)
    return Document(value=value, file=file, locate=Locator(text, file=file))


def decode(data: bytes | str, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS) -> str:
    """Bytes as UTF-8 text, a byte order mark dropped; shared by all text formats.

    Raises:
        MalformedDocument: binary data, UTF-16 or UTF-32, or broken UTF-8 (with line and column).
        DocumentTooLarge: past ``limits.size``.
    """
    if len(data) > limits.size:
        message = f"the document has {len(data):,} bytes, {limits.size:,} are allowed"
        raise _too_large(message, Fault(pointer="", message=message, code="size", place=Place(file=file)))
    if isinstance(data, str):
        try:
            data.encode()
        except UnicodeEncodeError as error:
            raise _not_text("a lone surrogate is no Unicode text", place_at(data, error.start, file)) from None
        return data.removeprefix("\ufeff")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] == b"\x00\x00\xfe\xff":
        raise _not_text("the text is UTF-16 or UTF-32, not UTF-8", Place(file=file))
    if b"\x00" in data:
        wide = data.count(b"\x00") * 3 >= len(data)
        kind = "the text looks like UTF-16, not UTF-8" if wide else "this is binary data, not text"
        raise _not_text(kind, Place(file=file))
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise _not_text(f"byte {error.start} is not UTF-8", place_at(before, len(before), file)) from None


def exact_number(literal: str) -> float | Decimal:
    """A non-integer literal as a double if that prints back to the same number, else as a ``Decimal``."""
    value = float(literal)
    if len(literal) <= 15 and "e" not in literal and "E" not in literal:
        return value  # fifteen significant digits always survive a double
    exact = Decimal(literal)
    return value if value - value == 0 and Decimal(repr(value)) == exact else exact


_UNSTRUCTURED: Final = re.compile(r"[^\[\]{}]+")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def _check_shape(text: str, file: str | None, limits: Limits) -> None:
    """Bound depth and node count before the parser builds (or recurses into) anything."""
    bare = STRING.sub("", text)
    nodes = bare.count(",") + bare.count("[") + bare.count("{") + 1
    if nodes > limits.nodes:
        message = f"the document holds more than {limits.nodes:,} values"
        raise _too_large(message, Fault(pointer="", message=message, code="nodes", place=Place(file=file)))
    depth = 0
    for mark in _UNSTRUCTURED.sub("", bare):
        depth += 1 if mark in "[{" else -1
        if depth > limits.depth:
            break
    else:
        return
    message = f"the document nests deeper than {limits.depth} levels"
    depth = 0
    for match in TOKEN.finditer(text):
        mark = match["mark"] or ""
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        if depth > limits.depth:
            place = place_at(text, match.start(), file)
            pointer = pointer_at(text, match.start())
            raise _too_large(message, Fault(pointer=pointer, message=message, code="depth", place=place))


def _refuse_flaw(text: str, file: str | None, limits: Limits) -> None:
    """Find what the parser only noticed, and say where it stands. Returns if the suspicion was unfounded."""
    keys: list[set[str]] = []
    for path, offset, kind in walk(text):
        match = TOKEN.match(text, offset)
        token = match[0] if match else ""
        complaint = ""
        if kind == "key":
            del keys[len(path) :]
            keys.extend(set() for _ in range(len(path) - len(keys)))
            seen, key = keys[len(path) - 1], str(path[-1])
            if key in seen:
                complaint = "the key stands twice in this object"
            seen.add(key)
        else:
            del keys[len(path) :]
        if token.startswith('"') and _has_surrogate(unquoted(token)):
            complaint = "a lone surrogate is no Unicode text"
        elif token in ("NaN", "Infinity", "-Infinity"):
            complaint = f"{token} is no JSON number"
        elif token[:1] in "-0123456789" and token and _too_long(token, limits):
            message = f"a number has more than {limits.digits:,} digits, or an exponent beyond that"
            fault = Fault(pointer=to_pointer(path), message=message, code="number", place=place_at(text, offset, file))
            raise _too_large(message, fault)
        if complaint:
            place = place_at(text, offset, file)
            raise _malformed(
                complaint,
                Fault(pointer=_printable(to_pointer(path)), message=complaint, code="syntax", place=place),
            )


def _too_long(literal: str, limits: Limits) -> bool:
    if len(literal) > limits.digits:
        return True
    exponent = literal.lower().partition("e")[2]
    return bool(exponent) and abs(int(exponent)) > limits.digits


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _plain(error: json.JSONDecodeError, text: str) -> str:
    if not text.strip():
        return "the document is empty"
    if error.pos >= len(text.rstrip()):
        return "the document ends in the middle"
    return error.msg[:1].lower() + error.msg[1:].removesuffix(" starting at").removesuffix(" at")


def _malformed(message: str, fault: Fault) -> MalformedDocument:
    where = f"{fault.place}: " if fault.place else ""
    return MalformedDocument(
        f"{where}not valid JSON: {message}.", fix="Correct the document at the place named.", faults=[fault]
    )


def _not_text(message: str, place: Place) -> MalformedDocument:
    fault = Fault(pointer="", message=message, code="encoding", place=place)
    return MalformedDocument(f"{place}: {message}.", fix="Save the document as UTF-8 text.", faults=[fault])


def _too_large(message: str, fault: Fault) -> DocumentTooLarge:
    return DocumentTooLarge(
        f"{fault.place or '<input>'}: {message}.",
        fix="Split the document, or leave out what no contract needs.",
        faults=[fault],
    )
