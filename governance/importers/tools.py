"""One MCP tool object as the fields of a native manifest, and back: the words both sides have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.contract import (
    OUTSIDE_CONTRACT,
    SideEffects,
    SkillManifest,
    invalid_contract,
    manifest_from_document,
)
from governance.core.fields import kind_of
from governance.errors import Fault
from governance.importers.values import same

OVERLAY: Final = "skill-governance/contract"
"""The ``_meta`` key under which an exported tool carries the promises MCP has no words for."""

SPELLINGS: Final = {
    "input_schema": ("inputSchema", "input_schema"),
    "output_schema": ("outputSchema", "output_schema"),
}
_UNDERSTOOD: Final = frozenset(
    {
        "name",
        "title",
        "description",
        "annotations",
        "inputSchema",
        "input_schema",
        "outputSchema",
        "output_schema",
    }
)
_NOT_OVERLAID: Final = OUTSIDE_CONTRACT | {"description"}
"""What only the tool itself says, or whoever publishes it."""
HINTED: Final = frozenset({"side_effects", "dangerous", "idempotent"})


@dataclass(frozen=True, kw_only=True)
class ToolReading:
    """What one tool object says: fields of a native manifest, which of them were not given, and doubts."""

    fields: dict[str, JSON]
    defaulted: frozenset[str]
    overlaid: bool = False
    warnings: list[Fault] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def tool_contract(tool: Mapping[str, JSON], *, name: str, version: str) -> SkillManifest:
    """The contract of one tool object for a comparison: any name goes, and the schemas are not checked beyond
    being schemas at all (``engine.check`` judges them).

    The result shares the schemas with ``tool``: do not change them afterwards.

    Raises:
        InvalidContract: not an object, no input schema, or a field of the wrong kind; pointers are those of
            a native manifest (``/input_schema``).
    """
    if not isinstance(tool, Mapping):
        raise invalid_contract([Fault(pointer="", message=f"a tool is an object, not {kind_of(tool)}")])
    reading = read_tool(tool)
    fields, faults = reading.fields, list(reading.faults)
    if "input_schema" not in fields:
        faults.append(Fault(pointer="/input_schema", message="a tool has an inputSchema", code="missing"))
    for key in ("input_schema", "output_schema"):
        if key in fields and not isinstance(fields[key], dict | bool):
            message = f"a schema is an object or a boolean, not {kind_of(fields[key])}"
            faults.append(Fault(pointer=f"/{key}", message=message, code="schema-type"))
    for key in ("description", "title"):
        if key in fields and not isinstance(fields[key], str):
            faults.append(Fault(pointer=f"/{key}", message=f"a string is expected, not {kind_of(fields[key])}"))
    if faults:
        raise invalid_contract(faults)
    if reading.overlaid:
        document = {"name": "tool", **fields, "defaulted": sorted(reading.defaulted)}
        return replace(manifest_from_document(document, native=False), name=name, version=version)
    effects = fields.get("side_effects")
    return SkillManifest(
        name=name,
        version=version,
        title=fields.get("title"),
        description=fields.get("description", ""),
        input_schema=fields["input_schema"],
        output_schema=fields.get("output_schema"),
        side_effects=SideEffects(effects) if effects else None,
        dangerous=fields.get("dangerous", False),
        idempotent=fields.get("idempotent"),
        extensions=fields.get("extensions", {}),
        defaulted=reading.defaulted,
    )


def typed_root(schema: JSON) -> dict[str, JSON] | None:
    """A schema of objects as MCP clients take it, with ``type: object`` written at its root; None where that
    cannot be written without changing another type."""
    if schema is False:
        return {"type": "object", "not": {}}
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return None
    return {"type": "object", **schema}


def read_tool(tool: Mapping[str, JSON]) -> ToolReading:
    """One tool object as fields of a native manifest; values are neither copied nor checked."""
    fields: dict[str, JSON] = {}
    rest = {key: value for key, value in tool.items() if key not in _UNDERSTOOD}
    warnings: list[Fault] = []
    faults: list[Fault] = []
    for key in ("title", "description"):
        if tool.get(key) is not None:
            fields[key] = tool[key]
    for key, spellings in SPELLINGS.items():
        for spelling in spellings:
            if tool.get(spelling) is None:
                continue
            if key in fields:
                rest[spelling] = tool[spelling]
            else:
                fields[key] = tool[spelling]
    annotations = tool.get("annotations")
    if isinstance(annotations, Mapping):
        left = _read_annotations(annotations, fields, warnings)
        if left:
            rest["annotations"] = left
    elif annotations is not None:
        faults.append(Fault(pointer="/annotations", message=f"an object is expected, not {kind_of(annotations)}"))
    overlay = _take_overlay(rest, fields, warnings)
    if "side_effects" in overlay and isinstance(rest.get("annotations"), dict):
        # The overlay says exactly what the two hints could only hint at.
        exact = ("readOnlyHint", "destructiveHint")
        hints = {key: value for key, value in rest["annotations"].items() if key not in exact}
        rest = {key: value for key, value in rest.items() if key != "annotations"}
        rest |= {"annotations": hints} if hints else {}
    if rest:
        fields["extensions"] = {"mcp": rest}
    defaulted = {"timeout_sec", "compatibility"} | {"description", "output_schema"} - fields.keys()
    if isinstance(fields.get("description"), str) and not fields["description"].strip():
        defaulted.add("description")  # blank text says no more than none
    if overlay:
        _lay_over(fields, overlay)
        defaulted -= {"timeout_sec"} & overlay.keys()
    return ToolReading(
        fields=fields,
        defaulted=frozenset(defaulted),
        overlaid=bool(overlay),
        warnings=warnings,
        faults=faults,
    )


def _read_annotations(
    annotations: Mapping[str, JSON], fields: dict[str, JSON], warnings: list[Fault]
) -> dict[str, JSON]:
    """Put what the hints promise into ``fields``; give back what was not used."""
    left = dict(annotations)
    if "title" not in fields and isinstance(left.get("title"), str):
        fields["title"] = left.pop("title")
    for hint in ("readOnlyHint", "destructiveHint", "idempotentHint"):
        if not isinstance(left.get(hint), bool | None):
            message = f"{hint} is {kind_of(left[hint])}, not true or false: it promises nothing"
            warnings.append(Fault(pointer="/annotations", message=message, code="hint"))
    reads, destroys = left.get("readOnlyHint"), left.get("destructiveHint")
    if destroys is True:
        fields["side_effects"], fields["dangerous"] = SideEffects.DESTRUCTIVE.value, True
        del left["destructiveHint"]
        if reads is True:
            message = "readOnlyHint and destructiveHint contradict each other; the worse is believed"
            warnings.append(Fault(pointer="/annotations", message=message, code="hint"))
        elif reads is False:
            del left["readOnlyHint"]
    elif reads is True:
        fields["side_effects"] = SideEffects.READ.value
        del left["readOnlyHint"]
    elif reads is False and destroys is False:
        fields["side_effects"] = SideEffects.WRITE.value
        del left["readOnlyHint"], left["destructiveHint"]
    if isinstance(left.get("idempotentHint"), bool):
        fields["idempotent"] = left.pop("idempotentHint")
    return left


def _take_overlay(rest: dict[str, JSON], shown: Mapping[str, JSON], warnings: list[Fault]) -> dict[str, JSON]:
    """Ours, if it says nothing else than the tool: a schema there differs at most in a root that clients want
    typed, or is an output that the tool keeps quiet about. Else it is kept as it is, and a warning says why."""
    meta = rest.get("_meta")
    overlay = meta.get(OVERLAY) if isinstance(meta, Mapping) else None
    if not isinstance(meta, Mapping) or not isinstance(overlay, Mapping):
        return {}
    if complaint := _unheard(overlay, shown):
        pointer = f"/extensions/mcp/_meta/{escape(OVERLAY)}"
        warnings.append(Fault(pointer=pointer, message=f"{OVERLAY} is not heard: {complaint}", code="overlay"))
        return {}
    left = {key: value for key, value in meta.items() if key != OVERLAY}
    if left:
        rest["_meta"] = left
    else:
        del rest["_meta"]
    return dict(overlay)


def _unheard(overlay: Mapping[str, JSON], shown: Mapping[str, JSON]) -> str:
    """Why an overlay says something else than its tool; empty if it does not."""
    for key in sorted(_NOT_OVERLAID & overlay.keys()):
        return f"it says {key}, which is not its to say"
    for key in sorted(SPELLINGS.keys() & overlay.keys()):
        quiet = key == "output_schema" and key not in shown
        if not quiet and (key not in shown or not same(typed_root(overlay[key]), shown[key])):
            return f"its {key} is another than the tool's"
    return ""


def _lay_over(fields: dict[str, JSON], overlay: dict[str, JSON]) -> None:
    for key, value in overlay.items():
        if key == "extensions" and isinstance(value, Mapping):
            own = fields.get("extensions", {})
            carried = value.get("mcp")
            merged = {**(carried if isinstance(carried, Mapping) else {}), **own.get("mcp", {})}
            fields[key] = {**value, **({"mcp": merged} if merged else {})}
        elif value is None:
            fields.pop(key, None)
        else:
            fields[key] = value
