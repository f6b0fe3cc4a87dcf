"""A contract as one consumer uses it: the fields it sends and reads, and nothing else.

What a consumer says of itself narrows only what can be narrowed without a guess; where it cannot, the contract stays
as it was written, so that a change is rather told to one consumer too many.

Sent fields are a restriction on top of the input schema. Read fields are a projection of the output schema: what it
says of other fields is left out, as far as it says it of each field by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.schema.dialects import DEFAULT_DIALECT, dialect_of
from governance.core.skill import SkillManifest

ANY_ITEM: Final = "*"
"""In a field's pointer: every item of an array."""

MAX_DEPTH: Final = 32

_ANNOTATIONS: Final = frozenset(
    {
        "$schema", "$id", "id", "$comment", "$defs", "definitions", "title", "description", "default", "examples",
        "deprecated", "readOnly", "writeOnly",
    }
)  # fmt: skip
_EACH_FIELD: Final = frozenset({"type", "properties", "required", "additionalProperties"})
"""What speaks of each field by itself, and of nothing that several fields share."""
_ABOUT_NAMES: Final = frozenset({"propertyNames", "minProperties", "maxProperties"})
"""What speaks of which fields there are; who reads some of them does not care."""
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
"""To these a declaration more makes a difference."""
_RECURSIVE: Final = ("$recursiveRef", "$dynamicRef", "$recursiveAnchor", "$dynamicAnchor", "$anchor")


@dataclass
class _Fields:
    """Fields as a tree; a node without children is the whole value."""

    children: dict[str, _Fields] = field(default_factory=dict)
    whole: bool = False


class _CannotNarrow(Exception):
    """The schema says something of several fields at once."""


def narrowed(
    manifest: SkillManifest, *, sends: Iterable[str] | None, reads: Iterable[str] | None, told: bool = False
) -> SkillManifest:
    """``manifest`` with its schemas narrowed to the fields at these JSON Pointers; None: all of them.

    ``told``: the fields that are sent count as declared, as of a consumer that is known to send them whether it was
    told of them or not.

    The input accepts no value that the whole contract's input refuses; the output accepts every value that the whole
    one does. So whatever keeps the whole contract keeps the narrowed one.
    """
    input_schema, output_schema = manifest.input_schema, manifest.output_schema
    if sends is not None and isinstance(input_schema, dict):
        input_schema = _restricted(input_schema, _tree(sends), told=told)
    if reads is not None and isinstance(output_schema, dict):
        output_schema = _projected(output_schema, _tree(reads))
    if input_schema is manifest.input_schema and output_schema is manifest.output_schema:
        return manifest
    return replace(manifest, input_schema=input_schema, output_schema=output_schema)


def _tree(pointers: Iterable[str]) -> _Fields:
    root = _Fields()
    for pointer in pointers:
        node = root
        for token in pointer.split("/")[1:][:MAX_DEPTH]:
            node = node.children.setdefault(token.replace("~1", "/").replace("~0", "~"), _Fields())
        node.whole = True
    return root


# ── what is sent ──


def declared_names(manifest: SkillManifest) -> frozenset[str]:
    """The names of all fields that the input schema declares, wherever that is."""
    declared: set[str] = set()
    for node in _objects(manifest.input_schema):
        if isinstance(properties := node.get("properties"), dict):
            declared |= properties.keys()
    return frozenset(declared)


def names_in(pointers: Iterable[str]) -> set[str]:
    """The names of the fields on the way to these JSON Pointers."""
    tokens = {token for pointer in pointers for token in pointer.split("/")[1:]}
    return {token.replace("~1", "/").replace("~0", "~") for token in tokens - {ANY_ITEM}}


def added_pointer(manifest: SkillManifest) -> str:
    """Where the declarations of ``told`` stand in a narrowed input schema, and nowhere in the whole one."""
    schema = manifest.input_schema
    return f"/allOf/{len(schema.get('allOf', []))}" if isinstance(schema, dict) else "/allOf/0"


def _restricted(schema: dict[str, Any], fields: _Fields, *, told: bool) -> JSON:
    if fields.whole or _refers_to_itself(schema):
        return schema
    dialect = dialect_of(schema) or DEFAULT_DIALECT
    if "$ref" in schema and dialect.ref_hides_siblings:
        return schema
    # denied twice: a restriction declares no field and evaluates none, it only refuses the others
    restriction = {"not": {"not": _only(fields)}}
    evaluates = any(keyword in node for node in _objects(schema) for keyword in _UNEVALUATED)
    declared = [_declared(fields)] if told and not evaluates else []
    return {**schema, "allOf": [*schema.get("allOf", []), *declared, restriction]}


