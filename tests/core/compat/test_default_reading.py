# ruff: noqa: E501 - a row reads best as one line
"""What a change means to real callers and readers: the examples of the default reading, one row each.

A row is (what happened, side, old, new, verdict by default, verdict under strict).
"""

from __future__ import annotations

from typing import Any, Final

import pytest
from asking import judge
from hard_pairs import B, I, N, S, all_of, any_of, arr, closed, draft, needs, no, obj, one_of

from governance.core.compat.engine import Settings, check_schemas
from governance.core.compat.model import FindingLevel, Reading, Side

OK, RISKY, BREAKS = "compatible", "risky", "breaking"
IN, OUT = Side.INPUT, Side.OUTPUT
FREE: Final = {"type": "object"}


def mapped(schema: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema}


ROWS: Final[list[tuple[str, Side, Any, Any, str, str]]] = [
    # Callers send what they were told of.
    ("an optional field added to an open input", IN, obj(a=S), obj(a=S, b=I), OK, BREAKS),
    ("an optional field added to a closed input", IN, closed(a=S), closed(a=S, b=I), OK, OK),
    ("an optional field added to an input without fields", IN, FREE, obj(b=I), OK, BREAKS),
    ("a required field added", IN, obj(a=S), {**obj(a=S, b=I), **needs("b")}, BREAKS, BREAKS),
    ("a required field with a default added", IN, obj(a=S), {**obj(a=S, b={**I, "default": 0}), **needs("b")}, BREAKS, BREAKS),
    ("a required field becomes optional", IN, {**obj(a=S), **needs("a")}, obj(a=S), OK, OK),
    ("a field removed from an open input", IN, obj(a=S, b=S), obj(a=S), RISKY, RISKY),
    ("a field removed from a closed input", IN, closed(a=S, b=S), closed(a=S), BREAKS, BREAKS),
    ("an input closed", IN, obj(a=S), closed(a=S), RISKY, BREAKS),
    ("an input closed that was free-form by word", IN, {**obj(a=S), "additionalProperties": True}, closed(a=S), RISKY, BREAKS),
    ("a free name typed", IN, {**obj(a=S), "additionalProperties": True},
     {**obj(a=S, b=I), "additionalProperties": True}, RISKY, BREAKS),
    ("a required name counts as declared", IN, {**FREE, **needs("a")}, {**obj(a=I), **needs("a")}, BREAKS, BREAKS),
    ("a name in dependentRequired counts as declared", IN, {**FREE, "dependentRequired": {"a": ["b"]}}, obj(b=I), BREAKS, BREAKS),
    ("a name in not does not", IN, {**FREE, "not": needs("a")}, {**FREE, "maxProperties": 0}, OK, BREAKS),
    ("a nested free-form object stays open", IN, obj(o=FREE), obj(o=obj(x=I)), BREAKS, BREAKS),
    ("a nested object with fields is closed", IN, obj(o=obj(y=S)), obj(o=obj(y=S, x=I)), OK, BREAKS),
    ("an empty properties keyword closes", IN, obj(o=obj()), obj(o=obj(x=I)), OK, BREAKS),
    ("a map stays open", IN, obj(o=mapped(S)), obj(o={**mapped(S), "properties": {"x": I}}), BREAKS, BREAKS),
    ("a map of maps stays open", IN, obj(o=mapped(mapped(I))), obj(o=mapped(mapped({**I, "minimum": 0}))), BREAKS, BREAKS),
    ("an object beside a map schema is told of all names", IN, {**obj(a=S), "additionalProperties": I},
     {**obj(a=S, b=S), "additionalProperties": I}, BREAKS, BREAKS),
    ("a pattern declares its names", IN, {**FREE, "patternProperties": {"^x": I}}, {**FREE, "patternProperties": {"^x": S}}, BREAKS, BREAKS),
    ("a pattern declares no others", IN, {**FREE, "patternProperties": {"^x": I}},
     {**FREE, "patternProperties": {"^x": I, "^y": S}}, OK, BREAKS),
    ("two objects of a conjunction declare jointly", IN, all_of(obj(a=S), obj(b=I)), closed(a=S, b=I), RISKY, BREAKS),
    ("a branch declares only where it passes", IN, obj(o=any_of({**obj(k={"const": 1}, x=S), **needs("k")}, {**obj(k={"const": 2}), **needs("k")})),
     obj(o=any_of({**obj(k={"const": 1}, x=S), **needs("k")}, {**closed(k={"const": 2}), **needs("k")})), OK, BREAKS),
    ("two descriptions of one child are closed jointly", IN, all_of(obj(o=obj(x=S)), obj(o=obj(y=S))),
     obj(o=closed(x=S, y=S)), RISKY, BREAKS),
    ("closing that leaves no value is undone", IN, {**obj(o={**obj(x=S), "minProperties": 2}), **needs("o")},
     {**obj(o={**obj(x=S), "minProperties": 3}), **needs("o")}, BREAKS, BREAKS),
    ("an item of a list is closed too", IN, obj(l={"type": "array", "items": obj(x=S)}),
     obj(l={"type": "array", "items": obj(x=S, y=I)}), OK, BREAKS),
    ("items of two lists are declared jointly", IN, obj(l=any_of(arr(items=obj(a=S)), arr(items=obj(b=I)))),
     obj(l=arr(items=no(needs("a", "b")))), BREAKS, BREAKS),
    ("items of two lists declare no others", IN, obj(l=any_of(arr(items=obj(a=S)), arr(items=obj(b=I)))),
     obj(l=arr(items=no(needs("c")))), RISKY, BREAKS),
    ("what a list contains is declared too", IN, obj(l=arr(contains=obj(a=S), items=obj(b=I))),
     obj(l=arr(items=no(needs("a")))), BREAKS, BREAKS),
    ("more than one item may be what a list contains", IN, obj(l=arr(contains=obj(a=S), items=obj(b=I))),
     obj(l=arr(contains=needs("a"), minContains=0, maxContains=1)), BREAKS, BREAKS),
    ("what a list need not contain is declared as well", IN, obj(l=arr(contains=obj(a=S), minContains=0, items=obj(b=I))),
     obj(l=arr(items=no(needs("a")))), BREAKS, BREAKS),
    ("what a list need not contain declares no others", IN, obj(l=arr(contains=obj(a=S), minContains=0, items=obj(b=I))),
     obj(l=arr(items=no(needs("c")))), RISKY, BREAKS),
    ("a definition is closed too", IN, {**obj(o={"$ref": "#/$defs/t"}), "$defs": {"t": obj(x=S)}},
     {**obj(o={"$ref": "#/$defs/t"}), "$defs": {"t": obj(x=S, y=I)}}, OK, BREAKS),
    ("a tree is closed on every floor", IN, obj(v=S, n={"$ref": "#"}), obj(v=S, n={"$ref": "#"}, w=I), OK, BREAKS),
    ("a type narrowed", IN, obj(a={"type": ["string", "null"]}), obj(a=S), BREAKS, BREAKS),
    ("a type widened", IN, obj(a=S), obj(a={"type": ["string", "null"]}), OK, OK),
    ("a minimum raised", IN, obj(a={**I, "minimum": 0}), obj(a={**I, "minimum": 1}), BREAKS, BREAKS),
    ("a pattern tightened", IN, obj(a={**S, "pattern": "^[a-z]+$"}), obj(a={**S, "pattern": "^[a-f]+$"}), BREAKS, BREAKS),
    ("a field that accepts anything now", IN, obj(a=S), obj(a={}), RISKY, RISKY),
    ("a format added", IN, obj(a=S), obj(a={**S, "format": "uri"}), RISKY, RISKY),
    ("a field renamed", IN, obj(path=S, n=I), obj(file_path=S, n=I), RISKY, BREAKS),
    ("a root union that restates the root", IN, obj(a=S, b=S), {**obj(a=S, b=S), "anyOf": [FREE, FREE]}, OK, OK),
    ("a root union that demands one of two", IN, obj(a=S, b=S), {**obj(a=S, b=S), "anyOf": [needs("a"), needs("b")]}, BREAKS, BREAKS),
    ("a constant becomes an enum with it", IN, obj(a={"const": "x"}), obj(a={"enum": ["y", "x"]}), OK, OK),
    ("drafts change, the contract does not", IN, draft(7, obj(l={"type": "array", "items": [S]})),
     obj(l={"type": "array", "prefixItems": [S]}), OK, OK),
    ("a bound becomes a boolean no more", IN, draft(4, obj(a={**N, "minimum": 0, "exclusiveMinimum": True})), obj(a={**N, "exclusiveMinimum": 0}), OK, OK),
    ("nullable spelled otherwise", IN, obj(a={"type": ["string", "null"]}), obj(a=any_of(S, {"const": None})), OK, OK),
    ("a tree narrowed one floor down", IN, obj(v=I, n={"$ref": "#"}),
     obj(v=I, n=obj(v={**I, "minimum": 0}, n={"$ref": "#"})), BREAKS, BREAKS),
    ("a choice gets an overlapping branch", IN, obj(a=one_of(S, I)), obj(a=one_of(S, I, N)), BREAKS, BREAKS),
    # Readers ignore fields they do not know.
    ("a field added to a result", OUT, obj(a=S), obj(a=S, b=I), OK, OK),
    ("a field added to a closed result", OUT, closed(a=S), closed(a=S, b=I), RISKY, BREAKS),
    ("a closed result opened", OUT, closed(a=S), obj(a=S), OK, BREAKS),
    ("an optional field returned no more", OUT, obj(a=S, b=S), obj(a=S), RISKY, BREAKS),
    ("a promised field returned no more", OUT, {**obj(a=S), **needs("a")}, obj(a=S), BREAKS, BREAKS),
    ("a field promised now", OUT, obj(a=S), {**obj(a=S), **needs("a")}, OK, OK),
    ("a null may be returned", OUT, obj(a=S), obj(a={"type": ["string", "null"]}), BREAKS, BREAKS),
    ("an enum value may be returned", OUT, obj(a={"enum": ["x"]}), obj(a={"enum": ["x", "y"]}), BREAKS, BREAKS),
    ("an enum value is returned no more", OUT, obj(a={"enum": ["x", "y"]}), obj(a={"enum": ["x"]}), OK, OK),
    ("a map's values stay typed", OUT, mapped(I), mapped(N), BREAKS, BREAKS),
    ("a map gets a field of another type", OUT, mapped(I), {**mapped(I), "properties": {"b": S}}, BREAKS, BREAKS),
    ("counts stay", OUT, {**obj(a=S), "maxProperties": 1}, {**obj(a=S, b=S), "maxProperties": 2}, BREAKS, BREAKS),
    ("names stay", OUT, {**mapped(S), "propertyNames": {"maxLength": 2}}, {**mapped(S), "propertyNames": {"maxLength": 3}}, BREAKS, BREAKS),
    ("a choice of closed results is read as a union", OUT, one_of(closed(a=S), closed(b=S)), one_of(closed(a=S, c=I), closed(b=S)), RISKY, BREAKS),
    ("a false under not is not lifted", OUT, obj(o=no(closed(a=S))), obj(o=no(closed(a=S, b=S))), OK, OK),
    ("a schema removed", OUT, {**obj(a=S), **needs("a")}, True, BREAKS, BREAKS),
    ("unevaluated false is lifted", OUT, {**obj(a=S), "unevaluatedProperties": False},
     {**obj(a=S, b=B), "unevaluatedProperties": False}, RISKY, BREAKS),
]  # fmt: skip


@pytest.mark.parametrize(("side", "old", "new", "expected"), [row[1:5] for row in ROWS], ids=[row[0] for row in ROWS])
def test_by_default(side: Side, old: Any, new: Any, expected: str) -> None:
    verdict = check_schemas(old, new, side=side)
    assert verdict.verdict.value == expected, [(f.code, f.level.value) for f in verdict.findings]
    for finding in verdict.findings:
        if finding.level is FindingLevel.BREAKING:
            assert finding.witness is not None
            sender, receiver = (old, new) if side is Side.INPUT else (new, old)
            assert judge(sender).is_valid(finding.witness.payload)
            assert not judge(receiver).is_valid(finding.witness.payload)


@pytest.mark.parametrize(
    ("side", "old", "new", "expected"), [(*row[1:4], row[5]) for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_under_strict(side: Side, old: Any, new: Any, expected: str) -> None:
    verdict = check_schemas(old, new, side=side, settings=Settings(reading=Reading.STRICT))
    assert verdict.verdict.value == expected, [(f.code, f.level.value) for f in verdict.findings]
