"""Strict YAML: the JSON part of YAML 1.2, read from events so that nothing hostile is ever built.

No anchors, aliases, tags or merge keys; ``yes``, ``on``, dates and ``0123`` are text, and so are keys;
duplicate keys are refused. Every value keeps its line and column.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Final

import yaml

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.document import Document, Limits, exact_number
from governance.errors import DocumentTooLarge, Fault, MalformedDocument, Place

YAML_LIMITS: Final = Limits(size=4 * 1024 * 1024, nodes=200_000)

LOADER: Final[Any] = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_DUMPER: Final[Any] = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
_WORDS: Final[dict[str, JSON]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_FRACTION: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def read_yaml(text: str, *, file: str | None = None, limits: Limits = YAML_LIMITS, first_line: int = 1) -> Document:
    """One YAML text; several documents in it make a list of their values.

    Args:
        text: decoded text.
        file: what places name.
        limits: bounds; characters count as bytes.
        first_line: the line number of the text's first line, where it is cut out of a larger one.

    Raises:
        MalformedDocument: not YAML, or not the strict kind; located.
        DocumentTooLarge: past a limit; located.
    """
    if len(text) > limits.size:
        message = f"the YAML has {len(text):,} characters, {limits.size:,} are allowed"
        raise _too_large(message, "", Place(file=file))
    builder = _Builder(file=file, limits=limits, first_line=first_line)
    try:
        for event in yaml.parse(text, Loader=LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if "nesting depth" in (error.problem or ""):
            message = f"the document nests deeper than {limits.depth} levels"
            raise _too_large(message, builder.pointer, builder.place(mark)) from None
        raise _malformed(error.problem or "it cannot be read", builder.pointer, builder.place(mark)) from None
    except yaml.YAMLError as error:
        # Characters YAML does not allow: the reader knows an index, not a line.
        offset = getattr(error, "position", 0)
        line = text.count("\n", 0, offset) + first_line
        message = str(getattr(error, "reason", None) or "it cannot be read")
        raise _malformed(message, builder.pointer, Place(file=file, line=line)) from None
    values = builder.documents
    if not values:
        raise _malformed("the document is empty", "", Place(file=file, line=first_line))
    several = len(values) > 1
    marks = builder.marks

    def locate(pointer: str) -> Place:
        full = pointer if several else "/0" + pointer
        while full not in marks and full:
            full = full.rpartition("/")[0]
        line, column = marks.get(full, (first_line, 1))
        return Place(file=file, line=line, column=column)

    return Document(value=values if several else values[0], file=file, locate=locate)


def write_yaml(value: JSON) -> str:
    """A YAML text that :func:`read_yaml` reads back to an equal value, and YAML 1.1 readers too."""
    return str(yaml.dump(value, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=110))


def scalar(text: str, limits: Limits = YAML_LIMITS) -> JSON:
    """What a plain scalar stands for in the core schema of YAML 1.2.

    Raises:
        ValueError: infinity, not a number, or a number of too many digits.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is no JSON number")
    whole = _INTEGER.fullmatch(text) or _HEX.fullmatch(text) or _OCTAL.fullmatch(text)
    if (whole or _FRACTION.fullmatch(text)) and len(text) > limits.digits:
        raise ValueError(f"a number has more than {limits.digits:,} digits")
    if whole:
        return int(text, 0)
    if not _FRACTION.fullmatch(text) or re.fullmatch(r"[-+]?0[0-9]+", text):
        return text
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > limits.digits:
        raise ValueError(f"the exponent of a number is beyond {limits.digits:,}")
    return exact_number(text)


