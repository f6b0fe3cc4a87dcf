"""OpenAPI 3.0, 3.1 and 3.2: one skill an operation, called by its ``operationId``, else by method and path.

Arguments become one object (``openapi_arguments`` has the rule), the JSON of the 2xx responses the output. The
title of the document is the namespace, its version is the skills'. What the HTTP standard promises of a method
(RFC 9110: GET, HEAD, OPTIONS, TRACE and QUERY only read; these, PUT and DELETE are idempotent) is taken as the
default, marked as defaulted; of POST and PATCH nothing is assumed. One absolute server is a network endpoint the
caller needs; the scopes of a security requirement without alternatives are permissions. All else is kept under
``extensions.openapi``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.document import Document, Locate
from governance.core.fields import kind_of
from governance.core.names import slug
from governance.core.schema.dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from governance.errors import Fault, MalformedDocument, Place
from governance.importers.draft import SkillDraft, Source
from governance.importers.openapi_answers import output_of
from governance.importers.openapi_arguments import input_of
from governance.importers.openapi_parts import Side, Unusable, resolved
from governance.importers.openapi_schema import MAX_VALUES, Schemas
from governance.importers.openapi_words import needs_of, words_of
from governance.importers.values import size_of

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_PARTS: Final = frozenset({"paths", "info", "components", "webhooks"})
_TAKEN: Final = frozenset(
    {
        "operationId", "summary", "description", "tags", "parameters", "requestBody", "responses", "security",
        "servers",
    }
)  # fmt: skip
_TOO_MUCH: Final = (
    f"the operations up to this one carry more than {MAX_VALUES:,} values, each all it refers to; split the document"
)
_BASE_DIALECT: Final = "https://spec.openapis.org/oas/3."


class OpenApiImporter:
    id = "openapi"
    title = "OpenAPI document"

    def recognises(self, source: Source) -> bool:
        value = source.document.value
        return isinstance(value, dict) and (
            ("openapi" in value and not _PARTS.isdisjoint(value)) or ("swagger" in value and "paths" in value)
        )

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        yield from _Reading(source.document).drafts()


class _Reading:
    """One document while its operations are read."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._value: dict[str, JSON] = document.value
        self._left = MAX_VALUES
        self._warned: set[str] = set()
        old = self._generation() == "3.0"
        self._schemas = Schemas(self._value, old=old, dialect=DEFAULT_DIALECT if old else self._dialect())

    def drafts(self) -> Iterator[SkillDraft]:
        paths = self._value.get("paths")
        if paths is not None and not isinstance(paths, dict):
            raise self._refused("/paths", f"paths are an object, not {kind_of(paths)}", "Write operations by path.")
        namespace, version, notices = self._about()
        for path, item in (paths or {}).items():
            if path.startswith("x-"):
                continue
            for draft in self._path(path, item):
                warnings = (*notices, *draft.warnings)
                notices = ()
                yield replace(draft, namespace=namespace, external_version=version, warnings=warnings)

    def _generation(self) -> str:
        spoken = self._value.get("openapi", self._value.get("swagger"))
        generation = ".".join(str(spoken).split(".")[:2])
        if "swagger" in self._value or generation not in ("3.0", "3.1", "3.2"):
            key = "swagger" if "swagger" in self._value else "openapi"
            message = f"version {str(spoken)[:40]!r} is not read; OpenAPI 3.0, 3.1 and 3.2 are"
            raise self._refused(f"/{key}", message, "Convert the document to OpenAPI 3.")
        return generation

    def _dialect(self) -> Dialect:
        named = self._value.get("jsonSchemaDialect")
        if named is None or (isinstance(named, str) and named.startswith(_BASE_DIALECT)):
            return DEFAULT_DIALECT
        found = DIALECTS.get(named.rstrip("#").rstrip("/")) if isinstance(named, str) else None
        if found is None or found.draft < 6:
            message = f"nobody knows the dialect {str(named)[:80]!r}"
            raise self._refused("/jsonSchemaDialect", message, "Write draft 6 or later, or leave it out.")
        return found

    def _about(self) -> tuple[str, str | None, tuple[Fault, ...]]:
        """Namespace, version, and doubts."""
        info = self._value.get("info")
        info = info if isinstance(info, dict) else {}
        title, version = info.get("title"), info.get("version")
        notices: tuple[Fault, ...] = ()
        if version is not None and not isinstance(version, str):
            message = f"the version is {kind_of(version)}: put it in quotes; the skills have none until then"
            place = self._document.locate("/info/version")
            notices = (Fault(pointer="/info/version", message=message, code="version", place=place),)
        return (
            slug(title) if isinstance(title, str) and title.strip() else "",
            version if isinstance(version, str) and version else None,
            notices,
        )

    def _path(self, path: str, item: JSON) -> Iterator[SkillDraft]:
        pointer = f"/paths/{escape(path)}"
        try:
            found, where = resolved(self._value, item, pointer)
        except Unusable as error:
            yield self._broken(path, pointer, error)
            return
        for method in _METHODS:
            if method not in found:
                continue
            name = f"{method.upper()} {path}"
            if isinstance(found[method], dict):
                yield self._operation(name, path, method, found, where)
            else:
                message = f"an operation is an object, not {kind_of(found[method])}"
                yield self._broken(name, f"{where}/{method}", Unusable(f"{where}/{method}", message))

    def _broken(self, name: str, pointer: str, error: Unusable) -> SkillDraft:
        place = self._document.locate(error.pointer)
        fault = Fault(pointer="", message=error.message, code=error.code, place=place)
        return SkillDraft(
            document={},
            native=False,
            external_name=name,
            pointer=pointer,
            locate=lambda field: self._document.locate(pointer + field),
            faults=(fault,),
        )

    def _operation(self, name: str, path: str, method: str, item: Mapping[str, JSON], item_pointer: str) -> SkillDraft:
        operation: dict[str, Any] = item[method]
        pointer = f"{item_pointer}/{method}"
        if self._left < 0:
            return self._broken(name, pointer, Unusable(pointer, _TOO_MUCH, "size"))
        given = operation.get("operationId")
        own = given if isinstance(given, str) and given.strip() else name
        taken = input_of(self._value, self._schemas, item, item_pointer, method)
        given_back = output_of(self._value, self._schemas, operation, pointer)
        extension: dict[str, JSON] = {"method": method, "path": path, **taken.about, **given_back.about}
        extension |= {key: value for key, value in operation.items() if key not in _TAKEN}
        extension |= {key: item[key] for key in ("summary", "description") if key in item and key not in extension}
        fields, defaulted = words_of(operation, method)
        fields |= needs_of(self._value, operation, item, extension)
        fields["extensions"] = {"openapi": extension}
        faults, warnings, sources = self._sides(fields, taken, given_back)
        if given is not None and not isinstance(given, str):
            faults.insert(0, Fault(pointer="/name", message=f"an operationId is a string, not {kind_of(given)}"))
        self._left -= size_of(extension)
        if self._left < 0:
            return self._broken(name, pointer, Unusable(pointer, _TOO_MUCH, "size"))
        return SkillDraft(
            document=fields,
            native=False,
            external_name=own,
            defaulted=frozenset(defaulted - (fields.keys() - {"side_effects", "idempotent"})),
            pointer=pointer,
            locate=_locator(self._document.locate, pointer, sources),
            warnings=tuple(warnings),
            faults=tuple(faults),
        )

    def _sides(
        self, fields: dict[str, JSON], taken: Side, given_back: Side
    ) -> tuple[list[Fault], list[Fault], dict[str, str]]:
        """Put both schemas into the fields, with all they refer to; faults, warnings, and where in the document
        the parts of the fields stand."""
        faults: list[Fault] = []
        warnings: list[Fault] = []
        sources: dict[str, str] = {}
        locate = self._document.locate
        for name, side in (("input", taken), ("output", given_back)):
            root = f"/{name}_schema"
            faults += [
                Fault(pointer=root, message=error.message, code=error.code, place=locate(error.pointer))
                for error in side.unusable
            ]
            warnings += [
                Fault(pointer=pointer, message=message, code="openapi", place=locate(pointer))
                for pointer, message in side.warnings
            ]
            bundled = self._schemas.closure([part.piece for part in side.parts], name)
            pieces = [(root + part.pointer, part.source, part.piece) for part in side.parts]
            for target, piece in bundled.items():
                key = f"{root}/{self._schemas.definitions}/{escape(self._schemas.name_of(target))}"
                pieces.append((key, target, piece))
            for pointer, source, piece in pieces:
                sources[pointer] = source
                self._left -= piece.values
                faults += [replace(fault, pointer=pointer + fault.pointer) for fault in piece.faults]
                for warning in piece.warnings:
                    there = source + warning.pointer
                    if there not in self._warned:
                        self._warned.add(there)
                        warnings.append(replace(warning, pointer=there, place=locate(there)))
            if side.schema is not None:
                fields[f"{name}_schema"] = self._whole(side.schema, bundled)
        return faults, warnings, sources

    def _whole(self, schema: JSON, bundled: Mapping[str, Any]) -> JSON:
        if not isinstance(schema, dict):
            return schema
        dialect = self._schemas.dialect
        named = {} if dialect is DEFAULT_DIALECT else {"$schema": dialect.uri}
        definitions = {self._schemas.name_of(target): piece.schema for target, piece in bundled.items()}
        return {**named, **schema, **({self._schemas.definitions: definitions} if definitions else {})}

    def _refused(self, pointer: str, message: str, fix: str) -> MalformedDocument:
        place = self._document.locate(pointer)
        fault = Fault(pointer=pointer, message=message, place=place)
        return MalformedDocument(f"{place}: {message}.", fix=fix, faults=[fault])


def _locator(locate: Locate, pointer: str, sources: Mapping[str, str]) -> Locate:
    """From pointers into the native fields to places of the document they came from."""

    def find(field: str) -> Place | None:
        known = field
        while known and known not in sources:
            known = known.rpartition("/")[0]
        if known:
            return locate(sources[known] + field.removeprefix(known))
        if field == "/name":
            return locate(f"{pointer}/operationId")
        return locate(pointer + field.removeprefix("/extensions/openapi"))

    return find


OPENAPI: Final = OpenApiImporter()
