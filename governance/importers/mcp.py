"""MCP tools: a ``tools/list`` result, its JSON-RPC envelope, pages, a bare array, a map by name, one tool.

Keys may be camelCase, as on the wire, or snake_case. Hints become promises only where they say so; what is
not understood is kept under ``extensions.mcp`` and goes out again on export.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.document import Locate
from governance.core.fields import kind_of
from governance.core.names import slug
from governance.errors import Fault, MalformedDocument, Place
from governance.importers.draft import SkillDraft, Source
from governance.importers.tools import HINTED, SPELLINGS, read_tool, tool_contract

__all__ = ["MCP", "McpImporter", "tool_contract"]


class McpImporter:
    id = "mcp"
    title = "MCP tool list"

    def recognises(self, source: Source) -> bool:
        return _find(source.document.value) is not None

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        document = source.document
        found = _find(document.value)
        if found is None:
            return
        if found.refusal:
            raise MalformedDocument(
                f"{source.file or '<input>'}: {found.refusal}.",
                fix="Ask the server again and save its answer.",
                faults=[Fault(pointer=found.pointer, message=found.refusal, place=document.locate(found.pointer))],
            )
        for index, (pointer, key, tool) in enumerate(found.tools):
            draft = _draft(tool, key, pointer, document.locate)
            warnings = (*(found.warnings if index == 0 else ()), *draft.warnings)
            yield replace(draft, namespace=found.namespace, external_version=found.version, warnings=warnings)


def _draft(tool: JSON, key: str | None, pointer: str, locate: Locate) -> SkillDraft:
    name = key if key is not None else tool.get("name") if isinstance(tool, Mapping) else None
    here = _locator(locate, pointer)
    if not isinstance(tool, Mapping):
        fault = Fault(pointer="", message=f"a tool is an object, not {kind_of(tool)}")
        return SkillDraft(
            document={}, native=False, external_name=key or "", pointer=pointer, locate=here, faults=(fault,)
        )
    reading = read_tool(tool)
    faults = list(reading.faults)
    if not isinstance(name, str) or not name:
        faults.insert(0, Fault(pointer="/name", message="a tool has a name", code="missing"))
        name = ""
    elif key is not None and tool.get("name") not in (None, key):
        own = str(tool["name"])[:60]
        message = f"the tool calls itself {own!r} and stands under {key[:60]!r}; the latter counts"
        reading.warnings.append(Fault(pointer="/name", message=message, code="name"))
    return SkillDraft(
        document=reading.fields,
        native=False,
        external_name=name,
        defaulted=reading.defaulted,
        pointer=pointer,
        locate=here,
        warnings=tuple(replace(warning, place=here(warning.pointer)) for warning in reading.warnings),
        faults=tuple(faults),
    )


def _locator(locate: Locate, prefix: str) -> Locate:
    """From pointers into the native fields to places of the tool they came from."""

    def find(pointer: str) -> Place | None:
        if pointer.startswith("/extensions/mcp/"):
            return locate(prefix + pointer.removeprefix("/extensions/mcp"))
        first, slash, rest = pointer[1:].partition("/")
        if first in HINTED:
            return locate(prefix + "/annotations")
        for spelling in SPELLINGS.get(first, ()):
            place = locate(f"{prefix}/{spelling}{slash}{rest}")
            if place != locate(prefix):
                return place
        return locate(prefix + pointer)

    return find


@dataclass(frozen=True, kw_only=True)
class _Found:
    tools: list[tuple[str, str | None, JSON]]
    """Pointer, name if the source is a map by name, tool."""
    namespace: str = ""
    version: str | None = None
    warnings: tuple[Fault, ...] = ()
    pointer: str = ""
    refusal: str = ""


def _find(value: JSON) -> _Found | None:
    if isinstance(value, list):
        return _find_list(value)
    if not isinstance(value, dict):
        return None
    if value.get("jsonrpc") is not None and isinstance(value.get("error"), dict):
        text = str(value["error"].get("message") or "no message")[:200]
        return _Found(tools=[], pointer="/error", refusal=f"the server answered with an error: {text!r}")
    result = value.get("result")
    if isinstance(result, dict) and isinstance(result.get("tools"), list | dict):
        return _find_tools({**value, **result}, "/result")
    if isinstance(value.get("tools"), list | dict):
        return _find_tools(value, "")
    if _is_tool(value) and isinstance(value.get("name"), str):
        return _Found(tools=[("", None, value)])
    if value and 2 * sum(map(_is_tool, value.values())) >= len(value):
        return _Found(tools=_by_name(value, ""))
    return None


def _find_list(value: list[JSON]) -> _Found | None:
    maybe = (_find(page) for page in value if isinstance(page, dict) and not _is_tool(page))
    pages = [page for page in maybe if page is not None]
    if value and len(pages) == len(value):
        tools = [
            (f"/{index}{pointer}", key, tool) for index, page in enumerate(pages) for pointer, key, tool in page.tools
        ]
        return replace(pages[0], tools=tools, warnings=())
    if any(map(_is_tool, value)):
        return _Found(tools=[(f"/{index}", None, tool) for index, tool in enumerate(value)])
    return None


def _find_tools(value: dict[str, JSON], prefix: str) -> _Found:
    tools = value["tools"]
    warnings: list[Fault] = []
    if value.get("nextCursor"):
        message = "the list goes on: it ends with a nextCursor, so tools are missing here"
        warnings.append(Fault(pointer=f"{prefix}/nextCursor", message=message, code="incomplete"))
    server = value.get("serverInfo")
    server = {} if not isinstance(server, dict) else server
    package = value.get("package")
    release: JSON = value.get("version") or (None if package else server.get("version"))
    named = package if isinstance(package, str) and package else server.get("name")
    listed: list[tuple[str, str | None, JSON]]
    if isinstance(tools, dict):
        listed = _by_name(tools, f"{prefix}/tools")
    else:
        listed = [(f"{prefix}/tools/{index}", None, tool) for index, tool in enumerate(tools)]
    return _Found(
        tools=listed,
        namespace=slug(named) if isinstance(named, str) and named else "",
        version=release if isinstance(release, str) else None,
        warnings=tuple(warnings),
    )


def _by_name(tools: dict[str, JSON], prefix: str) -> list[tuple[str, str | None, JSON]]:
    return [(f"{prefix}/{escape(name)}", name, tool) for name, tool in tools.items()]


def _is_tool(value: JSON) -> bool:
    return isinstance(value, dict) and ("inputSchema" in value or "input_schema" in value)


MCP: Final = McpImporter()