class _Builder:
    """Values from YAML events, on a stack of its own."""

    def __init__(self, *, file: str | None, limits: Limits, first_line: int) -> None:
        self.documents: list[JSON] = []
        self.marks: dict[str, tuple[int, int]] = {}
        self._file = file
        self._limits = limits
        self._first_line = first_line
        self._nodes = 0
        self._open: list[tuple[str, Any]] = []
        self._keys: list[str | None] = []
        self.pointer = ""

    def place(self, mark: Any) -> Place:
        if mark is None:
            return Place(file=self._file)
        return Place(file=self._file, line=mark.line + self._first_line, column=mark.column + 1)

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.NodeEvent):
            self._check(event)
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._begin(event, {})
            case yaml.SequenceStartEvent():
                self._begin(event, [])
            case yaml.CollectionEndEvent():
                self._open.pop()
                self._keys.pop()
            case _:
                pass  # the bounds of streams and documents say nothing here

    def _check(self, event: Any) -> None:
        place = self.place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            raise _malformed("aliases (*name) are not allowed", self.pointer, place)
        if event.anchor is not None:
            raise _malformed("anchors (&name) are not allowed", self.pointer, place)
        if event.tag is not None:
            raise _malformed("tags (!name) are not allowed", self.pointer, place)
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            raise _too_large(f"the document holds more than {self._limits.nodes:,} values", self.pointer, place)
        if len(self._open) > self._limits.depth:
            raise _too_large(f"the document nests deeper than {self._limits.depth} levels", self.pointer, place)

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][1], dict) and self._keys[-1] is None

    def _scalar(self, event: Any) -> None:
        place = self.place(event.start_mark)
        plain = event.implicit[0] and not event.style
        if self._awaits_key():
            if plain and event.value == "<<":
                raise _malformed("merge keys (<<) are not allowed", self.pointer, place)
            self._key(event.value, place)
            return
        try:
            value = scalar(event.value, self._limits) if plain else event.value
        except ValueError as error:
            raise _malformed(str(error), self._child(), place) from None
        self._put(value, event)

    def _key(self, key: str, place: Place) -> None:
        pointer, mapping = self._open[-1]
        self.pointer = f"{pointer}/{escape(key)}"
        if key in mapping:
            raise _malformed("the key stands twice in this object", self.pointer, place)
        self._keys[-1] = key

    def _begin(self, event: Any, value: Any) -> None:
        if self._awaits_key():
            raise _malformed("a key must be text", self.pointer, self.place(event.start_mark))
        pointer = self._put(value, event)
        self._open.append((pointer, value))
        self._keys.append(None)

    def _child(self) -> str:
        if not self._open:
            return f"/{len(self.documents)}"
        pointer, parent = self._open[-1]
        return f"{pointer}/{escape(self._keys[-1] or '') if isinstance(parent, dict) else len(parent)}"

    def _put(self, value: JSON, event: Any) -> str:
        pointer = self._child()
        self.pointer = pointer
        self.marks[pointer] = (event.start_mark.line + self._first_line, event.start_mark.column + 1)
        if not self._open:
            self.documents.append(value)
            return pointer
        parent = self._open[-1][1]
        if isinstance(parent, dict):
            parent[self._keys[-1]] = value
            self._keys[-1] = None
        else:
            parent.append(value)
        return pointer


@cache
def _dumper() -> Any:
    class Dumper(_DUMPER):  # type: ignore[misc]  # chosen at run time
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        style = None
        if "\n" in value and all(char.isprintable() or char == "\n" for char in value):
            style = "|"
        elif not value.isprintable() or not _is_plain(value):
            style = '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def _is_plain(value: str) -> bool:
    try:
        return isinstance(scalar(value), str)
    except ValueError:
        return False


def _outer(pointer: str) -> str:
    """Without the number of the document in front."""
    return re.sub(r"^/\d+", "", pointer)


def _malformed(message: str, pointer: str, place: Place) -> MalformedDocument:
    fault = Fault(pointer=_outer(pointer), message=message, code="syntax", place=place)
    fix = "Correct the document at the place named; a text that holds ': ' or ' #' goes in quotes."
    return MalformedDocument(f"{place}: not the YAML read here: {message}.", fix=fix, faults=[fault])


def _too_large(message: str, pointer: str, place: Place) -> DocumentTooLarge:
    fault = Fault(pointer=_outer(pointer), message=message, code="size", place=place)
    fix = "Split the document, or leave out what no contract needs."
    return DocumentTooLarge(f"{place}: {message}.", fix=fix, faults=[fault])


def quoted(text: str) -> str:
    """``text`` as a double-quoted YAML scalar on one line."""
    return json.dumps(text, ensure_ascii=True)
