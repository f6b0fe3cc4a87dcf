"""Subjects of a schema registry of Confluent's kind: ``{"subject", "version", "schemaType": "JSON", "schema"}``, one,
a list, or ``{"schemas": […]}``.

A subject is a skill whose input is the schema; its version counts majors. Without ``$schema`` such a registry means
draft 7, so that is written in. References to other subjects are bundled from the same source, under the name the
schema calls them by. Row numbers (``id``, ``guid``, ``ts``) say nothing of the contract and are not kept; the rest
stands under ``extensions.subjects``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.document import Document, Locate, read_json
from governance.core.fields import kind_of
from governance.core.names import shown
from governance.core.schema.dialects import dialect_of
from governance.errors import Fault, GovernanceError, Place
from governance.importers.draft import SkillDraft, Source
from governance.importers.values import size_of

MAX_BUNDLED: Final = 1_000_000
"""Values in the schemas of all subjects together, each with what it refers to."""
_TOO_MUCH: Final = f"the subjects up to this one carry more than {MAX_BUNDLED:,} values; split the list"
_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_LISTS: Final = ("schemas", "subjects")
_UNDERSTOOD: Final = frozenset(
    {"subject", "version", "schema", "schemaType", "id", "guid", "ts", "schemaId", "deleted"}
)


class _Unusable(Exception):
    """What keeps a subject from being a skill, and the key of the entry where it stands."""

    def __init__(self, key: str, message: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.code = code


class SubjectsImporter:
    id = "subjects"
    title = "schema registry subjects"

    def recognises(self, source: Source) -> bool:
        return any(_is_entry(entry) for _, entry in _entries(source.document.value))

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        registry = _Registry(entries=_entries(source.document.value))
        for pointer, entry in registry.entries:
            yield _draft(entry, pointer, registry, source.document)


@dataclass(kw_only=True)
class _Registry:
    """All entries of one source."""

    entries: list[tuple[str, JSON]]
    left: int = field(default_factory=lambda: MAX_BUNDLED)
    by_name: dict[str, dict[int, Mapping[str, JSON]]] = field(init=False)
    _read: dict[int, JSON | _Unusable] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.by_name = {}
        for _, entry in self.entries:
            if _is_entry(entry) and _is_number(entry.get("version")):
                self.by_name.setdefault(entry["subject"], {}).setdefault(entry["version"], entry)

    def find(self, subject: JSON, version: JSON) -> Mapping[str, JSON] | None:
        """The entry referred to; version -1 is the latest."""
        versions = self.by_name.get(subject) if isinstance(subject, str) else None
        if not versions or not _is_number(version):
            return None
        return versions[max(versions)] if version == -1 else versions.get(version)

    def schema(self, entry: Mapping[str, JSON]) -> JSON:
        """The schema of an entry alone, read once. Raises _Unusable."""
        if id(entry) not in self._read:
            try:
                self._read[id(entry)] = _schema_of(entry)
            except _Unusable as error:
                self._read[id(entry)] = error
        found = self._read[id(entry)]
        if isinstance(found, _Unusable):
            raise found
        return found

    def whole(self, entry: Mapping[str, JSON]) -> JSON:
        """The schema of an entry with all it refers to.

        Raises:
            _Unusable: no JSON Schema, or a reference that does not lead to one here.
        """
        schema = self.schema(entry)
        if isinstance(schema, dict) and "$schema" not in schema:
            schema = {"$schema": _DRAFT_7, **schema}
        bundled = self._referred(entry, schema)
        if bundled and isinstance(schema, dict):
            old = dialect_of(schema)
            key = "definitions" if old is not None and old.draft <= 7 else "$defs"
            own = schema.get(key)
            schema = {**schema, key: {**bundled, **(own if isinstance(own, dict) else {})}}
        self.left -= size_of(schema)
        if self.left < 0:
            raise _Unusable("schema", _TOO_MUCH, "size")
        return schema

    def _referred(self, entry: Mapping[str, JSON], root: JSON) -> dict[str, JSON]:
        """By name, what the entry refers to, however far, each under its own identifier."""
        found: dict[str, JSON] = {}
        sources: dict[str, int] = {}
        dialect = dialect_of(root)
        waiting = [entry]
        size = 0
        while waiting:
            for index, reference in enumerate(_references(waiting.pop())):
                name = reference.get("name")
                target = self.find(reference.get("subject"), reference.get("version"))
                if not isinstance(name, str) or target is None:
                    told = f"{shown(reference.get('subject'))} version {str(reference.get('version'))[:20]}"
                    raise _Unusable(
                        f"references/{index}", f"{told} is referred to and does not stand here", "reference"
                    )
                if sources.setdefault(name, id(target)) != id(target):
                    raise _Unusable("references", f"{shown(name)} is the name of two different schemas", "reference")
                if name in found:
                    continue
                schema = self.schema(target)
                if isinstance(schema, dict):
                    if dialect is None or dialect_of({"$schema": _DRAFT_7, **schema}) is not dialect:
                        raise _Unusable("references", f"{shown(name)} is written in another dialect", "schema-dialect")
                    schema = {dialect.id_keyword: name} | {
                        key: value for key, value in schema.items() if key not in ("$schema", dialect.id_keyword)
                    }
                size += size_of(schema)
                if size > self.left:
                    self.left -= size
                    raise _Unusable("references", f"with what it refers to, {_TOO_MUCH}", "size")
                found[name] = schema
                waiting.append(target)
        return found


def _draft(entry: JSON, pointer: str, registry: _Registry, document: Document) -> SkillDraft:
    here = _locator(document.locate, pointer)
    if not _is_entry(entry):
        message = f"a subject is an object with subject and schema, not {kind_of(entry)}"
        if isinstance(entry, dict):
            message = "an object with subject and schema is expected"
        return SkillDraft(
            document={}, native=False, pointer=pointer, locate=here, faults=(Fault(pointer="", message=message),)
        )
    rest = {key: value for key, value in entry.items() if key not in _UNDERSTOOD}
    fields: dict[str, JSON] = {"extensions": {"subjects": rest}} if rest else {}
    faults: list[Fault] = []
    defaulted = {"timeout_sec", "compatibility", "output_schema", "description"}
    try:
        fields["input_schema"] = schema = registry.whole(entry)
        fields |= _words(schema)
    except _Unusable as error:
        place = document.locate(f"{pointer}/{error.key}")
        faults.append(Fault(pointer="/input_schema", message=error.message, code=error.code, place=place))
    version = entry.get("version")
    return SkillDraft(
        document=fields,
        native=False,
        external_name=entry["subject"],
        external_version=str(version) if _is_number(version) or isinstance(version, str) else None,
        defaulted=frozenset(defaulted - fields.keys()),
        pointer=pointer,
        locate=here,
        faults=tuple(faults),
    )


def _words(schema: JSON) -> dict[str, JSON]:
    """Title and description as the schema says them."""
    said = schema if isinstance(schema, dict) else {}
    title, description = (
        value if isinstance(value, str) and value.strip() else None
        for value in (said.get("title"), said.get("description"))
    )
    if description is None:
        return {"description": title} if title else {}
    return {"description": description, **({"title": title} if title else {})}


def _schema_of(entry: Mapping[str, JSON]) -> JSON:
    """Raises _Unusable."""
    kind = entry.get("schemaType")
    if entry.get("deleted") is True:
        raise _Unusable("deleted", "it was deleted in its registry, so nobody may rely on it", "deleted")
    if kind is None:
        raise _Unusable("schema", "without schemaType the schema is Avro; only JSON Schema is read", "schema-type")
    if kind != "JSON":
        raise _Unusable("schemaType", f"the schema is {shown(kind)}; only JSON Schema is read", "schema-type")
    text = entry["schema"]
    if not isinstance(text, str):
        return text
    try:
        return read_json(text)
    except GovernanceError as error:
        message = error.faults[0].message if error.faults else error.message.removesuffix(".")
        raise _Unusable("schema", f"the text of the schema cannot be read: {message}", "syntax") from None


def _references(entry: Mapping[str, JSON]) -> list[Mapping[str, Any]]:
    """Raises _Unusable."""
    listed = entry.get("references")
    if listed is None:
        return []
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise _Unusable("references", "references are a list of {name, subject, version}")
    return listed


def _entries(value: JSON) -> list[tuple[str, JSON]]:
    if _is_entry(value):
        return [("", value)]
    if isinstance(value, dict):
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        return [] if key is None else [(f"/{key}/{index}", item) for index, item in enumerate(value[key])]
    return [(f"/{index}", item) for index, item in enumerate(value)] if isinstance(value, list) else []


def _is_entry(value: JSON) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("subject"), str)
        and bool(value["subject"])
        and "schema" in value
        and not {"version", "schemaType", "id"}.isdisjoint(value)
    )


def _is_number(value: JSON) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _locator(locate: Locate, pointer: str) -> Locate:
    def find(field: str) -> Place | None:
        if field.startswith("/input_schema"):
            return locate(f"{pointer}/schema{field.removeprefix('/input_schema')}")
        if field == "/name":
            return locate(f"{pointer}/subject")
        return locate(pointer + field.removeprefix("/extensions/subjects"))

    return find


SUBJECTS: Final = SubjectsImporter()
