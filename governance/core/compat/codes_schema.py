"""Rows of CODES for changes in the two schemas. One keyword gives two codes: a request that is taken no more, and
a result that was not promised. The output pair of a row is the input pair read backwards."""

from __future__ import annotations

from typing import Any, Final

from governance.core.compat.code import Code
from governance.core.compat.model import FindingLevel, Reading, Side

_INPUT_HITS: Final = "Callers that send what the old version took; the payload is one such call."
_OUTPUT_HITS: Final = "Readers that rely on what the old version promised; the payload is one such result."


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": list(required)} if required else {})


_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}


def _pair(
    keyword: str,
    narrowed: tuple[str, str, str],
    widened: tuple[str, str, str],
    old: Any,
    new: Any,
    safe: Any,
    *,
    output_reading: Reading = Reading.DEFAULT,
    asserts_formats: bool = False,
) -> tuple[Code, Code]:
    """Both codes of one keyword.

    ``narrowed`` and ``widened`` are (id, title, what to do); going from ``old`` to ``new`` breaks an input,
    back again breaks an output; ``safe`` takes the place of ``new`` in the near miss.
    """
    input_id, input_title, input_fix = narrowed
    output_id, output_title, output_fix = widened
    return (
        Code(
            id=f"input.{input_id}",
            level=FindingLevel.BREAKING,
            title=input_title,
            means=f"`{keyword}` of the new input schema refuses values that the old one took.",
            hits=_INPUT_HITS,
            fix=input_fix,
            sides=(Side.INPUT,),
            example=(old, new),
            near_miss=(old, safe),
            asserts_formats=asserts_formats,
        ),
        Code(
            id=f"output.{output_id}",
            level=FindingLevel.BREAKING,
            title=output_title,
            means=f"The new version may return values that `{keyword}` of the old output schema ruled out.",
            hits=_OUTPUT_HITS,
            fix=output_fix,
            sides=(Side.OUTPUT,),
            example=(new, old),
            near_miss=(safe, old),
            reading=output_reading,
            asserts_formats=asserts_formats,
        ),
    )


def _n(**constraint: Any) -> dict[str, Any]:
    return _object(n={"type": "number", **constraint})


def _s(**constraint: Any) -> dict[str, Any]:
    return _object(s={"type": "string", **constraint})


def _l(**constraint: Any) -> dict[str, Any]:
    return _object(l={"type": "array", "items": {"type": "integer"}, **constraint})


def _m(**constraint: Any) -> dict[str, Any]:
    return _object(m={"type": "object", "additionalProperties": {"type": "integer"}, **constraint})


_KEEP_OPTIONAL: Final = "Keep it optional and treat its absence as before, or publish a major version."
_ACCEPT: Final = "Go on accepting the old values, or publish a major version."
_PROMISE: Final = "Go on returning only what the old schema promised, or publish a major version."

