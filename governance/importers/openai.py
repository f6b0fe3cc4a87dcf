"""OpenAI functions: ``{type: function, function: {…}}``, the flat ``{type: function, name, parameters}``, and
the bare ``{name, parameters}`` of old; one of them, a list, or a request with ``tools`` or ``functions``.

Both forms of a function give the same contract. A function without ``parameters`` takes no arguments.
``strict`` and other words of the API are kept under ``extensions.openai``; tools that the provider runs itself
are passed over with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from governance.core.compat.model import JSON
from governance.core.lint.clients import CLIENTS
from governance.importers.draft import SkillDraft, Source
from governance.importers.functions import Dialect, Found, drafts_of, found_in

OPENAI: Final = Dialect(
    id="openai",
    client=CLIENTS["openai"],
    schema_key="parameters",
    schema_optional=True,
    constant={"type": "function"},
    nests=True,
)


class OpenAiImporter:
    id = "openai"
    title = "OpenAI function list"

    def recognises(self, source: Source) -> bool:
        return _find(source.document.value) is not None

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        found = _find(source.document.value)
        if found is not None:
            yield from drafts_of(OPENAI, found, source.document)


def _find(value: JSON) -> Found | None:
    if _is_function(value):
        found = found_in(value, is_tool=[True], tools=[value], prefix="")
        return Found(tools=(("", value),), kept=found.kept, namespace="", version=None, passed_over=())
    for key in ("tools", "functions", None):
        tools = value if key is None else value.get(key) if isinstance(value, dict) else None
        if isinstance(tools, list) and any(map(_is_function, tools)):
            known = [_is_function(tool) or _claims(tool) for tool in tools]
            return found_in(value, is_tool=known, tools=tools, prefix=f"/{key}" if key else "")
    return None


def _is_function(value: JSON) -> bool:
    if not isinstance(value, dict) or not {"inputSchema", "input_schema", "paths"}.isdisjoint(value):
        return False
    if isinstance(value.get("function"), dict):
        return bool(value.get("type", "function") == "function")
    if not isinstance(value.get("name"), str):
        return False
    if "type" in value:
        return bool(value["type"] == "function")
    schema = value.get("parameters")
    return isinstance(schema, dict) and (schema.get("type") == "object" or isinstance(schema.get("properties"), dict))


def _claims(value: JSON) -> bool:
    """Is it meant as a function, however broken?"""
    return isinstance(value, dict) and value.get("type") == "function"


OPENAI_FUNCTIONS: Final = OpenAiImporter()
