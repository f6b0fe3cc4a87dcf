"""The skill contract: from a document to a checked :class:`SkillManifest`, every fault found and located.

``govctl explain contract`` is the table of fields. This module is the door: import the values from here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from datetime import date
from typing import Final

from governance.core.canonical import uncanonical
from governance.core.compat.model import JSON, Level
from governance.core.document import Locate, nowhere
from governance.core.fields import Fields
from governance.core.names import is_name, name_complaint, shown, snake_name
from governance.core.parts import (
    TOKEN,
    read_errors,
    read_examples,
    read_fallback,
    read_reference,
    read_rules,
    read_runtime,
    read_slo,
)
from governance.core.schema.load import accepts_only_objects, schema_faults
from governance.core.skill import (
    DEFAULT_TIMEOUT_SEC,
    OUTSIDE_CONTRACT,
    UNVERSIONED,
    BusinessError,
    BusinessRule,
    Category,
    Example,
    FallbackStep,
    RuntimeRequirements,
    SideEffects,
    SkillManifest,
    Slo,
    Status,
)
from governance.core.versioning import Version
from governance.errors import Fault, GovernanceError, InvalidContract

__all__ = [
    "DEFAULT_TIMEOUT_SEC",
    "OUTSIDE_CONTRACT",
    "REQUIRED",
    "UNVERSIONED",
    "BusinessError",
    "BusinessRule",
    "Category",
    "Example",
    "FallbackStep",
    "RuntimeRequirements",
    "SideEffects",
    "SkillManifest",
    "Slo",
    "Status",
    "invalid_contract",
    "manifest_from_document",
]

REQUIRED: Final = (
    "name",
    "version",
    "compatibility",
    "description",
    "input_schema",
    "output_schema",
    "timeout_sec",
)
"""What a native manifest must give, unless it lists the field under ``defaulted``, as exported imports do."""

MAX_FAULTS: Final = 100
"""Faults reported for one document; after that a hundred more would help nobody."""

_ENTRYPOINT: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*|(mcp|https?):\S+")
_URL: Final = re.compile(r"https?://[^\s/?#]+[^\s]*")


def manifest_from_document(value: JSON, *, native: bool = True, locate: Locate = nowhere) -> SkillManifest:
    """The manifest a document describes.

    Args:
        value: JSON as ``read_json`` gives it; it is copied.
        native: the author wrote the contract, so every field of REQUIRED must stand in it; otherwise only
            the name must, and a missing version becomes UNVERSIONED.
        locate: turns a pointer into this document into a place of its source, for the faults.

    Raises:
        InvalidContract: with every fault, each with its pointer and place.
    """
    fields = Fields(value)
    manifest = _read(fields, native=native) if not fields.faults else None
    faults = [*fields.faults, *uncanonical(value)]
    if faults or manifest is None:
        raise invalid_contract(faults, locate=locate, name=_name_of(value))
    vars(manifest)["checked"] = True
    return manifest


def invalid_contract(faults: Iterable[Fault], *, locate: Locate = nowhere, name: str = "") -> InvalidContract:
    """The error over collected faults, each located."""
    listed = list(faults)
    placed = [fault if fault.place else replace(fault, place=locate(fault.pointer)) for fault in listed[:MAX_FAULTS]]
    first = placed[0]
    more = f" (and {len(listed) - 1} more)" if len(listed) > 1 else ""
    subject = f"The contract of {name}" if name else "The contract"
    where = f"{first.place}: " if first.place else ""
    return InvalidContract(
        f"{where}{subject} is not valid: {first.pointer or '/'}: {first.message}{more}.",
        fix="Correct the fields named; `govctl explain contract` lists what each may hold.",
        faults=placed,
    )


def _read(fields: Fields, *, native: bool) -> SkillManifest:
    defaulted = frozenset(fields.texts("defaulted"))
    category = fields.choice("category", Category) or Category.TOOL
    if native:
        _demand(fields, defaulted, category)
    manifest = SkillManifest(
        name=_name(fields),
        version=_version(fields, "version") or UNVERSIONED,
        compatibility=_level(fields),
        title=fields.text("title", limit=1_000),
        description=fields.text("description") or "",
        input_schema=_schema(fields, "input_schema", required=category is not Category.KNOWLEDGE),
        output_schema=_schema(fields, "output_schema", required=False),
        business_rules=read_rules(fields),
        errors=read_errors(fields),
        timeout_sec=fields.number("timeout_sec", lambda n: n > 0, "more than 0 seconds") or DEFAULT_TIMEOUT_SEC,
        category=category,
        tags=fields.texts("tags", pattern=TOKEN, meaning="a tag"),
        owner=fields.matching("owner", TOKEN, "an owner", limit=200),
        side_effects=fields.choice("side_effects", SideEffects),
        effect_scope=fields.text("effect_scope"),
        rollback=fields.text("rollback"),
        idempotent=fields.flag("idempotent"),
        required_permissions=fields.texts("required_permissions", pattern=TOKEN, meaning="a permission"),
        allowed_tools=fields.texts("allowed_tools", pattern=TOKEN, meaning="a tool"),
        runtime_requirements=read_runtime(fields),
        requires_approval=fields.flag("requires_approval") or False,
        dangerous=fields.flag("dangerous") or False,
        slo=read_slo(fields),
        entrypoint=fields.matching("entrypoint", _ENTRYPOINT, "module.submodule:function, mcp:… or http:…"),
        examples=read_examples(fields),
        fallback=read_fallback(fields),
        deprecated_since=_version(fields, "deprecated_since"),
        sunset=_day(fields, "sunset"),
        replacement=_successor(fields),
        migration_guide=fields.matching("migration_guide", _URL, "an http or https URL"),
        status=(fields.choice("status", Status) or Status.ACTIVE).value,
        external_name=fields.text("external_name", limit=1_000),
        external_version=fields.text("external_version", limit=1_000),
        extensions=_extensions(fields),
        defaulted=defaulted,
    )
    fields.close()
    return manifest


def _demand(fields: Fields, defaulted: frozenset[str], category: Category) -> None:
    for name in REQUIRED:
        if fields.has(name) or name in defaulted:
            continue
        if category is Category.KNOWLEDGE and name.endswith("_schema"):
            continue
        fields.fault(name, "a native manifest must give this field", code="missing")
    if fields.is_blank("description") and "description" not in defaulted:
        fields.fault("description", "this says when to use the skill; it is empty", code="missing")


def _name_of(value: JSON) -> str:
    name = value.get("name") if isinstance(value, dict) else None
    return str(name) if is_name(name) else ""


def _name(fields: Fields) -> str:
    if not fields.has("name"):
        if fields.take("name") is None and not any(f.pointer == "/name" for f in fields.faults):
            fields.fault("name", "a skill has a name", code="missing")
        return ""
    name = fields.take("name")
    if not is_name(name):
        near = snake_name(name) if isinstance(name, str) and name else ""
        hint = f'; "{near}" would do' if is_name(near) else ""
        fields.fault("name", f"{shown(name)} is not a skill name: {name_complaint(name)}{hint}", code="name")
        return ""
    return str(name)


def _version(fields: Fields, name: str) -> str | None:
    value = fields.text(name)
    if value is None:
        return None
    try:
        Version.parse(value)
    except GovernanceError as error:
        fields.fault(name, error.message.removesuffix("."), code="version")
        return None
    return value


def _level(fields: Fields) -> Level | None:
    level = fields.choice("compatibility", Level)
    if level is Level.UNDECIDED:
        fields.fault("compatibility", "nobody can declare undecided; declare what you promise", code="choice")
        return None
    return level


def _schema(fields: Fields, name: str, *, required: bool) -> JSON:
    absent = not fields.has(name)
    value = fields.take(name)
    if absent:
        if required and not any(fault.pointer == fields.at(name) for fault in fields.faults):
            fields.fault(name, "a skill has an input schema", code="missing")
        return None
    found = schema_faults(value)
    fields.faults.extend(replace(fault, pointer=fields.at(name) + fault.pointer) for fault in found)
    if not found and name == "input_schema" and not accepts_only_objects(value):
        message = 'the input must accept only objects: write "type": "object" at its root'
        fields.fault(name, message, code="object-root")
    return deepcopy(value)


def _successor(fields: Fields) -> str | None:
    """``none`` is an answer too: there is no successor, and that is known."""
    if fields.peek("replacement") == "none":
        return str(fields.take("replacement"))
    return read_reference(fields, "replacement")


def _day(fields: Fields, name: str) -> str | None:
    value = fields.text(name, limit=40)
    if value is None:
        return None
    try:
        if len(value) == 10:
            return date.fromisoformat(value).isoformat()
    except ValueError:
        pass
    fields.fault(name, f"{shown(value)} is not a date such as 2027-05-31")
    return None


def _extensions(fields: Fields) -> dict[str, JSON]:
    value = fields.take("extensions")
    if value is None:
        return {}
    if not isinstance(value, dict):
        fields.fault("extensions", "an object by source name is expected")
        return {}
    return deepcopy(value)
