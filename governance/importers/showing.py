"""What a model's client is shown of a contract: all of it but what that client refuses.

Leaving out only ever widens: whatever the contract accepts, the shown schema accepts too (but for a closed
object with a field whose name the client refuses). What the client lets through besides, the contract refuses
at the boundary. The stored contract is never touched.
"""

from __future__ import annotations

import hashlib
import re
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.lint.model import Client
from governance.core.lint.reading import subschemas
from governance.core.schema.dialects import dialect_of
from governance.importers.values import at, written

_WHOLE: Final = "contract"
_MAX_STEPS: Final = 20_000
"""Branches and fields looked into; what lies beyond stays unsaid, which only widens."""
_MAX_DEPTH: Final = 24
_TOLD: Final = frozenset({"title", "description"})
_ASIDE: Final = frozenset({"$schema", "$id", "id", "$defs", "definitions"})
"""What counts beside a reference in the old drafts, because references lead to it."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A schema as a client takes it, and what it does not say, in sentences without a full stop."""

    schema: dict[str, JSON]
    losses: tuple[str, ...] = ()


def shown_name(name: str, client: Client) -> str:
    """The name under which the client can call the tool: refused characters become ``_``, and a name that is
    too long ends in eight hex digits of its hash."""
    kept = "".join(char if re.fullmatch(client.name_pattern, f"a{char}") else "_" for char in name)
    if len(kept) <= client.name_length:
        return kept
    return f"{kept[: client.name_length - 9]}_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def shown_description(text: str, client: Client) -> str:
    """The description, cut where the client would refuse it."""
    if 0 < client.description_length < len(text):
        return text[: client.description_length - 1] + "…"
    return text


def shown_schema(schema: JSON, client: Client) -> Shown:
    """The input schema as the client takes it: an object at its root, without what the client's profile
    refuses. Any JSON is taken; what is no schema is shown as little as possible."""
    if not isinstance(schema, dict):
        return Shown(schema={"type": "object"}, losses=("the schema is no object",))
    losses: list[str] = []
    root: dict[str, JSON] = deepcopy(schema)
    refused = sorted(client.root_keywords & root.keys())
    if refused:
        root = _Root(schema).without(frozenset(refused))
        losses += [f"{keyword} at the root is not taken" for keyword in refused]
    if root.get("type") != "object":
        root = {"type": "object"} | {key: value for key, value in root.items() if key != "type"}
    for pointer, node in subschemas(root, ""):
        if not client.bare_arrays and _is_bare_array(node):
            node["items"] = {}
        if client.property_pattern:
            losses += _without_fields(node, pointer, client)
    return Shown(schema=root, losses=tuple(losses))


@dataclass(kw_only=True)
class _View:
    """What every value of a schema fulfils, as far as it is said in plain fields."""

    fields: dict[str, dict[str, JSON]] = field(default_factory=dict)
    """By name, the schemas the field must fulfil, each under its fingerprint."""
    required: dict[str, None] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)


