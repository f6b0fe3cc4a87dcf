"""Schemas of an OpenAPI document as JSON Schema, with all they refer to bundled and nothing fetched.

3.1 and 3.2 are JSON Schema already: only references move. 3.0 has a dialect of its own, which becomes 2020-12
with no change of meaning: ``nullable`` adds null to a ``type`` beside it and does nothing without one; boolean
``exclusiveMinimum`` becomes a number; nothing counts beside ``$ref``; ``example`` becomes ``examples``; a required
field is not required of requests when it is ``readOnly``, nor of answers when it is ``writeOnly``; words that only
later drafts know are renamed to ``x-openapi-…``. ``discriminator`` stays, a hint that decides nothing.

The structure stays as it was, so that a pointer into the result is one into the source.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.schema.dialects import DEFAULT_DIALECT, Dialect
from governance.core.schema.load import MAX_DEPTH
from governance.errors import Fault
from governance.importers.values import at, size_of

MAX_VALUES: Final = 1_000_000
"""Values in the schemas of all operations of one document together."""

_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_ONES: Final = frozenset(
    {
        "items", "additionalItems", "additionalProperties", "contains", "contentSchema", "not", "if", "then", "else",
        "propertyNames", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
_LEFT_OUT: Final = frozenset({"$defs", "definitions", "$id", "$anchor", "$schema", "$vocabulary"})
"""What only serves references, all of which are rewritten."""
_DYNAMIC: Final = frozenset({"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"})
_LATER: Final = frozenset(
    {
        "const", "contains", "minContains", "maxContains", "patternProperties", "propertyNames", "prefixItems",
        "dependentRequired", "dependentSchemas", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties",
        "$defs", "definitions", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor",
    }
)  # fmt: skip
"""Words that 2020-12 gives a meaning 3.0 does not know."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LIMITS: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


@dataclass(kw_only=True)
class Piece:
    """One translated schema. Pointers are relative to it."""

    schema: JSON = True
    targets: dict[str, None] = field(default_factory=dict)
    """Pointers into the document of the schemas it refers to, in order."""
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    values: int = 0


class Schemas:
    """The schemas of one document. ``side`` is ``input`` (requests) or ``output`` (answers)."""

    def __init__(self, document: Mapping[str, JSON], *, old: bool, dialect: Dialect = DEFAULT_DIALECT) -> None:
        self._document = document
        self._old = old
        self.dialect = dialect
        self.definitions = "$defs" if dialect.draft >= 2019 else "definitions"
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._pieces: dict[tuple[str, str], Piece] = {}
        self._identified: dict[str, str] = {}
        components = at(document, "/components/schemas")
        self._components = components if isinstance(components, Mapping) else {}
        for name, schema in self._components.items():
            pointer = f"/components/schemas/{escape(name)}"
            self.name_of(pointer)
            if isinstance(schema, Mapping) and isinstance(schema.get("$id"), str):
                self._identified.setdefault(schema["$id"], pointer)

    def name_of(self, pointer: str) -> str:
        """The key under which the schema at ``pointer`` is bundled: a component's own name where references can
        spell it, else the nearest spelling with eight hex digits of the pointer's hash."""
        if pointer not in self._names:
            tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
            words = tokens[2:] if tokens[:2] == ["components", "schemas"] else tokens
            name = _UNSAFE.sub("_", "_".join(words))
            if len(words) != 1 or name != words[0] or not name:
                name = f"{name[:80]}_{hashlib.sha256(pointer.encode('utf-8', 'replace')).hexdigest()[:8]}"
            while name in self._taken:
                name += "_"
            self._names[pointer] = name
            self._taken.add(name)
        return self._names[pointer]

    def piece(self, pointer: str, side: str) -> Piece:
        """The schema that stands at ``pointer``, translated once for each side."""
        key = (pointer, side)
        if key not in self._pieces:
            self._pieces[key] = self.translate(at(self._document, pointer), side)
        return self._pieces[key]

    def translate(self, schema: JSON, side: str) -> Piece:
        """A schema that stands in the document; its references lead to bundled keys."""
        piece = Piece()
        piece.schema = _Translation(self, piece, side, old=self._old).node(schema, "", 0)
        return piece

    def closure(self, pieces: Iterable[Piece], side: str) -> dict[str, Piece]:
        """By pointer, every schema the pieces lead to, however far."""
        found: dict[str, Piece] = {}
        waiting = [target for piece in pieces for target in piece.targets]
        while waiting:
            target = waiting.pop()
            if target not in found:
                found[target] = self.piece(target, side)
                waiting.extend(found[target].targets)
        return found

    def target_of(self, reference: str) -> str:
        """The pointer a reference leads to.

        Raises:
            LookupError: with what is wrong with it, as the end of a sentence.
        """
        if not reference.startswith("#"):
            if reference in self._identified:
                return self._identified[reference]
            raise LookupError("leads out of the document and nothing is fetched; bundle it first")
        pointer = unquote(reference[1:])
        if not pointer.startswith("/"):
            raise LookupError("is not followed; only references by pointer are")
        target = at(self._document, pointer)
        if not isinstance(target, dict) and not (isinstance(target, bool) and not self._old):
            raise LookupError("leads to no schema")
        return pointer

    def component(self, name: str) -> str | None:
        """The pointer of a component schema, by its bare name."""
        return f"/components/schemas/{escape(name)}" if name in self._components else None


