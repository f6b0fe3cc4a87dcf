"""From manifests back to sources: native text, an MCP tool, a SKILL.md. What is exported imports again with
the same contract digest; what a format has no words for travels in a field of ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.contract import OUTSIDE_CONTRACT, SideEffects, SkillManifest
from governance.core.schema.load import accepts_only_objects
from governance.errors import InvalidRequest
from governance.importers.skill_md import allowed_tools_of
from governance.importers.tools import OVERLAY, read_tool, typed_root
from governance.importers.yaml_text import write_yaml

_HINTS: Final[dict[SideEffects | None, dict[str, JSON]]] = {
    SideEffects.NONE: {"readOnlyHint": True},
    SideEffects.READ: {"readOnlyHint": True},
    SideEffects.WRITE: {"readOnlyHint": False, "destructiveHint": False},
    SideEffects.EXTERNAL: {"readOnlyHint": False},
    SideEffects.DESTRUCTIVE: {"readOnlyHint": False, "destructiveHint": True},
    None: {},
}
_TAKEN: Final = frozenset(
    {"name", "title", "description", "inputSchema", "input_schema", "outputSchema", "output_schema"}
)
_FRONT: Final = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
"""The order in which front matter is usually written."""


def export_native(manifest: SkillManifest, *, format: str = "yaml") -> str:
    """The native manifest as ``yaml`` or ``json`` text.

    Raises:
        InvalidRequest: another format.
    """
    document = manifest.to_document()
    match format:
        case "yaml":
            return write_yaml(document)
        case "json":
            return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        case _:
            raise InvalidRequest(
                f"A native manifest is written as yaml or json, not {format}.", fix="Choose one of them."
            )


def export_mcp(manifest: SkillManifest) -> dict[str, JSON]:
    """The tool object of an MCP ``tools/list`` answer, under its external name where it has one.

    Clients want ``type: object`` written at the root of both schemas: it is written where that changes nothing,
    and an output of anything but objects is not shown. What that leaves out, and promises MCP has no words for,
    stand in ``_meta`` under OVERLAY.

    Raises:
        InvalidRequest: a knowledge skill without an input schema is no tool.
    """
    document = manifest.to_document()
    if "input_schema" not in document:
        raise InvalidRequest(
            f"{manifest.name} has no input schema, so it is no MCP tool.", fix="Export it as native or skill-md."
        )
    kept = document.get("extensions", {}).get("mcp")
    spreads = [kept, {}] if isinstance(kept, dict) and _TAKEN.isdisjoint(kept) else [{}]
    for spread in spreads:
        tool = _plain_tool(manifest, document, spread)
        if _complete(tool, document):
            return tool
    raise InvalidRequest(f"{manifest.name} cannot be told as an MCP tool.", fix="Export it as native.")


def export_catalogue(manifests: list[SkillManifest]) -> dict[str, JSON]:
    """A ``tools/list`` result over all manifests that are tools, in the order given."""
    return {"tools": [export_mcp(manifest) for manifest in manifests if manifest.input_schema is not None]}


def export_skill_md(manifest: SkillManifest) -> str:
    """The SKILL.md the skill came from, with today's version in ``metadata``.

    Raises:
        InvalidRequest: the skill did not come from one, or has gained promises a SKILL.md cannot make.
    """
    document = manifest.to_document()
    source = document.get("extensions", {}).get("skill_md")
    if not isinstance(source, dict) or not isinstance(source.get("body"), str):
        raise InvalidRequest(
            f"{manifest.name} did not come from a SKILL.md.", fix="Export it as native or as an MCP tool."
        )
    if beyond := _beyond_skill_md(document):
        raise InvalidRequest(
            f"A SKILL.md has no words for {', '.join(beyond)} of {manifest.name}.", fix="Export it as native."
        )
    front = {key: value for key, value in source.items() if key != "body"}
    front["name"] = manifest.external_name or manifest.name.rpartition(".")[2].replace("_", "-")
    front["description"] = manifest.description
    if manifest.allowed_tools:
        tools, line = list(manifest.allowed_tools), " ".join(manifest.allowed_tools)
        front["allowed-tools"] = line if allowed_tools_of(line, []) == tools else tools
    version = manifest.external_version or manifest.version
    metadata = front.get("metadata", {})
    if version and isinstance(metadata, dict):
        front["metadata"] = {**metadata, "version": version}
    ordered = {key: front.pop(key) for key in _FRONT if key in front} | front
    return f"---\n{write_yaml(ordered)}---\n{source['body']}"


def _plain_tool(manifest: SkillManifest, document: Mapping[str, Any], spread: Mapping[str, JSON]) -> dict[str, JSON]:
    tool: dict[str, JSON] = {"name": manifest.external_name or manifest.name}
    for key in ("title", "description"):
        if key in document:
            tool[key] = document[key]
    tool["inputSchema"] = typed_root(document["input_schema"]) or document["input_schema"]
    output = typed_root(document.get("output_schema"))
    if output is not None and accepts_only_objects(document["output_schema"]):
        tool["outputSchema"] = output
    kept = spread.get("annotations")
    annotations: dict[str, JSON] = {
        **(kept if isinstance(kept, dict) else {}),
        **_HINTS[manifest.side_effects],
    }
    if manifest.idempotent is not None:
        annotations["idempotentHint"] = manifest.idempotent
    tool |= {key: value for key, value in spread.items() if key != "annotations"}
    if annotations or "annotations" in spread:
        tool["annotations"] = annotations
    return tool


def _complete(tool: dict[str, JSON], document: Mapping[str, Any]) -> bool:
    """Add to the tool, in place, what reading it would not give back; False if that cannot be done."""
    overlay: dict[str, JSON] = {}
    for _ in range(3):  # an overlay can change how hints are read, and so ask for more of itself
        read = read_tool(tool).fields
        keys = (document.keys() | read.keys()) - OUTSIDE_CONTRACT
        missing = {key: document.get(key) for key in sorted(keys) if document.get(key) != read.get(key)}
        if not missing:
            return True
        if len(missing) > 1:
            missing.pop("extensions", None)  # hints the overlay replaces may be all that differs in them
        overlay |= missing
        meta = tool.get("_meta")
        tool["_meta"] = {**(meta if isinstance(meta, dict) else {}), OVERLAY: overlay}
    return False


def _beyond_skill_md(document: Mapping[str, Any]) -> list[str]:
    told = {"name", "version", "description", "category", "allowed_tools", "business_rules", "extensions"}
    return sorted(document.keys() - told - OUTSIDE_CONTRACT)
