"""Anthropic tools: ``{name, description, input_schema}``, one, a list, or a request with ``tools``.

Told from MCP tools in snake case by the absence of every word only MCP has. ``input_examples`` become examples;
``cache_control``, ``strict`` and other words of the API are kept under ``extensions.anthropic``; tools that the
provider runs itself are passed over with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from governance.core.compat.model import JSON
from governance.core.lint.clients import CLIENTS
from governance.importers.draft import SkillDraft, Source
from governance.importers.functions import Dialect, Found, drafts_of, found_in

ANTHROPIC: Final = Dialect(
    id="anthropic",
    client=CLIENTS["anthropic"],
    schema_key="input_schema",
    schema_optional=False,
    constant={},
    examples_key="input_examples",
)
_MCP_ONLY: Final = frozenset(
    {"inputSchema", "outputSchema", "output_schema", "annotations", "title", "_meta", "meta", "icons", "execution"}
)
_MCP_AROUND: Final = frozenset({"jsonrpc", "result", "serverInfo", "nextCursor", "package"})


class AnthropicImporter:
    id = "anthropic"
    title = "Anthropic tool list"

    def recognises(self, source: Source) -> bool:
        return _find(source.document.value) is not None

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        found = _find(source.document.value)
        if found is not None:
            yield from drafts_of(ANTHROPIC, found, source.document)


def _find(value: JSON) -> Found | None:
    if _is_tool(value):
        return Found(tools=(("", value),), kept={}, namespace="", version=None, passed_over=())
    inside = isinstance(value, dict) and _MCP_AROUND.isdisjoint(value)
    tools = value.get("tools") if inside else value
    if not isinstance(tools, list) or not any(map(_is_tool, tools)) or any(map(_is_mcp, tools)):
        return None
    known = [_is_tool(tool) or not _is_hosted(tool) for tool in tools]
    return found_in(value, is_tool=known, tools=tools, prefix="/tools" if inside else "")


def _is_tool(value: JSON) -> bool:
    return (
        isinstance(value, dict)
        and "input_schema" in value
        and isinstance(value.get("name"), str)
        and value.get("type", "custom") == "custom"
        and not _is_mcp(value)
    )


def _is_mcp(value: JSON) -> bool:
    return isinstance(value, dict) and not _MCP_ONLY.isdisjoint(value)


def _is_hosted(value: JSON) -> bool:
    return isinstance(value, dict) and value.get("type", "custom") != "custom" and "input_schema" not in value


ANTHROPIC_TOOLS: Final = AnthropicImporter()
