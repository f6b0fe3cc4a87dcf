"""Function tools of the model APIs: one tool object as the fields of a native manifest, and back.

What such a tool has no words for stands beside the list, under KEPT, by the tool's name: the client gets
exactly what it takes, and nothing is lost. What is kept there is believed only where exporting it gives the
very same tool; a model must never be shown one contract while another is on record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from governance.core.canonical import escape
from governance.core.compat.model import JSON
from governance.core.contract import OUTSIDE_CONTRACT
from governance.core.document import Document, Locate
from governance.core.fields import kind_of
from governance.core.lint.model import Client
from governance.core.names import shown, slug
from governance.errors import Fault, Place
from governance.importers.draft import SkillDraft
from governance.importers.showing import shown_description, shown_name, shown_schema
from governance.importers.tools import ToolReading
from governance.importers.values import same

KEPT: Final = "x-skill-governance"
"""The key beside ``tools`` that holds, by tool name, the promises the tools cannot make."""
BESIDE: Final = "beside_function"
"""Where ``extensions`` keeps what stood beside a nested ``function``."""
NO_ARGUMENTS: Final[dict[str, JSON]] = {"type": "object", "properties": {}}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one model API writes a function tool."""

    id: str
    """The importer's id and the key of its extensions."""
    client: Client
    schema_key: str
    schema_optional: bool
    """Does a tool without a schema take no arguments (else it has none and is refused)?"""
    constant: Mapping[str, JSON]
    """What every exported tool carries."""
    examples_key: str = ""
    nests: bool = False
    """May the function stand one level down, as ``{type: function, function: {…}}``?"""

    def is_nested(self, tool: JSON) -> bool:
        return self.nests and isinstance(tool, Mapping) and "function" in tool

    def inner(self, tool: JSON) -> JSON:
        """The object with the name."""
        return tool["function"] if self.is_nested(tool) else tool


