"""What an importer gets and gives: a source, and the drafts found in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from governance.core.compat.model import JSON
from governance.core.document import Document, Locate, decode, json_document, nowhere
from governance.errors import Fault, MalformedDocument, Place
from governance.importers.toml_text import read_toml
from governance.importers.yaml_text import read_yaml

_TABLE: Final = re.compile(r"^\[\[?[\w.\"' -]+\]\]?[ \t]*(#.*)?$", re.MULTILINE)
_ASSIGNMENT: Final = re.compile(r"^[ \t]*[\w.\"'-]+[ \t]*=(?!=)", re.MULTILINE)
_INSIGNIFICANT: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*")


@dataclass(frozen=True, kw_only=True)
class Source:
    """One text, wherever it lay. ``file`` is what places name."""

    text: str
    file: str | None = None

    @classmethod
    def of(cls, data: bytes | str, *, file: str | None = None) -> Source:
        """Raises MalformedDocument for what is no UTF-8 text, DocumentTooLarge past the size limit."""
        return cls(text=decode(data, file=file), file=file)

    @cached_property
    def document(self) -> Document:
        """The text as JSON, TOML or YAML, whichever it looks like.

        Raises:
            MalformedDocument: it cannot be read; located.
            DocumentTooLarge: past a limit.
        """
        match self.format:
            case "json":
                return json_document(self.text, file=self.file)
            case "toml":
                return read_toml(self.text, file=self.file)
            case _:
                return read_yaml(self.text, file=self.file)

    @cached_property
    def format(self) -> str:
        """``json``, ``toml`` or ``yaml``, by the first characters that mean something."""
        blank = _INSIGNIFICANT.match(self.text)
        start = self.text[blank.end() if blank else 0 :].lstrip()
        if not start:
            fault = Fault(
                pointer="",
                message="the document is empty",
                code="syntax",
                place=Place(file=self.file, line=1),
            )
            raise MalformedDocument(
                f"{self.file or '<input>'}: the document is empty.",
                fix="Give a document with a skill.",
                faults=[fault],
            )
        if start[0] == "{":
            return "json"
        if start[0] == "[":
            return "toml" if _TABLE.match(start) and _ASSIGNMENT.search(start) else "json"
        return "toml" if _ASSIGNMENT.match(start) else "yaml"


@dataclass(frozen=True, kw_only=True)
class SkillDraft:
    """One skill as its source tells it, before any rule is applied.

    ``document`` has the fields of a native manifest, without ``name`` and ``version`` for foreign sources:
    these come from ``external_name`` (mapped, prefixed by the namespace) and ``external_version``
    (normalised). ``locate`` takes pointers into ``document``.
    """

    document: Mapping[str, JSON]
    native: bool
    external_name: str = ""
    external_version: str | None = None
    namespace: str = ""
    """What the catalogue calls itself, as one name part; empty if it does not say."""
    defaulted: frozenset[str] = frozenset()
    pointer: str = ""
    """Where in its source the skill stands."""
    locate: Locate = field(default=nowhere, compare=False)
    warnings: tuple[Fault, ...] = ()
    faults: tuple[Fault, ...] = ()
    """What makes it unusable, in pointers into ``document``."""


class Importer(Protocol):
    """One kind of source. Recognises by content; a file's name is only a hint where content cannot tell."""

    @property
    def id(self) -> str:
        """The word for the kind: ``native``, ``mcp``, ``skill_md``."""

    @property
    def title(self) -> str:
        """What people call the kind."""

    def recognises(self, source: Source) -> bool:
        """Whether the source is of this kind, well-formed or not. May raise as ``source.document`` does."""

    def drafts(self, source: Source) -> Iterable[SkillDraft]:
        """Every skill found, in order; a bad one carries its faults and hides no other.

        Raises:
            MalformedDocument: nothing at all can be read.
        """
