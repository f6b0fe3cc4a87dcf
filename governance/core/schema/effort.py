"""How much work a validator has with a payload, counted before it is asked: nothing interrupts it once it runs.

A validator follows every path: references that branch again and again cost it exponential time, and a payload
whose parts are shared in memory is exponentially large written out. Both are counted here in linear time.
"""

from __future__ import annotations

from typing import Any, Final

from governance.core.schema.references import DynamicReference, References, Scope, UnresolvedReference
from governance.core.schema.subschemas import subschemas

MAX_VALUES: Final = 200_000
"""Values in a payload, written out."""
MAX_VISITS: Final = 200_000
"""Pairs of a schema and a value that the validator may look at."""
_MAX_DEPTH: Final = 1_000
_STEPS_A_SCHEMA: Final = 4
_IN_PLACE: Final = ("$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas", "dependencies")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def values_in(payload: Any) -> int:
    """The values in a payload, written out; parts that are shared count as often as they occur."""
    known: dict[int, int] = {}

    def count(value: Any) -> int:
        if not isinstance(value, dict | list):
            return 1
        if (found := known.get(id(value))) is None:
            found = 1
            for child in value.values() if isinstance(value, dict) else value:
                found += count(child)
            known[id(value)] = found
        return found

    return count(payload)


class Effort:
    """The work that one document makes, reference by reference. Counting it draws on the budget of the references."""

    def __init__(self, references: References) -> None:
        self.references = references
        self._size: dict[int, int] = {}
        self._under_way: set[int] = set()
        self._recursive = False
        self.unfolded = self._unfold(references.document, references.root)

    def visits(self, payload: Any) -> int:
        """How often a schema meets a value when ``payload`` is judged; an upper bound, never too small."""
        values = values_in(payload)
        if values > MAX_VALUES or (not self._recursive and self.unfolded * values <= MAX_VISITS):
            return self.unfolded * values
        return self._visits(self.references.document, self.references.root, payload, {})

    def _unfold(self, schema: Any, scope: Scope) -> int:
        """Subschemas with every reference written out."""
        if not isinstance(schema, dict):
            return 1
        if id(schema) in self._under_way or len(self._under_way) > _MAX_DEPTH:
            self._recursive = True
            return 1
        if (known := self._size.get(id(schema))) is not None:
            return known
        self.references.budget.spend(_STEPS_A_SCHEMA)
        self._under_way.add(id(schema))
        total = 1
        for _, child, inner in self._children(schema, scope):
            total += self._unfold(child, inner)
        self._under_way.discard(id(schema))
        self._size[id(schema)] = total
        return total

    def _children(self, schema: dict[str, Any], scope: Scope) -> list[tuple[str, Any, Scope]]:
        """What a schema applies: the place, the child and the scope there; references have no place."""
        inner = self.references.enter(schema, scope)
        found: list[tuple[str, Any, Scope]] = []
        for keyword in _REFERENCES:
            if isinstance(schema.get(keyword), str):
                try:
                    found.append(("", *self.references.follow(schema[keyword], inner)))
                except (UnresolvedReference, DynamicReference):
                    continue
        for place, child in subschemas(schema, self.references.dialect):
            if not place.startswith(("/$defs/", "/definitions/")):
                found.append((place, child, inner))
        return found

    def _visits(self, schema: Any, scope: Scope, value: Any, known: dict[tuple[int, int], int], depth: int = 0) -> int:
        if not isinstance(schema, dict):
            return 1
        key = (id(schema), id(value))
        if (found := known.get(key)) is not None:
            return found
        if depth > _MAX_DEPTH:
            return MAX_VISITS + 1
        self.references.budget.spend(_STEPS_A_SCHEMA)
        known[key] = total = 1
        for place, child, inner in self._children(schema, scope):
            keyword = place.split("/", 2)[1] if place else "$ref"
            for part in [value] if keyword in _IN_PLACE else _parts(keyword, place, value):
                total += self._visits(child, inner, part, known, depth + 1)
        known[key] = total
        return total


def _parts(keyword: str, place: str, value: Any) -> list[Any]:
    """The parts of ``value`` that a child schema may be asked about; more than it will is fine."""
    if isinstance(value, dict):
        if keyword == "properties":
            name = place.split("/", 2)[2].replace("~1", "/").replace("~0", "~")
            return [value[name]] if name in value else []
        return list(value.values()) if "ropert" in keyword else []
    if isinstance(value, list):
        # Equal items are often one object, but each of them is judged.
        return value if "tems" in keyword or keyword == "contains" else []
    return []