@dataclass(frozen=True, kw_only=True)
class Found:
    """The tools of one source."""

    tools: tuple[tuple[str, JSON], ...]
    """Pointer and tool."""
    kept: Mapping[str, JSON]
    namespace: str
    version: str | None
    passed_over: tuple[tuple[str, str], ...]
    """Pointer and type of tools the provider runs itself; they have no contract here."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """An exported tool and, in sentences, what the client is not shown."""

    tool: dict[str, JSON]
    losses: tuple[str, ...]


def found_in(value: JSON, *, is_tool: Iterable[bool], tools: list[JSON], prefix: str) -> Found:
    """The tools of ``tools``, which stand under ``prefix`` of ``value``."""
    listed: list[tuple[str, JSON]] = []
    passed_over: list[tuple[str, str]] = []
    for index, (tool, known) in enumerate(zip(tools, is_tool, strict=True)):
        pointer = f"{prefix}/{index}"
        if not known and isinstance(tool, Mapping) and isinstance(tool.get("type"), str):
            passed_over.append((pointer, tool["type"]))
        else:
            listed.append((pointer, tool))
    around = value if isinstance(value, Mapping) else {}
    kept, package, version = around.get(KEPT), around.get("package"), around.get("version")
    return Found(
        tools=tuple(listed),
        kept=kept if isinstance(kept, Mapping) else {},
        namespace=slug(package) if isinstance(package, str) and package else "",
        version=version if isinstance(version, str) else None,
        passed_over=tuple(passed_over),
    )


def drafts_of(dialect: Dialect, found: Found, document: Document) -> Iterator[SkillDraft]:
    """One draft a tool, in order."""
    notices = tuple(
        Fault(
            pointer=pointer,
            message=f"a tool of the type {shown(kind)} is no function: it has no contract here and is passed over",
            code="hosted-tool",
            place=document.locate(pointer),
        )
        for pointer, kind in found.passed_over
    )
    for pointer, tool in found.tools:
        draft = _draft(dialect, tool, pointer, found.kept, document.locate)
        warnings = (*notices, *draft.warnings)
        notices = ()
        yield replace(draft, namespace=found.namespace, external_version=found.version, warnings=warnings)


def _draft(dialect: Dialect, tool: JSON, pointer: str, kept: Mapping[str, JSON], locate: Locate) -> SkillDraft:
    inner, step = dialect.inner(tool), "/function" if dialect.is_nested(tool) else ""
    name = inner.get("name") if isinstance(inner, Mapping) else None
    here = _locator(dialect, locate, pointer, pointer + step, str(name))
    if not isinstance(tool, Mapping) or not isinstance(inner, Mapping):
        fault = Fault(pointer="", message=f"a tool is an object, not {kind_of(inner)}")
        return SkillDraft(document={}, native=False, pointer=pointer, locate=here, faults=(fault,))
    reading = read_function(dialect, tool)
    if not isinstance(name, str) or not name:
        reading.faults.insert(0, Fault(pointer="/name", message="a tool has a name", code="missing"))
        name = ""
    external = name
    if name in kept:
        external, reading = _believed(dialect, tool, name, kept[name], reading)
    return SkillDraft(
        document=reading.fields,
        native=False,
        external_name=external,
        defaulted=reading.defaulted,
        pointer=pointer,
        locate=here,
        warnings=tuple(replace(warning, place=here(warning.pointer)) for warning in reading.warnings),
        faults=tuple(reading.faults),
    )


def _locator(dialect: Dialect, locate: Locate, outer: str, inner: str, name: str) -> Locate:
    """From pointers into the native fields to places of the tool they came from."""
    beside = f"/extensions/{dialect.id}/{BESIDE}"

    def find(pointer: str) -> Place | None:
        if pointer.startswith("/input_schema"):
            return locate(f"{inner}/{dialect.schema_key}{pointer.removeprefix('/input_schema')}")
        if pointer.startswith("/examples") and dialect.examples_key:
            return locate(f"{inner}/{dialect.examples_key}{pointer.removeprefix('/examples')}")
        if pointer.startswith(beside):
            return locate(outer + pointer.removeprefix(beside))
        if pointer.startswith(f"/{KEPT}"):
            return locate(f"/{KEPT}/{escape(name)}")
        return locate(inner + pointer.removeprefix(f"/extensions/{dialect.id}"))

    return find


def read_function(dialect: Dialect, tool: Mapping[str, JSON]) -> ToolReading:
    """One tool object as fields of a native manifest; values are neither copied nor checked."""
    inner = dialect.inner(tool)
    key = dialect.schema_key
    fields: dict[str, JSON] = {}
    taken = {"name", "description", key}
    taken |= {dialect.examples_key} if dialect.examples_key else set()
    taken |= dialect.constant.keys() if inner is tool else set()
    rest = {field: value for field, value in inner.items() if field not in taken}
    for field, value in dialect.constant.items():
        if inner is tool and inner.get(field) not in (None, value):
            rest[field] = inner[field]
    if inner is not tool:
        beside = {field: value for field, value in tool.items() if field not in {"function", *dialect.constant}}
        rest |= {BESIDE: beside} if beside else {}
    if inner.get("description") is not None:
        fields["description"] = inner["description"]
    defaulted = {"timeout_sec", "compatibility", "output_schema"}
    if inner.get(key) is not None:
        fields["input_schema"] = inner[key]
    elif dialect.schema_optional:
        fields["input_schema"] = dict(NO_ARGUMENTS)
        defaulted.add("input_schema")
    samples = inner.get(dialect.examples_key) if dialect.examples_key else None
    if isinstance(samples, list):
        fields["examples"] = [{"input": sample} for sample in samples]
    elif samples is not None:
        rest[dialect.examples_key] = samples
    if rest:
        fields["extensions"] = {dialect.id: rest}
    description = fields.get("description")
    if description is None or (isinstance(description, str) and not description.strip()):
        defaulted.add("description")
    return ToolReading(fields=fields, defaulted=frozenset(defaulted))


def tell_function(dialect: Dialect, document: Mapping[str, JSON], *, nested: bool) -> Told:
    """The tool object for a native document, under its external name where it has one. Any JSON is taken;
    what the object does not say, :func:`kept_of` finds."""
    name = str(document.get("external_name") or document.get("name") or "")
    losses: list[str] = []
    inner: dict[str, JSON] = {"name": shown_name(name, dialect.client)}
    if inner["name"] != name:
        losses.append(f"the name {shown(name)} is not taken, it is called {inner['name']}")
    description = document.get("description")
    if isinstance(description, str) and description:
        inner["description"] = shown_description(description, dialect.client)
        if inner["description"] != description:
            losses.append(f"the description is cut to {dialect.client.description_length:,} characters")
    told = shown_schema(document.get("input_schema"), dialect.client)
    inner[dialect.schema_key] = told.schema
    losses += told.losses
    extensions = document.get("extensions")
    own = extensions.get(dialect.id) if isinstance(extensions, Mapping) else None
    taken = {"function", *inner, *dialect.constant}
    spread = dict(own) if isinstance(own, Mapping) and taken.isdisjoint(own) else {}
    beside = spread.pop(BESIDE, None)
    inner |= spread
    if not nested:
        return Told(tool={**dialect.constant, **inner}, losses=tuple(losses))
    outer = beside if isinstance(beside, Mapping) and taken.isdisjoint(beside) else {}
    return Told(tool={**dialect.constant, "function": inner, **outer}, losses=tuple(losses))


def kept_of(dialect: Dialect, tool: Mapping[str, JSON], document: Mapping[str, JSON]) -> dict[str, JSON]:
    """What reading the tool would not give back: fields of the document, null for those it has not."""
    read = read_function(dialect, tool).fields
    fields = (document.keys() | read.keys()) - OUTSIDE_CONTRACT
    kept = {field: document.get(field) for field in sorted(fields) if not same(document.get(field), read.get(field))}
    name = document.get("external_name") or document.get("name")
    return kept | ({"external_name": name} if name != dialect.inner(tool)["name"] else {})


def _believed(
    dialect: Dialect, tool: Mapping[str, JSON], name: str, kept: JSON, reading: ToolReading
) -> tuple[str, ToolReading]:
    """The external name and the reading with what was kept beside the tool, if that gives the tool again."""
    if isinstance(kept, Mapping) and (OUTSIDE_CONTRACT - {"external_name"}).isdisjoint(kept):
        external = kept.get("external_name", name)
        laid = {**reading.fields, **{field: value for field, value in kept.items() if field != "external_name"}}
        fields = {field: value for field, value in laid.items() if value is not None}
        document = {**fields, "external_name": external}
        if (
            isinstance(external, str)
            and external
            and same(tell_function(dialect, document, nested=dialect.is_nested(tool)).tool, tool)
        ):
            return external, replace(reading, fields=fields, defaulted=reading.defaulted - fields.keys())
    message = f"what is kept beside {shown(name)} does not give this tool: the tool as it stands counts"
    reading.warnings.append(Fault(pointer=f"/{KEPT}", message=message, code="kept"))
    return name, reading