class _Translation:
    """One walk over one schema."""

    def __init__(self, schemas: Schemas, piece: Piece, side: str, *, old: bool) -> None:
        self._schemas = schemas
        self._piece = piece
        self._side = side
        self._old = old

    def node(self, schema: JSON, pointer: str, depth: int) -> JSON:
        self._piece.values += 1
        if not isinstance(schema, dict):
            return schema
        if depth > MAX_DEPTH:
            self._fault(pointer, f"nests deeper than {MAX_DEPTH} levels", "schema-depth")
            return {}
        if self._old and isinstance(schema.get("$ref"), str):
            return {"$ref": self._reference(schema["$ref"], f"{pointer}/$ref")}
        told: dict[str, JSON] = {}
        for keyword, value in schema.items():
            if self._old and keyword in _LATER:
                message = f"OpenAPI 3.0 does not know {keyword}, so it says nothing here"
                self._warn(f"{pointer}/{escape(keyword)}", message, "openapi-keyword")
                told[f"x-openapi-{keyword}"] = value
            elif keyword not in _LEFT_OUT:
                told[keyword] = self._value(keyword, value, f"{pointer}/{escape(keyword)}", depth)
            elif keyword == "$schema" and not self._is_dialect(value):
                self._fault(f"{pointer}/$schema", "a schema of another dialect than its document's", "schema-dialect")
        if self._old:
            self._modernise(told, schema, pointer)
        return told

    def _value(self, keyword: str, value: JSON, pointer: str, depth: int) -> JSON:
        if keyword in _MAPS and isinstance(value, dict):
            return {key: self._inner(child, f"{pointer}/{escape(key)}", depth) for key, child in value.items()}
        if (keyword in _LISTS or keyword == "items") and isinstance(value, list):
            return [self.node(child, f"{pointer}/{index}", depth + 2) for index, child in enumerate(value)]
        if keyword in _ONES:
            return self.node(value, pointer, depth + 1)
        if keyword == "$ref" and isinstance(value, str):
            return self._reference(value, pointer)
        if keyword == "discriminator" and isinstance(value, dict):
            return self._discriminator(value)
        if keyword in _DYNAMIC:
            self._fault(pointer, f"{keyword} is not followed; only references by pointer are", "reference")
        self._piece.values += size_of(value)
        return value

    def _inner(self, value: JSON, pointer: str, depth: int) -> JSON:
        return value if isinstance(value, list) else self.node(value, pointer, depth + 2)

    def _reference(self, reference: str, pointer: str) -> str:
        try:
            target = self._schemas.target_of(reference)
        except LookupError as error:
            self._fault(pointer, f"the reference {reference[:200]!r} {error}", "reference")
            return f"#/{self._schemas.definitions}"
        return self._bundled(target)

    def _bundled(self, target: str) -> str:
        self._piece.targets[target] = None
        return f"#/{self._schemas.definitions}/{self._schemas.name_of(target)}"

    def _discriminator(self, value: dict[str, JSON]) -> JSON:
        mapping = value.get("mapping")
        if not isinstance(mapping, dict):
            return value
        moved: dict[str, JSON] = {}
        for key, target in mapping.items():
            moved[key] = target
            if isinstance(target, str):
                pointer = self._schemas.component(target)
                try:
                    pointer = pointer or self._schemas.target_of(target)
                except LookupError:
                    continue  # a hint that leads nowhere stays as it is
                moved[key] = self._bundled(pointer)
        return {**value, "mapping": moved}

    def _is_dialect(self, value: JSON) -> bool:
        return isinstance(value, str) and value.rstrip("#") == self._schemas.dialect.uri

    def _modernise(self, told: dict[str, JSON], schema: dict[str, JSON], pointer: str) -> None:
        """From the dialect of 3.0 to 2020-12, in place."""
        for exclusive, limit in _LIMITS:
            if isinstance(told.get(exclusive), bool) and told.pop(exclusive) and limit in told:
                told[exclusive] = told.pop(limit)
        nullable = told.pop("nullable", None)
        if nullable is True:
            kind = told.get("type")
            if isinstance(kind, str):
                told["type"] = [kind, "null"] if kind != "null" else kind
            elif kind is None:
                message = "nullable does nothing without a type beside it"
                self._warn(f"{pointer}/nullable", message, "openapi-nullable")
        elif nullable not in (None, False):
            self._warn(f"{pointer}/nullable", "nullable is true or false; it is ignored", "openapi-nullable")
        if "example" in told and "examples" not in told:
            told["examples"] = [told.pop("example")]
        required, properties = told.get("required"), schema.get("properties")
        mark = "readOnly" if self._side == "input" else "writeOnly"
        if isinstance(required, list) and isinstance(properties, dict):
            other = {
                name
                for name, child in properties.items()
                if isinstance(child, dict) and child.get(mark) is True and "$ref" not in child
            }
            if other:
                told["required"] = [name for name in required if not isinstance(name, str) or name not in other]

    def _fault(self, pointer: str, message: str, code: str) -> None:
        self._piece.faults.append(Fault(pointer=pointer, message=message, code=code))

    def _warn(self, pointer: str, message: str, code: str) -> None:
        self._piece.warnings.append(Fault(pointer=pointer, message=message, code=code))
