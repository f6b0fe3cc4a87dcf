"""Rows of CODES for what no set of values can show: risky changes, notes, and places left undecided."""

from __future__ import annotations

from typing import Any, Final

from governance.core.compat.code import Code
from governance.core.compat.model import JSON, FindingLevel, Side

_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _row(
    code: str, level: FindingLevel, title: str, means: str, hits: str, fix: str,
    example: tuple[JSON, JSON], near_miss: tuple[JSON, JSON],
) -> Code:  # fmt: skip
    return Code(
        id=code, level=level, title=title, means=means, hits=hits, fix=fix,
        sides=(Side(code.partition(".")[0]),), example=example, near_miss=near_miss,
    )  # fmt: skip


_RISKY, _NOTE, _UNDECIDED = FindingLevel.RISKY, FindingLevel.NOTE, FindingLevel.UNDECIDED
_BACK_REFERENCE: Final = {"type": "string", "pattern": "^(.)\\1$"}

RISK_CODES: Final[tuple[Code, ...]] = (
    _row(
        "input.field-ignored", _RISKY, "a field is declared no more and silently ignored",
        "The new version still accepts the field, since its object is open, but says nothing about it any more.",
        "Callers that send the field and expect it to do something.",
        "Keep the field declared, or refuse it in a major version so that callers hear of it.",
        (_object(a=_STRING, b=_STRING), _object(a=_STRING)),
        (_object(a=_STRING, b=_STRING), _object(b=_STRING, a=_STRING)),
    ),
    _row(
        "input.field-renamed", _RISKY, "a field was renamed: the old name is silently ignored",
        "A field went and another of the same shape came. Calls with the old name still pass and lose their argument.",
        "Callers that send the old name.",
        "Accept both names for a while, or publish a major version.",
        (_object(path=_STRING, n=_INTEGER), _object(file_path=_STRING, n=_INTEGER)),
        (_object(path=_STRING), _object(path=_STRING, count=_INTEGER)),
    ),
    _row(
        "input.closed", _RISKY, "an open object was closed",
        "Fields that the old version did not know, but let pass, are refused now.",
        "Only callers that send undeclared fields.",
        "Leave the object open, or say in the change log that undeclared fields are refused.",
        (_object(a=_STRING), _object(a=_STRING) | {"additionalProperties": False}),
        (_object(a=_STRING) | {"additionalProperties": False}, _object(a=_STRING)),
    ),
    _row(
        "input.open-name-typed", _RISKY, "a name that was explicitly free is typed now",
        "The old object said that further fields may hold anything; one of those names has a schema now.",
        "Only callers that sent that undeclared field with another kind of value.",
        "Choose a name that callers are unlikely to use already.",
        (
            _object(a=_STRING) | {"additionalProperties": True},
            _object(a=_STRING, b=_INTEGER) | {"additionalProperties": True},
        ),
        (_object(a=_STRING), _object(a=_STRING, b=_INTEGER)),
    ),
    _row(
        "input.unconstrained", _RISKY, "a constrained field accepts anything now",
        "The field's schema says nothing any more. Often a generator lost it.",
        "Callers get no error for values the skill cannot use.",
        "Say what the field accepts.",
        (_object(a=_STRING), _object(a={})),
        (_object(a=_STRING), _object(a={"type": ["string", "null"]})),
    ),
    _row(
        "input.format-tightened", _RISKY, "a format was added or changed",
        "`format` is an annotation unless set to assert, but many hosts and servers check it.",
        "Callers whose values do not have the new format, where it is checked.",
        "Keep the old format, or publish a major version if the skill really refuses other values.",
        (_object(a=_STRING), _object(a={"type": "string", "format": "uri"})),
        (_object(a={"type": "string", "format": "uri"}), _object(a=_STRING)),
    ),
    _row(
        "input.property-added", _NOTE, "an optional field was added",
        "Nothing that callers were told to send changes. Read strictly, the old open object allowed anything there.",
        "Nobody who sends declared fields.",
        "Nothing to do.",
        (_object(a=_STRING), _object(a=_STRING, b=_INTEGER)),
        (_object(a=_STRING), _object(a=_STRING)),
    ),
    _row(
        "input.strict-only", _NOTE, "only the strict reading calls this a break",
        "The payload is accepted by the old schema as written, but no caller was told to send it.",
        "Only callers that send undeclared fields.",
        "Nothing to do, unless you check with `--reading strict`.",
        (_object(a=_STRING), _object(a=_STRING) | {"not": {"required": ["undeclared"]}}),
        (_object(a=_STRING), _object(a=_STRING)),
    ),
    _row(
        "output.field-dropped", _RISKY, "an optional field is never returned any more",
        "The old schema declared the field; the new one does not.",
        "Readers that use the field when it is there.",
        "Go on returning the field, or tell its readers and leave it out with a new major.",
        (_object(a=_STRING, b=_STRING), _object(a=_STRING)),
        (_object(a=_STRING), _object(a=_STRING, b=_STRING)),
    ),
    _row(
        "output.field-added-to-closed", _RISKY, "a field was added to a closed result",
        "The old schema ruled further fields out. Readers ignore unknown fields, but strict validators do not.",
        "Readers that validate results against the old schema.",
        "Leave result objects open, so that fields can be added.",
        (
            _object(a=_STRING) | {"additionalProperties": False},
            _object(a=_STRING, b=_STRING) | {"additionalProperties": False},
        ),
        (_object(a=_STRING), _object(a=_STRING, b=_STRING)),
    ),
    _row(
        "output.property-added", _NOTE, "a field was added to the result",
        "Readers ignore fields they do not know.",
        "Nobody who ignores unknown fields.",
        "Nothing to do.",
        (_object(a=_STRING), _object(a=_STRING, b=_STRING)),
        (_object(a=_STRING), _object(a=_STRING)),
    ),
    _row(
        "output.format-loosened", _NOTE, "a promised format was dropped or changed",
        "`format` is an annotation unless set to assert; readers may have relied on it all the same.",
        "Readers that parse the text by the old format.",
        "Go on returning the old format, and say so.",
        (_object(a={"type": "string", "format": "date"}), _object(a=_STRING)),
        (_object(a=_STRING), _object(a={"type": "string", "format": "date"})),
    ),
    _row(
        "output.strict-only", _NOTE, "only the strict reading calls this a break",
        "The payload fits the new schema as written and not the old one, but the skill was not said to return it.",
        "Only readers that validate undeclared fields.",
        "Nothing to do, unless you check with `--reading strict`.",
        (_object(a={"type": "object", "maxProperties": 0}), _object(a={"type": "object", "properties": {}})),
        (_object(a=_STRING), _object(a=_STRING)),
    ),
    _row(
        "input.undecided", _UNDECIDED, "neither proved compatible nor shown to break",
        "The engine found no payload that breaks, and no proof that none exists; the message says why.",
        "Unknown.",
        "Simplify the schema at this place, or leave it as it was.",
        (_object(a=_BACK_REFERENCE), _object(a={"type": "string", "pattern": "^(.)\\1+$"})),
        (_object(a=_BACK_REFERENCE), _object(a=_BACK_REFERENCE)),
    ),
    _row(
        "output.undecided", _UNDECIDED, "neither proved compatible nor shown to break",
        "The engine found no result that breaks, and no proof that none exists; the message says why.",
        "Unknown.",
        "Simplify the schema at this place, or leave it as it was.",
        (_object(a={"type": "string", "pattern": "^(.)\\1+$"}), _object(a=_BACK_REFERENCE)),
        (_object(a=_BACK_REFERENCE), _object(a=_BACK_REFERENCE)),
    ),
)  # fmt: skip
