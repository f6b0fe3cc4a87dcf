"""The ways lints look at a manifest: its subschemas, its fields, and every text a model or a person reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.skill import SkillManifest

_ONE: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_MAP: Final = frozenset({"$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties"})
_ASIDE: Final = frozenset({"$defs", "definitions"})
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_PROSE: Final = frozenset({"description", "title", "$comment"})


def subschemas(schema: JSON, pointer: str, *, aside: Collection[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object schema inside ``schema``, itself first, with its pointer; in document order. What stands under
    the keywords ``aside`` is left out."""
    stack: list[tuple[str, JSON]] = [(pointer, schema)]
    while stack:
        here, node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield here, node
        inside: list[tuple[str, JSON]] = []
        for keyword, value in node.items():
            place = f"{here}/{escape(keyword)}"
            if keyword in aside:
                continue
            if keyword in _MAP and isinstance(value, dict):
                inside += [(f"{place}/{escape(key)}", child) for key, child in value.items()]
            elif keyword in _LIST and isinstance(value, list):
                inside += [(f"{place}/{index}", child) for index, child in enumerate(value)]
            elif keyword in _ONE:
                inside.append((place, value))
        stack += reversed(inside)


def both_schemas(manifest: SkillManifest) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from subschemas(manifest.input_schema, "/input_schema")
    yield from subschemas(manifest.output_schema, "/output_schema")


def offered(schema: JSON, pointer: str) -> list[tuple[str, dict[str, Any]]]:
    """:func:`subschemas` without the definitions that nothing refers to: generators repeat whole libraries of
    them in every tool. With a reference that is no plain pointer, all of them."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [""]
    while waiting:
        start = waiting.pop()
        if pointer + start in found:
            continue  # asked for by many before its turn came
        for here, node in subschemas(_at(schema, start), pointer + start, aside=_ASIDE):
            if here in found:
                continue
            found[here] = node
            for reference in (node[keyword] for keyword in _REFERENCES if keyword in node):
                if not isinstance(reference, str) or not reference.startswith("#/") or "%" in reference:
                    if reference != "#":
                        return list(subschemas(schema, pointer))
                elif pointer + reference[1:] not in found:
                    waiting.append(reference[1:])
    return list(found.items())


def _at(schema: JSON, pointer: str) -> JSON:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict):
            schema = schema.get(key)
        elif isinstance(schema, list) and key.isascii() and key.isdigit() and len(key) < 8:
            schema = schema[int(key)] if int(key) < len(schema) else None
        else:
            return None
    return schema


def fields(schema: JSON, pointer: str) -> Iterator[tuple[str, str, JSON, dict[str, Any]]]:
    """``(pointer, name, schema, parent)`` of every declared property at any depth that callers may meet."""
    for here, node in offered(schema, pointer):
        properties = node.get("properties")
        if isinstance(properties, dict):
            for name, child in properties.items():
                yield f"{here}/properties/{escape(name)}", name, child, node


def prose(manifest: SkillManifest) -> Iterator[tuple[str, str]]:
    """Every text written to be read, with its pointer: descriptions, titles, rules, meanings, instructions."""
    if manifest.title:
        yield "/title", manifest.title
    yield "/description", manifest.description
    for pointer, node in both_schemas(manifest):
        for keyword in _PROSE:
            if isinstance(node.get(keyword), str):
                yield f"{pointer}/{keyword}", node[keyword]
    for index, rule in enumerate(manifest.business_rules):
        yield f"/business_rules/{index}/text", rule.text
    for index, error in enumerate(manifest.errors):
        yield f"/errors/{index}/meaning", error.meaning
    for index, example in enumerate(manifest.examples):
        if example.when:
            yield f"/examples/{index}/when", example.when
    for name, text in (("effect_scope", manifest.effect_scope), ("rollback", manifest.rollback)):
        if text:
            yield f"/{name}", text
    yield from strings(manifest.extensions, "/extensions")


def everything_shown(manifest: SkillManifest) -> Iterator[tuple[str, str]]:
    """All of :func:`prose`, and every other string of the schemas, keys too: a model reads them all."""
    yield from prose(manifest)
    yield "/name", manifest.external_name or manifest.name
    for side, schema in (("/input_schema", manifest.input_schema), ("/output_schema", manifest.output_schema)):
        for pointer, text in strings(schema, side):
            if pointer.rpartition("/")[2] not in _PROSE:
                yield pointer, text


def strings(value: JSON, pointer: str) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value, keys included (with the pointer of their value)."""
    stack: list[tuple[str, JSON]] = [(pointer, value)]
    while stack:
        here, node = stack.pop()
        if isinstance(node, str):
            yield here, node
        elif isinstance(node, dict):
            for key, child in node.items():
                place = f"{here}/{escape(key)}"
                yield place, key
                stack.append((place, child))
        elif isinstance(node, list):
            stack += [(f"{here}/{index}", child) for index, child in enumerate(node)]


def line_of(text: str, part: str) -> int:
    """Lines into ``text`` at which ``part`` begins, whatever its case and blanks; 0 where it cannot be found."""
    if "\n" not in text:
        return 0
    found = re.search(r"\s+".join(map(re.escape, part.split()[:6] or [part])), text, re.IGNORECASE)
    return text.count("\n", 0, found.start()) if found else 0
