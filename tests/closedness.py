"""An oracle of what a sender was told of, written from the definition and not from the engine.

A value is closed when every property, at every depth, is declared by a schema that applies there and passes. At
a position where no value is closed that restriction is undone; whether one is, the oracle only tries to find out.
"""

from __future__ import annotations

import re
from typing import Any

from asking import VALUES, judge

from governance.core.schema.dialects import dialect_of


class Closedness:
    """Of the values of one document without references, ``not``, ``unevaluated*`` and finite sets."""

    def __init__(self, document: Any) -> None:
        dialect = dialect_of(document)
        assert dialect is not None
        self.document = document
        self.dialect = dialect
        self._judges: dict[int, Any] = {}
        self._kept: dict[tuple[int, ...], bool] = {}

    def holds(self, value: Any, *, of_input: bool) -> bool | None:
        """Is the value sent, given that the document accepts it? None: unless a restriction is undone, no."""
        return self._sent([self.document], value, root=of_input)

    def _passes(self, schema: Any, value: Any) -> bool:
        if isinstance(schema, bool):
            return schema
        if id(schema) not in self._judges:
            self._judges[id(schema)] = judge({**schema, "$schema": self.dialect.uri})
        return bool(self._judges[id(schema)].is_valid(value))

    def _applied(self, schema: Any, value: Any, found: list[dict[str, Any]]) -> None:
        """The schema and all that it applies to the same value with success."""
        if not isinstance(schema, dict):
            return
        found.append(schema)
        inner = list(schema.get("allOf", ()))
        for keyword in ("anyOf", "oneOf"):
            inner += [branch for branch in schema.get(keyword, ()) if self._passes(branch, value)]
        if "if" in schema and self.dialect.draft >= 7:
            met = self._passes(schema["if"], value)
            inner += [schema["if"], schema.get("then", True)] if met else [schema.get("else", True)]
        if isinstance(value, dict):
            for keyword in ("dependentSchemas", "dependencies"):
                inner += [child for name, child in schema.get(keyword, {}).items() if name in value]
        for child in inner:
            self._applied(child, value, found)

    def _sent(self, schemas: list[Any], value: Any, *, root: bool = False) -> bool | None:
        closed, children = self._look(schemas, value, root=root)
        if not closed and self._leaves_a_value(schemas, root=root):
            return False
        below = [self._sent(applicable, child) for applicable, child in children]
        if False in below:
            return False
        return True if closed and None not in below else None

    def _leaves_a_value(self, schemas: list[Any], *, root: bool) -> bool:
        """Is some value closed here and everywhere below? One that is not found may still exist."""
        key = (root, *map(id, schemas))
        if key not in self._kept:
            self._kept[key] = any(
                all(self._passes(schema, value) for schema in schemas) and self._closed(schemas, value, root=root)
                for value in VALUES
            )
        return self._kept[key]

    def _closed(self, schemas: list[Any], value: Any, *, root: bool = False) -> bool:
        closed, children = self._look(schemas, value, root=root)
        return closed and all(self._closed(applicable, child) for applicable, child in children)

    def _look(self, schemas: list[Any], value: Any, *, root: bool) -> tuple[bool, list[tuple[list[Any], Any]]]:
        """Is every name right here declared? And the children, each with the schemas that describe it."""
        applied: list[dict[str, Any]] = []
        for schema in schemas:
            self._applied(schema, value, applied)
        closed, children = True, []
        if isinstance(value, dict):
            structured = root or any("properties" in one or "patternProperties" in one for one in applied)
            for name, child in value.items():
                told, applicable = self._told(applied, name)
                closed = closed and (told or not structured)
                children.append((applicable, child))
        if isinstance(value, list):
            children = [(self._items(applied, position, item), item) for position, item in enumerate(value)]
        return closed, children

    def _told(self, applied: list[dict[str, Any]], name: str) -> tuple[bool, list[Any]]:
        told, children = False, []
        for schema in applied:
            here = [schema["properties"][name]] if name in schema.get("properties", {}) else []
            here += [
                child for pattern, child in schema.get("patternProperties", {}).items() if re.search(pattern, name)
            ]
            told = told or bool(here)
            if not here and "additionalProperties" in schema:
                here = [schema["additionalProperties"]]
                told = told or (not isinstance(here[0], bool) and here[0] != {})
            children += here
            told = told or name in schema.get("required", ())
            for keyword in ("dependentRequired", "dependencies"):
                for trigger, names in schema.get(keyword, {}).items():
                    told = told or (isinstance(names, list) and ((name == trigger and bool(names)) or name in names))
        return told, children

    def _items(self, applied: list[dict[str, Any]], position: int, item: Any) -> list[Any]:
        children = []
        for schema in applied:
            prefix = schema.get(self.dialect.tuple_keyword, [])
            rest = schema.get("items", True)
            if self.dialect.tuple_keyword == "items":
                prefix = rest if isinstance(rest, list) else []
                rest = schema.get("additionalItems", True) if isinstance(rest, list) else rest
            children.append(prefix[position] if position < len(prefix) else rest)
            if "contains" in schema and self.dialect.draft >= 6 and self._passes(schema["contains"], item):
                children.append(schema["contains"])
        return children