_PAIRS: Final = (
    _pair(
        "type",
        ("type-narrowed", "a type is accepted no more", _ACCEPT),
        ("type-widened", "a new type may be returned", _PROMISE),
        _object(a={"type": ["string", "null"]}),
        _object(a={"type": "string"}),
        _object(a={"type": ["null", "string"]}),
    ),
    _pair(
        "enum",
        ("enum-narrowed", "an accepted value is accepted no more", _ACCEPT),
        ("enum-widened", "a value outside the promised set may be returned", _PROMISE),
        _object(a={"enum": ["x", "y"]}),
        _object(a={"enum": ["x"]}),
        _object(a={"enum": ["y", "x"]}),
    ),
    _pair(
        "const",
        ("const-narrowed", "only one constant is accepted now", _ACCEPT),
        ("const-widened", "something other than the promised constant may be returned", _PROMISE),
        _object(a={"enum": ["x", "y"]}),
        _object(a={"const": "x"}),
        _object(a={"anyOf": [{"const": "x"}, {"const": "y"}]}),
    ),
    _pair(
        "required",
        ("required-added", "a required field was added", _KEEP_OPTIONAL),
        ("field-unpromised", "a field that was always there is returned no more", "Go on returning the field."),
        _object(a=_STRING),
        _object(("b",), a=_STRING, b=_STRING),
        _object(a=_STRING, b=_STRING),
    ),
    _pair(
        "required",
        ("became-required", "an optional field became required", _KEEP_OPTIONAL),
        ("became-optional", "a field that was always there may be missing", "Go on returning it every time."),
        _object(a=_STRING),
        _object(("a",), a=_STRING),
        _object(a={"type": "string", "description": "still optional"}),
    ),
    _pair(
        "additionalProperties",
        ("field-removed", "a field is refused now", "Go on accepting the field, if only to ignore it."),
        ("field-ruled-out", "a field that the schema ruled out may be returned", _PROMISE),
        _object(a=_STRING, b=_STRING) | {"additionalProperties": False},
        _object(a=_STRING) | {"additionalProperties": False},
        _object(a=_STRING, b=_STRING, c=_STRING) | {"additionalProperties": False},
        # The default reading of a receiver of results lifts the ``false``.
        output_reading=Reading.STRICT,
    ),
    _pair(
        "additionalProperties",
        ("additional-narrowed", "undeclared fields are refused or held to a stricter schema", _ACCEPT),
        ("additional-widened", "undeclared fields may hold what the old schema ruled out", _PROMISE),
        _object(m={"type": "object", "additionalProperties": {"type": ["integer", "string"]}}),
        _object(m={"type": "object", "additionalProperties": {"type": "integer"}}),
        _object(m={"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
    ),
    _pair(
        "minimum",
        ("minimum-raised", "the lower bound was raised", _ACCEPT),
        ("minimum-lowered", "numbers below the promised bound may be returned", _PROMISE),
        _n(minimum=0),
        _n(minimum=1),
        _n(minimum=0.0),
    ),
    _pair(
        "maximum",
        ("maximum-lowered", "the upper bound was lowered", _ACCEPT),
        ("maximum-raised", "numbers above the promised bound may be returned", _PROMISE),
        _n(maximum=10),
        _n(maximum=9),
        _n(maximum=10.0),
    ),
    _pair(
        "exclusiveMinimum",
        ("exclusive-minimum-raised", "the lower bound was raised", _ACCEPT),
        ("exclusive-minimum-lowered", "numbers at or below the promised bound may be returned", _PROMISE),
        _n(minimum=0),
        _n(exclusiveMinimum=0),
        _n(exclusiveMinimum=-1, minimum=0),
    ),
    _pair(
        "exclusiveMaximum",
        ("exclusive-maximum-lowered", "the upper bound was lowered", _ACCEPT),
        ("exclusive-maximum-raised", "numbers at or above the promised bound may be returned", _PROMISE),
        _n(maximum=10),
        _n(exclusiveMaximum=10),
        _n(exclusiveMaximum=11, maximum=10),
    ),
    _pair(
        "multipleOf",
        ("multiple-of-narrowed", "only coarser steps are accepted", _ACCEPT),
        ("multiple-of-widened", "numbers between the promised steps may be returned", _PROMISE),
        _n(multipleOf=0.5),
        _n(multipleOf=1),
        _n(multipleOf=0.50),
    ),
    _pair(
        "minLength",
        ("min-length-raised", "the shortest accepted text got longer", _ACCEPT),
        ("min-length-lowered", "a shorter text than promised may be returned", _PROMISE),
        _s(),
        _s(minLength=1),
        _s(minLength=0),
    ),
    _pair(
        "maxLength",
        ("max-length-lowered", "the longest accepted text got shorter", _ACCEPT),
        ("max-length-raised", "a longer text than promised may be returned", _PROMISE),
        _s(maxLength=10),
        _s(maxLength=9),
        _s(maxLength=10, minLength=0),
    ),
    _pair(
        "pattern",
        ("pattern-narrowed", "the pattern refuses texts that were accepted", _ACCEPT),
        ("pattern-widened", "a text outside the promised pattern may be returned", _PROMISE),
        _s(pattern="^[a-z0-9]+$"),
        _s(pattern="^[a-z]+$"),
        _s(pattern="^[0-9a-z]{1,}$"),
    ),
    _pair(
        "format",
        ("format-narrowed", "the asserted format refuses texts that were accepted", _ACCEPT),
        ("format-widened", "a text outside the asserted format may be returned", _PROMISE),
        _s(),
        _s(format="ipv4"),
        _s(minLength=0),
        asserts_formats=True,
    ),
    _pair(
        "items",
        ("items-narrowed", "further items are refused", _ACCEPT),
        ("items-widened", "more items than promised may be returned", _PROMISE),
        _object(l={"type": "array", "prefixItems": [_STRING]}),
        _object(l={"type": "array", "prefixItems": [_STRING], "items": False}),
        _object(l={"type": "array", "prefixItems": [_STRING], "items": True}),
    ),
    _pair(
        "minItems",
        ("min-items-raised", "the shortest accepted list got longer", _ACCEPT),
        ("min-items-lowered", "a shorter list than promised may be returned", _PROMISE),
        _l(),
        _l(minItems=1),
        _l(minItems=0),
    ),
    _pair(
        "maxItems",
        ("max-items-lowered", "the longest accepted list got shorter", _ACCEPT),
        ("max-items-raised", "a longer list than promised may be returned", _PROMISE),
        _l(maxItems=3),
        _l(maxItems=2),
        _l(maxItems=3, minItems=0),
    ),
    _pair(
        "uniqueItems",
        ("unique-items-added", "repeated items are refused now", _ACCEPT),
        ("unique-items-dropped", "items may repeat now", _PROMISE),
        _l(),
        _l(uniqueItems=True),
        _l(uniqueItems=False),
    ),
    _pair(
        "contains",
        ("contains-narrowed", "lists without certain items are refused", _ACCEPT),
        ("contains-widened", "a list without the promised items may be returned", _PROMISE),
        _l(),
        _l(contains={"minimum": 5}),
        _l(contains={"minimum": 5}, minContains=0),
    ),
    _pair(
        "minProperties",
        ("min-properties-raised", "objects with few fields are refused", _ACCEPT),
        ("min-properties-lowered", "an object with fewer fields than promised may be returned", _PROMISE),
        _m(),
        _m(minProperties=1),
        _m(minProperties=0),
    ),
    _pair(
        "maxProperties",
        ("max-properties-lowered", "objects with many fields are refused", _ACCEPT),
        ("max-properties-raised", "an object with more fields than promised may be returned", _PROMISE),
        _m(maxProperties=3),
        _m(maxProperties=2),
        _m(maxProperties=3, minProperties=0),
    ),
    _pair(
        "propertyNames",
        ("property-names-narrowed", "certain field names are refused", _ACCEPT),
        ("property-names-widened", "field names outside the promised set may be returned", _PROMISE),
        _m(),
        _m(propertyNames={"pattern": "^[a-z]*$"}),
        _m(propertyNames={"type": "string"}),
    ),
    _pair(
        "anyOf",
        ("union-narrowed", "no alternative takes what one of the old ones took", _ACCEPT),
        ("union-widened", "a value outside every promised alternative may be returned", _PROMISE),
        _object(a={"anyOf": [_STRING, _INTEGER]}),
        _object(a={"anyOf": [_STRING, {"type": "null"}]}),
        _object(a={"anyOf": [_INTEGER, _STRING]}),
    ),
    _pair(
        "oneOf",
        ("one-of-overlap", "values that fit two alternatives are refused", _ACCEPT),
        ("one-of-overlap-returned", "a value that fits two promised alternatives may be returned", _PROMISE),
        _object(a={"type": "integer"}),
        _object(a={"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]}),
        _object(a={"oneOf": [{"type": "integer"}, {"type": "string"}]}),
    ),
    _pair(
        "not",
        ("exclusion-added", "certain values are ruled out now", _ACCEPT),
        ("exclusion-dropped", "values that were ruled out may be returned", _PROMISE),
        _object(a=_STRING),
        _object(a={"type": "string", "not": {"const": "x"}}),
        _object(a={"type": "string", "not": {"type": "integer"}}),
    ),
    _pair(
        "if",
        ("condition-narrowed", "a conditional rule refuses what was accepted", _ACCEPT),
        ("condition-widened", "a result may break a conditional promise", _PROMISE),
        _object(a=_STRING, b=_STRING),
        _object(a=_STRING, b=_STRING) | {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        _object(a=_STRING, b=_STRING) | {"if": {"required": ["a"]}, "then": True},
    ),
    _pair(
        "dependentRequired",
        ("dependency-added", "one field asks for another now", _KEEP_OPTIONAL),
        ("dependency-dropped", "a field may come without the one that was promised with it", _PROMISE),
        _object(a=_STRING, b=_STRING),
        _object(a=_STRING, b=_STRING) | {"dependentRequired": {"a": ["b"]}},
        _object(a=_STRING, b=_STRING) | {"dependentRequired": {"a": ["a"]}},
    ),
    _pair(
        "unevaluatedProperties",
        ("unevaluated-closed", "fields that no branch declares are refused", _ACCEPT),
        ("unevaluated-opened", "fields that no branch declared may be returned", _PROMISE),
        _object(m={"type": "object"}),
        _object(m={"type": "object", "unevaluatedProperties": _STRING}),
        _object(m={"type": "object", "unevaluatedProperties": True}),
    ),
    _pair(
        "false",
        ("forbidden", "the field may not be sent at all any more", _ACCEPT),
        ("forbidden-returned", "a field that was ruled out may be returned", _PROMISE),
        _object(a=_STRING),
        {"type": "object", "properties": {"a": False}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
    ),
    _pair(
        "schema",
        ("narrowed", "the schema refuses what the old one took", _ACCEPT),
        ("widened", "the result may be something the old schema ruled out", _PROMISE),
        {"type": "object", "properties": {"v": {"minimum": 0}, "c": _object(v={}, c={"$ref": "#"})}},
        {"type": "object", "properties": {"v": {"minimum": 0}, "c": {"$ref": "#"}}},
        {"type": "object", "properties": {"v": {"minimum": 0}, "c": _object(v=True, c={"$ref": "#"})}},
    ),
)
SCHEMA_CODES: Final[tuple[Code, ...]] = (
    *(code for pair in _PAIRS for code in pair),
    Code(
        id="output.schema-removed",
        level=FindingLevel.BREAKING,
        title="the output schema was removed or emptied",
        means="The new version promises nothing about its result any more.",
        hits=_OUTPUT_HITS,
        fix="Keep the output schema, or publish a major version.",
        sides=(Side.OUTPUT,),
        example=(_object(("a",), a=_STRING), True),
        near_miss=(True, _object(("a",), a=_STRING)),
    ),
)
