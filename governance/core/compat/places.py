"""Places in a schema document: which subschemas describe one position, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.lower import Lowering
from governance.core.schema.references import DynamicReference, Scope, UnresolvedReference, reference_keywords
from governance.core.schema.regex import UnsupportedPattern, compile_pattern, matches
from governance.core.schema.subschemas import subschemas

_MATCH_STEPS: Final = 20_000


@dataclass(frozen=True)
class Spot:
    """One schema object that describes a position, with its pointer in its document."""

    schema: Any
    pointer: str
    scope: Scope = None
    sure: bool = True
    """It always applies: no union, condition or dependency stands between."""

    def has(self, keyword: str) -> bool:
        return isinstance(self.schema, dict) and keyword in self.schema


class Places:
    """Finds spots in one document."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.references = lowering.references
        self.root = Spot(lowering.document, "", lowering.references.root)
        self._pointers: dict[int, str] | None = None
        self._properties: dict[tuple[tuple[int, str], ...], dict[str, list[Spot]]] = {}

    def pointer_of(self, schema: Any) -> str:
        """Where a referenced schema stands; empty for one outside the document."""
        if self._pointers is None:
            self._pointers = {}
            stack = [("", self.lowering.document)]
            while stack:
                pointer, node = stack.pop()
                if isinstance(node, dict):
                    self._pointers.setdefault(id(node), pointer)
                    stack.extend((pointer + place, child) for place, child in subschemas(node, self.lowering.dialect))
        return self._pointers.get(id(schema), "")

    def followed(self, spot: Spot) -> Iterator[Spot]:
        """Where the references of a schema lead."""
        for keyword in reference_keywords(self.lowering.dialect.draft):
            if spot.has(keyword) and isinstance(spot.schema[keyword], str):
                try:
                    target, scope = self.references.follow(spot.schema[keyword], spot.scope)
                except (UnresolvedReference, DynamicReference):
                    continue
                yield Spot(target, self.pointer_of(target), scope, spot.sure)

    def child(self, spot: Spot, place: str, schema: Any, *, sure: bool | None = None) -> Spot:
        scope = self.references.enter(spot.schema, spot.scope)
        return Spot(schema, spot.pointer + place, scope, spot.sure if sure is None else sure)

    def in_place(self, spots: Iterable[Spot]) -> list[Spot]:
        """The spots and everything they apply to the same value, each schema once, outermost first."""
        found: list[Spot] = []
        seen: set[int] = set()
        stack = list(spots)[::-1]
        while stack:
            spot = stack.pop()
            if not isinstance(spot.schema, dict) or id(spot.schema) in seen:
                continue
            seen.add(id(spot.schema))
            spot = replace(spot, schema=self.lowering.said(spot.schema))
            found.append(spot)
            stack.extend(reversed([*self.followed(spot), *self._combined(spot)]))
        return found

    def _combined(self, spot: Spot) -> Iterator[Spot]:
        schema, draft = spot.schema, self.lowering.dialect.draft
        for keyword in ("allOf", "anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                for index, child in enumerate(schema[keyword]):
                    sure = spot.sure and (keyword == "allOf" or len(schema[keyword]) == 1)
                    yield self.child(spot, f"/{keyword}/{index}", child, sure=sure)
        for keyword in ("then", "else"):
            if draft >= 7 and "if" in schema and keyword in schema:
                yield self.child(spot, f"/{keyword}", schema[keyword], sure=False)
        for keyword in ("dependentSchemas", "dependencies") if draft >= 2019 else ("dependencies",):
            if isinstance(schema.get(keyword), dict):
                for name, child in schema[keyword].items():
                    yield self.child(spot, f"/{keyword}/{escape(name)}", child, sure=False)

    def properties(self, spots: Iterable[Spot]) -> dict[str, list[Spot]]:
        """The declared properties of a position: name to the spots that describe the value."""
        spots = list(spots)
        key = tuple((id(spot.schema), spot.pointer) for spot in spots)
        known = self._properties.get(key)
        if known is None:
            known = self._properties[key] = {}
            for spot in spots:
                declared = spot.schema.get("properties")
                for name in declared if isinstance(declared, dict) else ():
                    known.setdefault(name, []).append(self.declared(spot, name))
        return known

    def declared(self, spot: Spot, name: str) -> Spot:
        """What the spot itself says of the value under a name that it declares."""
        return self.child(spot, f"/properties/{escape(name)}", spot.schema["properties"][name])

    def property(self, spots: Iterable[Spot], name: str) -> list[Spot]:
        """What describes the value under ``name``: declared, else by a pattern, else the schema for the rest."""
        spots = list(spots)
        declared = self.properties(spots).get(name)
        if declared:
            return declared
        found: list[Spot] = []
        for spot in spots:
            patterns = spot.schema.get("patternProperties", {})
            fitting = [self.pattern(spot, pattern) for pattern in patterns if fits(pattern, name)]
            # Where a pattern cannot be read the rest may not be what applies.
            found.extend(
                fitting or [replace(rest, sure=rest.sure and not patterns) for rest in self.additional([spot])]
            )
        return found

    def describes(self, spots: Iterable[Spot], name: str) -> bool:
        """Does a pattern or a schema for the rest say something about ``name``?"""
        spots = list(spots)
        return bool(self.additional(spots)) or any(
            fits(pattern, name) for spot in spots for pattern in spot.schema.get("patternProperties", {})
        )

    def patterns(self, spots: Iterable[Spot]) -> dict[str, list[Spot]]:
        """Pattern to the spots that describe the values under the names that match it."""
        found: dict[str, list[Spot]] = {}
        for spot in spots:
            for pattern in spot.schema.get("patternProperties", {}):
                found.setdefault(pattern, []).append(self.pattern(spot, pattern))
        return found

    def pattern(self, spot: Spot, pattern: str) -> Spot:
        return self.child(spot, f"/patternProperties/{escape(pattern)}", spot.schema["patternProperties"][pattern])

    def additional(self, spots: Iterable[Spot]) -> list[Spot]:
        """What describes the values under undeclared names."""
        return [
            self.child(spot, "/additionalProperties", spot.schema["additionalProperties"])
            for spot in spots
            if isinstance(spot.schema.get("additionalProperties"), dict)
        ]

    def items(self, spots: Iterable[Spot], position: int | None) -> list[Spot]:
        """What describes the item at a position; None for the rest."""
        found: list[Spot] = []
        for spot in spots:
            schema = spot.schema
            prefix, _ = self.lowering.item_schemas(schema)
            keyword = self.lowering.dialect.tuple_keyword
            if position is not None and position < len(prefix):
                found.append(self.child(spot, f"/{keyword}/{position}", prefix[position]))
            elif isinstance(schema.get("items"), dict):
                found.append(self.child(spot, "/items", schema["items"]))
            elif isinstance(schema.get("additionalItems"), dict):
                found.append(self.child(spot, "/additionalItems", schema["additionalItems"]))
        return found


def nearest(spots: list[Spot], pointer: str) -> Spot | None:
    """The one that stands at ``pointer`` in its document too; else the first."""
    return next((spot for spot in spots if spot.pointer == pointer), spots[0] if spots else None)


def field_of(pointer: str) -> str:
    """The dotted path of fields in a pointer: ``/properties/a/items/properties/b/minimum`` is ``a[].b``."""
    tokens = pointer.split("/")[1:]
    path, index = "", 0
    while index < len(tokens):
        token = tokens[index]
        if token in ("properties", "patternProperties") and index + 1 < len(tokens):
            name = tokens[index + 1].replace("~1", "/").replace("~0", "~")
            path += ("." if path else "") + name
            index += 2
        elif token in ("items", "prefixItems", "additionalItems"):
            path += "[]"
            index += 2 if index + 1 < len(tokens) and tokens[index + 1].isdigit() else 1
        else:
            index += 1
    return path


def fits(pattern: str, name: str) -> bool:
    """Does a property name match? False where that cannot be decided cheaply: nothing is proved with it."""
    try:
        return matches(compile_pattern(pattern), name, Budget(_MATCH_STEPS))
    except (UnsupportedPattern, BudgetExceeded):
        return False
