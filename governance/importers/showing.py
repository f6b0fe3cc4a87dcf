"""What a model's client is shown of a contract: all of it but what that client refuses.

Leaving out only ever widens: whatever the contract accepts, the shown schema accepts too (but for a closed
object with a field whose name the client refuses). What the client lets through besides, the contract refuses
at the boundary. The stored contract is never touched.
"""

from __future__ import annotations

import hashlib
import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.lint.model import Client
from governance.core.lint.reading import subschemas
from governance.core.schema.dialects import dialect_of
from governance.importers.values import at, same, written

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


class _Root:
    """The root of one schema, told without some of its keywords."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._steps = 0
        dialect = dialect_of(schema)
        self._hiding = dialect is not None and dialect.ref_hides_siblings

    def without(self, refused: frozenset[str]) -> dict[str, JSON]:
        view: dict[str, Any] = {}
        self._absorb(view, self._schema, 0)
        told = {key: value for key, value in self._schema.items() if key not in refused}
        if self._is_reference(self._schema):
            told = {key: value for key, value in told.items() if key in _ASIDE}
        told.pop("unevaluatedProperties", None)  # what the branches evaluated must not become unevaluated
        own = told.get("properties")
        properties: dict[str, JSON] = view.get("properties", {})
        if told.get("additionalProperties") is False:
            properties = {name: properties[name] for name in own} if isinstance(own, dict) else {}
        told = {"type": "object", **told}
        if properties:
            told["properties"] = properties
        if view.get("required"):
            told["required"] = list(view["required"])
        for key in sorted(_TOLD & view.keys()):
            told.setdefault(key, view[key])
        return self._with_references(told)

    def _is_reference(self, schema: dict[str, JSON]) -> bool:
        """Does the reference in it hide everything else?"""
        return "$ref" in schema and self._hiding

    def _absorb(self, view: dict[str, Any], schema: JSON, depth: int) -> None:
        """Add to ``view`` what every value of ``schema`` fulfils, as far as it is said in plain fields."""
        self._steps += 1
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            return
        fields: dict[str, Any] = view.setdefault("properties", {})
        demanded: dict[str, None] = view.setdefault("required", {})
        reference = schema.get("$ref")
        if isinstance(reference, str):
            self._absorb(view, self._follow(reference), depth + 1)
            if self._hiding:
                return
        properties = schema.get("properties")
        self._steps += len(properties) if isinstance(properties, dict) else 0
        for name, child in properties.items() if isinstance(properties, dict) else ():
            if name not in fields or fields[name] == {}:
                fields[name] = child
            elif not same(fields[name], child):
                fields[name] = {"allOf": [fields[name], child]}
        required = schema.get("required")
        if isinstance(required, list):
            demanded.update(dict.fromkeys(name for name in required if isinstance(name, str)))
        for key in _TOLD:
            if isinstance(schema.get(key), str):
                view.setdefault(key, schema[key])
        branches = schema.get("allOf")
        for branch in branches if isinstance(branches, list) else ():
            self._absorb(view, branch, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            ways = schema.get(keyword)
            if isinstance(ways, list) and ways:
                self._absorb_ways(view, ways, depth + 1)

    def _absorb_ways(self, view: dict[str, Any], ways: list[JSON], depth: int) -> None:
        views: list[dict[str, Any]] = []
        for way in ways:
            seen: dict[str, Any] = {}
            self._absorb(seen, way, depth)
            views.append(seen)
        fields: dict[str, Any] = view["properties"]
        counts: dict[str, dict[str, JSON]] = {}
        holders: dict[str, int] = {}
        for seen in views:
            for name, child in seen.get("properties", {}).items():
                counts.setdefault(name, {}).setdefault(written(child), child)
                holders[name] = holders.get(name, 0) + 1
        for name, distinct in counts.items():
            if name in fields:
                continue
            schemas = list(distinct.values())
            if holders[name] < len(views):  # some way says nothing of it, and would take anything
                first = schemas[0] if isinstance(schemas[0], dict) else {}
                fields[name] = {key: first[key] for key in sorted(_TOLD & first.keys())}
            else:
                fields[name] = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        always = set.intersection(*(set(seen.get("required", ())) for seen in views))
        view["required"].update(dict.fromkeys(sorted(always)))

    def _follow(self, reference: str) -> JSON:
        """Where a local reference leads, or None."""
        return at(self._schema, reference.removeprefix("#")) if reference.startswith("#") else None

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
