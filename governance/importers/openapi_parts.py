"""What operations of an OpenAPI document are made of: parts behind references, JSON among media types, sides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.fields import kind_of
from governance.core.names import shown
from governance.importers.openapi_schema import Piece
from governance.importers.values import at

_JSON_TYPE: Final = re.compile(r"application/(json|[\w.!#$&^-]+\+json)|\*/\*|application/\*", re.IGNORECASE)
_MAX_HOPS: Final = 32


class Unusable(Exception):
    """A part that cannot be read: where it stands in the document, and why."""

    def __init__(self, pointer: str, message: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Part:
    """A translated schema with its place in the document and its place in the side's schema."""

    piece: Piece
    source: str
    pointer: str


@dataclass(kw_only=True)
class Side:
    """The input or output of one operation while it is put together."""

    schema: JSON = None
    parts: list[Part] = field(default_factory=list)
    about: dict[str, JSON] = field(default_factory=dict)
    """What the extension keeps of it."""
    unusable: list[Unusable] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """Pointer into the document, and message."""


def resolved(document: JSON, value: JSON, pointer: str) -> tuple[Mapping[str, JSON], str]:
    """An object of the document, behind however many references, and where it stands.

    Raises:
        Unusable: no object, or a reference that leaves the document, leads nowhere or in a circle.
    """
    for _ in range(_MAX_HOPS):
        if not isinstance(value, Mapping):
            raise Unusable(pointer, f"an object is expected at {pointer}, not {kind_of(value)}")
        reference = value.get("$ref")
        if not isinstance(reference, str):
            return value, pointer
        if not reference.startswith("#/"):
            message = "leads out of the document and nothing is fetched; bundle it first"
            raise Unusable(f"{pointer}/$ref", f"the reference {shown(reference)} at {pointer} {message}", "reference")
        target = at(document, reference[1:])
        if target is None:
            message = f"the reference {shown(reference)} at {pointer} leads nowhere"
            raise Unusable(f"{pointer}/$ref", message, "reference")
        value, pointer = target, reference[1:]
    raise Unusable(f"{pointer}/$ref", f"the references at {pointer} lead in a circle", "reference")


def media_of(content: JSON) -> tuple[str, Mapping[str, JSON]] | None:
    """The JSON among media types: plain JSON before its kin before wildcards."""
    if not isinstance(content, Mapping):
        return None
    fitting: list[tuple[int, str, Any]] = []
    for kind, value in content.items():
        match = _JSON_TYPE.fullmatch(kind.partition(";")[0].strip())
        if match and isinstance(value, Mapping):
            word = (match[1] or "").lower()
            fitting.append((0 if word == "json" else 1 if word else 2, kind, value))
    if not fitting:
        return None
    _, kind, value = min(fitting, key=lambda one: one[0])
    return kind, value