def _declared(fields: _Fields) -> dict[str, Any]:
    """A schema that refuses nothing and declares the fields."""
    if fields.whole:
        return {}
    children = dict(fields.children)
    items = children.pop(ANY_ITEM, None)
    found: dict[str, Any] = {"properties": {name: _declared(child) for name, child in children.items()}}
    return found if items is None else {**found, "items": _declared(items)}


def _only(fields: _Fields) -> JSON:
    if fields.whole:
        return {}
    children = dict(fields.children)
    items = children.pop(ANY_ITEM, None)
    found: dict[str, Any] = {
        "properties": {name: _only(child) for name, child in children.items()},
        "additionalProperties": False,
    }
    if items is not None:
        found["items"] = _only(items)
    return found


def _refers_to_itself(schema: JSON) -> bool:
    """Does something inside refer to the root, so that what is added there would hold inside too?"""
    own = {"#", "", schema.get("$id"), schema.get("id")} if isinstance(schema, dict) else {"#"}
    for node in _objects(schema):
        reference = node.get("$ref")
        if isinstance(reference, str) and (reference in own or reference.removesuffix("#") in own):
            return True
        if any(keyword in node for keyword in _RECURSIVE):
            return True
    return False


def _objects(schema: JSON) -> Iterator[dict[str, Any]]:
    """Every object in a document."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


# ── what is read ──


def _projected(schema: dict[str, Any], fields: _Fields) -> JSON:
    dialect = dialect_of(schema) or DEFAULT_DIALECT
    try:
        found = _project(schema, fields, schema, hides=dialect.ref_hides_siblings, depth=0)
    except _CannotNarrow:
        return schema
    kept = {key: schema[key] for key in ("$schema", "$id", "id", "$defs", "definitions") if key in schema}
    return {**found, **kept} if isinstance(found, dict) else schema


def _project(node: JSON, fields: _Fields, root: dict[str, Any], *, hides: bool, depth: int) -> JSON:
    """``node`` as far as it speaks of ``fields``. Raises _CannotNarrow at the root; inside, it stays whole instead."""
    if fields.whole or not isinstance(node, dict):
        return node
    if depth > MAX_DEPTH:
        raise _CannotNarrow
    said = {keyword for keyword in node.keys() - _ANNOTATIONS if not keyword.startswith("x-")}
    if "$ref" in node and (hides or said == {"$ref"}):
        return _project(_target(node["$ref"], root), fields, root, hides=hides, depth=depth + 1)
    if said == {"anyOf"}:
        # what is read of one of several shapes is one of what is read of each
        return {"anyOf": [_inside(one, fields, root, hides=hides, depth=depth + 1) for one in node["anyOf"]]}
    if said <= {"type", "items", "minItems", "maxItems"} and set(fields.children) == {ANY_ITEM}:
        item = _inside(node.get("items", {}), fields.children[ANY_ITEM], root, hides=hides, depth=depth + 1)
        return {**{key: node[key] for key in said}, "items": item}
    if not said <= _EACH_FIELD | _ABOUT_NAMES or ANY_ITEM in fields.children:
        raise _CannotNarrow
    properties = node.get("properties", {})
    undeclared = any(name not in properties for name in fields.children)
    if undeclared and node.get("additionalProperties", True) not in (True, False):
        raise _CannotNarrow  # something is said of a field that does not stand beside its name
    found: dict[str, Any] = {key: node[key] for key in ("type",) if key in node}
    found["properties"] = {
        name: _inside(properties[name], child, root, hides=hides, depth=depth + 1)
        for name, child in fields.children.items()
        if name in properties
    }
    required = [name for name in node.get("required", ()) if name in fields.children]
    return {**found, "required": required} if required else found


def _inside(node: JSON, fields: _Fields, root: dict[str, Any], *, hides: bool, depth: int) -> JSON:
    try:
        return _project(node, fields, root, hides=hides, depth=depth)
    except _CannotNarrow:
        return node


def _target(reference: JSON, root: dict[str, Any]) -> JSON:
    """What a reference within the document leads to, by pointer alone."""
    if not isinstance(reference, str) or not reference.startswith("#/") or "$id" in root or "id" in root:
        raise _CannotNarrow
    node: JSON = root
    for token in reference[2:].split("/"):
        token = token.replace("~1", "/").replace("~0", "~")
        if "%" in token or not isinstance(node, dict) or token not in node:
            raise _CannotNarrow
        node = node[token]
    return node
