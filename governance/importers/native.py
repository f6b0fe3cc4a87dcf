"""Native manifests in YAML, JSON or TOML: one skill, a list of them, or ``skills: [...]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.core.compat.model import JSON
from governance.core.document import Locate
from governance.importers.draft import SkillDraft, Source

_TELLTALE: Final = frozenset(
    {
        "timeout_sec",
        "compatibility",
        "business_rules",
        "side_effects",
        "effect_scope",
        "rollback",
        "required_permissions",
        "allowed_tools",
        "runtime_requirements",
        "requires_approval",
        "fallback",
        "entrypoint",
        "slo",
        "defaulted",
    }
)
"""Fields that only our manifests have."""


class NativeImporter:
    id = "native"
    title = "native manifest (YAML, JSON, TOML)"

    def recognises(self, source: Source) -> bool:
        return any(_is_manifest(item) for _, item in _items(source.document.value))

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        document = source.document
        for pointer, item in _items(document.value):
            fields = item if isinstance(item, dict) else {}
            yield SkillDraft(
                document=fields,
                native=True,
                external_name=str(fields.get("name") or ""),
                pointer=pointer,
                locate=_inside(document.locate, pointer),
            )


def _items(value: JSON) -> list[tuple[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get("skills"), list):
        return [(f"/skills/{index}", item) for index, item in enumerate(value["skills"])]
    if isinstance(value, list):
        return [(f"/{index}", item) for index, item in enumerate(value)]
    return [("", value)]


def _is_manifest(value: JSON) -> bool:
    if not isinstance(value, dict) or "tools" in value or "inputSchema" in value:
        return False
    return not _TELLTALE.isdisjoint(value) or {"version", "input_schema"} <= value.keys()


def _inside(locate: Locate, prefix: str) -> Locate:
    return lambda pointer: locate(prefix + pointer)


NATIVE: Final = NativeImporter()
