"""CLIENTS: what the clients in use refuse in the tools they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from governance.core.canonical import escape
from governance.core.lint.model import Client, Spot
from governance.core.lint.reading import both_schemas, subschemas
from governance.core.skill import SkillManifest

_COMBINATORS: Final = frozenset({"allOf", "anyOf", "oneOf", "not"})

CLIENTS: Final[dict[str, Client]] = {
    client.id: client
    for client in (
        Client(
            id="openai",
            title="OpenAI function calling",
            name_length=64,
            name_pattern=r"[A-Za-z0-9_-]+",
            prefixed=True,
            root_keywords=_COMBINATORS | {"enum", "$ref"},
            bare_arrays=False,
            description_length=1_024,
        ),
        Client(
            id="anthropic",
            title="Anthropic tool use",
            name_length=64,
            name_pattern=r"[A-Za-z0-9_-]+",
            prefixed=True,
            root_keywords=frozenset({"allOf", "anyOf", "oneOf"}),
            property_pattern=r"[A-Za-z0-9_.-]{1,64}",
        ),
        Client(
            id="gemini",
            title="Gemini function calling",
            name_length=64,
            name_pattern=r"[A-Za-z_][A-Za-z0-9_.-]*",
            prefixed=True,
            root_keywords=_COMBINATORS,
            keywords=frozenset({"$ref"}),
            type_lists=False,
            bare_arrays=False,
        ),
        Client(
            id="mcp",
            title="Model Context Protocol",
            name_length=128,
            name_pattern=r"[A-Za-z0-9_.-]+",
            prefixed=False,
            output_root_type=True,
        ),
    )
}


def client_name(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    own = manifest.external_name or manifest.name.rpartition(".")[2]
    server = manifest.namespace.replace(".", "_")
    full = f"mcp__{server}__{own}" if client.prefixed and server else own
    if re.fullmatch(client.name_pattern, own) is None:
        yield Spot("/name", f"{client.title} refuses the characters of {own[:80]!r}")
    if len(full) > client.name_length:
        message = f"{client.title} takes names of {client.name_length} characters; {full[:100]!r} has {len(full)}"
        yield Spot("/name", message)


def client_description(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    if 0 < client.description_length < len(manifest.description):
        yield Spot(
            "/description",
            f"{client.title} takes descriptions of {client.description_length:,} characters, "
            f"this one has {len(manifest.description):,}",
        )


def client_root(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    schema = manifest.input_schema
    if isinstance(schema, dict):
        for keyword in sorted(client.root_keywords & schema.keys()):
            yield Spot(f"/input_schema/{escape(keyword)}", f"{client.title} refuses {keyword} at the root")
    roots = (
        ("input_schema", schema, client.root_type),
        ("output_schema", manifest.output_schema, client.output_root_type),
    )
    for side, root, typed in roots:
        if typed and root is not None and (not isinstance(root, dict) or root.get("type") != "object"):
            yield Spot(f"/{side}", f'{client.title} wants "type": "object" written at the root')


def client_keywords(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    for pointer, node in subschemas(manifest.input_schema, "/input_schema"):
        for keyword in sorted(client.keywords & node.keys()):
            yield Spot(f"{pointer}/{escape(keyword)}", f"{client.title} refuses {keyword}")


def client_type_list(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    if client.type_lists:
        return
    for pointer, node in subschemas(manifest.input_schema, "/input_schema"):
        if isinstance(node.get("type"), list):
            yield Spot(f"{pointer}/type", f"{client.title} refuses a list of types")


def client_bare_array(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    if client.bare_arrays:
        return
    for pointer, node in both_schemas(manifest):
        kinds = node.get("type")
        is_array = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
        if is_array and pointer.startswith("/input_schema") and node.keys().isdisjoint({"items", "prefixItems"}):
            yield Spot(pointer, f"{client.title} refuses an array without items")


def client_property(manifest: SkillManifest, client: Client) -> Iterator[Spot]:
    if not client.property_pattern:
        return
    for pointer, node in subschemas(manifest.input_schema, "/input_schema"):
        properties = node.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            if re.fullmatch(client.property_pattern, name) is None:
                place = f"{pointer}/properties/{escape(name)}"
                yield Spot(place, f"{client.title} refuses the field name {name[:80]!r}")