class _Root:
    """The root of one schema, told without some of its keywords."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._steps = 0
        self._prints: dict[int, tuple[JSON, str]] = {}
        dialect = dialect_of(schema)
        self._hiding = dialect is not None and dialect.ref_hides_siblings
        identifiers = {dialect.id_keyword if dialect else "$id", "$anchor", "$dynamicAnchor"}
        self._scoped = any(
            isinstance(node.get(key), str) for node in _nodes(schema)[1:] for key in identifiers & node.keys()
        )
        """Are there places where a reference means something else than at the root?"""

    def without(self, refused: frozenset[str]) -> dict[str, JSON]:
        view = _View()
        self._absorb(view, self._schema, 0)
        told = {key: value for key, value in self._schema.items() if key not in refused}
        if "$ref" in self._schema and self._hiding:
            told = {key: value for key, value in told.items() if key in _ASIDE}
        told.pop("unevaluatedProperties", None)  # what the branches evaluated must not become unevaluated
        closed = told.get("additionalProperties") is False
        own = told.get("properties")
        names = own if closed and isinstance(own, dict) else {} if closed else view.fields
        properties = {name: _all_of(view.fields.get(name, {})) for name in names}
        told = {"type": "object", **told, **({"properties": properties} if properties else {})}
        if view.required:
            told["required"] = list(view.required)
        for key, text in view.told.items():
            told.setdefault(key, text)
        if not self._scoped:
            return self._with_references(told)
        plain: dict[str, JSON] = {"type": "object", **view.told}
        plain |= {"properties": {name: _words(child) for name, child in properties.items()}} if properties else {}
        return plain | ({"required": told["required"]} if view.required else {})

    def _absorb(self, view: _View, schema: JSON, depth: int) -> None:
        self._steps += 1
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            self._absorb(view, self._follow(reference), depth + 1)
            if self._hiding:
                return
        properties, required = schema.get("properties"), schema.get("required")
        if isinstance(properties, dict):
            self._steps += len(properties)
            for name, child in properties.items():
                view.fields.setdefault(name, {})[self._print(child)] = child
        if isinstance(required, list):
            self._steps += len(required)
            view.required.update(dict.fromkeys(name for name in required if isinstance(name, str)))
        for key in _TOLD:
            if isinstance(schema.get(key), str):
                view.told.setdefault(key, schema[key])
        branches = schema.get("allOf")
        for branch in branches if isinstance(branches, list) else ():
            self._absorb(view, branch, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            ways = schema.get(keyword)
            if isinstance(ways, list) and ways:
                self._absorb_ways(view, ways, depth + 1)

    def _absorb_ways(self, view: _View, ways: list[JSON], depth: int) -> None:
        views: list[_View] = []
        for way in ways:
            seen = _View()
            self._absorb(seen, way, depth)
            views.append(seen)
        holders: dict[str, list[dict[str, JSON]]] = {}
        for seen in views:
            for name, schemas in seen.fields.items():
                holders.setdefault(name, []).append(schemas)
        for name, held in holders.items():
            if name in view.fields:
                continue
            distinct = {"&".join(sorted(schemas)): _all_of(schemas) for schemas in held}
            children = list(distinct.values())
            if len(held) < len(views):  # some way says nothing of it, and would take anything
                child = _words(children[0])
            else:
                child = children[0] if len(children) == 1 else {"anyOf": children}
            view.fields[name] = {self._print(child): child}
        always = set.intersection(*(set(seen.required) for seen in views))
        view.required.update(dict.fromkeys(sorted(always)))

    def _print(self, schema: JSON) -> str:
        """Equal for equal schemas. Remembered with the schema, so that its identity stays its own."""
        if id(schema) not in self._prints:
            self._prints[id(schema)] = schema, hashlib.sha256(written(schema).encode("utf-8", "replace")).hexdigest()
        return self._prints[id(schema)][1]

    def _follow(self, reference: str) -> JSON:
        """Where a local reference leads, or None."""
        local = reference.startswith("#") and not self._scoped
        return at(self._schema, reference.removeprefix("#")) if local else None

    def _with_references(self, told: dict[str, JSON]) -> dict[str, JSON]:
        """``told`` with every reference leading where it led: past the old root if that is no more."""
        nodes = _nodes(told)
        texts = {node["$ref"] for node in nodes if isinstance(node.get("$ref"), str)}
        local = [text for text in texts if text.startswith("#")]
        if all(text not in ("#", "#/") and self._stays(told, text) for text in local):
            return deepcopy(told)
        told = deepcopy(told)
        whole = deepcopy(self._schema)
        dialect = {key: whole.pop(key) for key in ("$schema", "$id", "id") if isinstance(whole.get(key), str)}
        told.pop("$defs", None)
        for node in {id(node): node for node in (*_nodes(told), *_nodes(whole))}.values():
            target = node.get("$ref")
            if isinstance(target, str) and (target == "#" or target.startswith("#/")):
                node["$ref"] = f"#/$defs/{_WHOLE}{target[1:]}"
        return {**dialect, **told, "$defs": {_WHOLE: whole}}

    def _stays(self, told: dict[str, JSON], reference: str) -> bool:
        return at(told, reference[1:]) is at(self._schema, reference[1:]) is not None


def _all_of(schemas: dict[str, JSON]) -> JSON:
    children = [child for child in schemas.values() if child != {}]
    return children[0] if len(children) == 1 else {"allOf": children} if children else {}


def _words(schema: JSON) -> dict[str, JSON]:
    """Title and description alone."""
    return {key: schema[key] for key in sorted(_TOLD & schema.keys())} if isinstance(schema, dict) else {}


def _nodes(schema: JSON) -> list[dict[str, Any]]:
    return [node for _, node in subschemas(schema, "")]


def _is_bare_array(node: dict[str, Any]) -> bool:
    kinds = node.get("type")
    is_array = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
    return is_array and node.keys().isdisjoint({"items", "prefixItems"})


def _without_fields(node: dict[str, Any], pointer: str, client: Client) -> list[str]:
    """Take out, in place, the fields whose names the client refuses; what that loses."""
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return []
    refused = [name for name in properties if re.fullmatch(client.property_pattern, name) is None]
    if not refused:
        return []
    node["properties"] = {name: child for name, child in properties.items() if name not in set(refused)}
    if isinstance(node.get("required"), list):
        node["required"] = [name for name in node["required"] if name not in set(refused)]
    return [f"the name of the field {pointer}/properties/{escape(name[:80])} is not taken" for name in refused]
