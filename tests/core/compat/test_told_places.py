"""A finding points at the keyword that changed, where it is written, and quotes nothing that does not apply."""

from __future__ import annotations

from typing import Any

import pytest
from hard_pairs import S, obj

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import ABSENT, Comparison, Finding, Side, Verdict

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def only(comparison: Comparison) -> Finding:
    (finding,) = comparison.findings
    return finding


def resolved(document: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        document = document[int(token) if isinstance(document, list) else token]
    return document


@pytest.mark.parametrize(
    ("old", "new", "keyword"),
    [
        ({"contains": S, "minContains": 2}, {"contains": S, "minContains": 3}, "minContains"),
        ({"contains": S}, {"contains": {"type": "string", "minLength": 1}}, "contains"),
        ({"contains": S, "maxContains": 3}, {"contains": S, "maxContains": 2}, "maxContains"),
        ({"minimum": 1, "exclusiveMinimum": 1}, {"minimum": 1, "exclusiveMinimum": 4}, "exclusiveMinimum"),
        ({"if": S, "then": {"maxLength": 3}}, {"if": S, "then": {"maxLength": 2}}, "then"),
    ],
)
def test_of_keywords_that_are_judged_together_the_one_that_changed_is_named(old: Any, new: Any, keyword: str) -> None:
    finding = only(check_schemas(obj(a=old), obj(a=new), side=Side.INPUT))
    assert (finding.old_pointer, finding.new_pointer) == (f"/properties/a/{keyword}",) * 2
    assert (finding.old, finding.new) == (old[keyword], new[keyword])


def test_what_a_reference_hides_in_an_old_draft_is_not_quoted() -> None:
    field = obj(a={"$ref": "#/definitions/s", "maxLength": 3})
    old, new = {"$schema": DRAFT_7, "definitions": {"s": S}, **field}, {"definitions": {"s": S}, **field}
    finding = only(check_schemas(old, new, side=Side.INPUT))
    assert finding.code == "input.max-length-lowered"
    assert finding.old is ABSENT


@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
def test_what_a_reference_hides_in_an_old_draft_declares_no_field(side: Side) -> None:
    def document(**beside: Any) -> Any:
        definitions = {"o": obj(a=S)}
        return {"$schema": DRAFT_7, "definitions": definitions, **obj(a={"$ref": "#/definitions/o", **beside})}

    old, new = document(**obj(q=S), allOf=[obj(r=S)]), document()
    assert check_schemas(old, new, side=side).findings == ()


def test_a_default_is_pointed_at_where_it_is_written() -> None:
    def document(default: Any) -> Any:
        address = obj(zip={"type": "string", "default": default})
        return {"$defs": {"address": address}, **obj(home={"$ref": "#/$defs/address"})}

    old, new = document("1"), document("2")
    finding = only(check_schemas(old, new, side=Side.INPUT))
    assert finding.code == "input.default-moved"
    assert "`home.zip`" in finding.message
    for schema, pointer, default in ((old, finding.old_pointer, "1"), (new, finding.new_pointer, "2")):
        assert pointer is not None
        assert resolved(schema, pointer)["default"] == default


def test_a_default_beside_a_reference_is_pointed_at_there() -> None:
    def document(default: Any) -> Any:
        return {"$defs": {"mode": {"type": "string", "default": "x"}}, **obj(m={"$ref": "#/$defs/mode", **default})}

    finding = only(check_schemas(document({"default": "y"}), document({}), side=Side.INPUT))
    assert (finding.old_pointer, finding.new_pointer) == ("/properties/m", "/$defs/mode")


@pytest.mark.parametrize(
    "denied",
    [
        {"not": {"not": obj(b=True)}},
        {"not": {"not": {"not": {"not": obj(b=True)}}}},
        {"if": {"not": obj(b=True)}, "then": False},
    ],
)
def test_what_is_denied_twice_tells_a_sender_of_no_name(denied: Any) -> None:
    comparison = check_schemas({**obj(a=S), **denied}, {**obj(a=S, b=S), **denied}, side=Side.INPUT)
    assert comparison.verdict is Verdict.COMPATIBLE


@pytest.mark.parametrize(("old", "new"), [("user_name", "username"), ("userName", "user_name"), ("APIKey", "api-key")])
def test_the_same_letters_are_a_rename(old: str, new: str) -> None:
    finding = only(check_schemas(obj(**{old: S, "x": S}), obj(**{new: S, "x": S}), side=Side.INPUT))
    assert finding.code == "input.field-renamed"
