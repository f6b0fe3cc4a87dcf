"""What surrounds a finding: a change there is another text, a change elsewhere the same."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.compat.engine import check
from governance.core.compat.model import Finding, FindingLevel, Side
from governance.core.contract import manifest_from_document
from governance.core.exceptions import Enclosures, moved, surroundings
from governance.core.skill import SkillManifest

OLD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "address": {
            "type": "object",
            "properties": {"zip": {"type": "string"}, "street": {"type": "string"}},
        },
        "place": {"$ref": "#/$defs/Place"},
        "note": {"type": "string"},
    },
    "$defs": {"Place": {"type": "object", "properties": {"lat": {"$ref": "#/$defs/Degrees"}}}, "Degrees": {}},
}
NEW: dict[str, Any] = deepcopy(OLD)
NEW["properties"]["address"]["properties"]["zip"] = {"type": "integer"}
NEW["properties"]["address"]["required"] = ["street"]

Edit = Callable[[dict[str, Any]], Any]


def skill(schema: Any, **fields: Any) -> SkillManifest:
    document = {"name": "post.send", "version": "1.0.0", "description": "Sends.", "input_schema": schema, **fields}
    return manifest_from_document(document, native=False)


def edited(schema: dict[str, Any], edit: Edit) -> dict[str, Any]:
    changed = deepcopy(schema)
    edit(changed)
    return changed


def at(old: str | None, new: str | None, side: Side = Side.INPUT) -> Finding:
    return Finding(
        code="x.y",
        side=side,
        level=FindingLevel.BREAKING,
        message="m",
        fix="f",
        old_pointer=old,
        new_pointer=new,
    )


ZIP = "/properties/address/properties/zip/type"
REQUIRED = "/properties/address/required/0"


def put(*path: str, value: Any) -> Edit:
    def edit(schema: dict[str, Any]) -> None:
        for key in path[:-1]:
            schema = schema[key]
        schema[path[-1]] = value

    return edit


ELSEWHERE = {
    "another field": put("properties", "note", value={"type": "integer"}),
    "a new field": put("properties", "extra", value=True),
    "what the root requires": put("required", value=["note"]),
    "a definition nobody here refers to": put("$defs", "Degrees", value={"maximum": 180}),
}
IN_THE_ADDRESS = {
    "a new field": put("properties", "address", "properties", "country", value={}),
    "what it requires": put("properties", "address", "required", value=["zip"]),
    "a neighbour": put("properties", "address", "properties", "street", value={"maxLength": 5}),
    "its words": put("properties", "address", "description", value="Where to."),
}


@pytest.mark.parametrize("edit", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("place", [ZIP, REQUIRED])
def test_a_change_elsewhere_changes_no_surroundings(edit: Edit, place: str) -> None:
    before = surroundings(at(place, place), skill(OLD), skill(NEW))
    assert surroundings(at(place, place), skill(edited(OLD, edit)), skill(edited(NEW, edit))) == before


@pytest.mark.parametrize("edit", IN_THE_ADDRESS.values(), ids=IN_THE_ADDRESS)
def test_a_change_in_the_object_that_holds_the_finding_is_told_by_side(edit: Edit) -> None:
    before = surroundings(at(None, REQUIRED), skill(OLD), skill(NEW))
    older = surroundings(at(None, REQUIRED), skill(edited(OLD, edit)), skill(NEW))
    newer = surroundings(at(None, REQUIRED), skill(OLD), skill(edited(NEW, edit)))
    both = surroundings(at(None, REQUIRED), skill(edited(OLD, edit)), skill(edited(NEW, edit)))
    assert len({before, older, newer, both}) == 4
    told = [moved(before, now) for now in (older, newer, both)]
    assert told == ["the older contract", "the newer contract", "both contracts"]


def test_a_field_is_held_by_its_own_schema_and_a_field_that_is_gone_by_the_object_it_left() -> None:
    narrower = put("properties", "address", "properties", "zip", value={"type": "integer", "minimum": 0})
    assert surroundings(at(ZIP, ZIP), skill(OLD), skill(NEW)) != surroundings(
        at(ZIP, ZIP), skill(OLD), skill(edited(NEW, narrower))
    )
    gone = at("/properties/note", None)
    without = skill({"type": "object", "properties": {}})
    for edit in ELSEWHERE.values():
        if edit is not ELSEWHERE["a definition nobody here refers to"]:
            changed = skill(edited(OLD, edit))
            assert surroundings(gone, changed, without) != surroundings(gone, skill(OLD), without)


def test_what_the_object_refers_to_belongs_to_it_however_far() -> None:
    place = "/properties/place/$ref"
    before = surroundings(at(place, place), skill(OLD), skill(OLD))
    for path in (("$defs", "Place", "required"), ("$defs", "Degrees", "enum")):
        changed = skill(edited(OLD, put(*path, value=["lat"])))
        assert surroundings(at(place, place), skill(OLD), changed) != before
    assert surroundings(at(place, place), skill(OLD), skill(edited(OLD, put("properties", "note", value={})))) == before


def test_a_reference_by_another_name_than_its_place_stands_for_the_whole_schema() -> None:
    named = edited(OLD, put("$defs", "Degrees", value={"$anchor": "deg"}))
    named["properties"]["note"] = {"$ref": "#deg", "type": "string"}
    place = "/properties/note/type"
    before = surroundings(at(place, place), skill(named), skill(named))
    far = skill(edited(named, put("properties", "address", "title", value="x")))
    assert surroundings(at(place, place), skill(named), far) != before


def test_references_in_a_circle_come_to_an_end() -> None:
    tree = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {"properties": {"a": {"$ref": "#/$defs/A"}}}},
    }
    assert surroundings(at("/properties/a/$ref", None), skill(tree), skill(tree))


def test_beside_the_schemas_the_field_alone_counts() -> None:
    old, new = skill(OLD, timeout_sec=30, errors=[]), skill(OLD, timeout_sec=5)
    timeout = next(one for one in check(old, new).findings if one.code == "contract.timeout-lowered")
    before = surroundings(timeout, old, new)
    assert surroundings(timeout, old, skill(NEW, timeout_sec=5, tags=["t"], dangerous=True)) == before
    assert surroundings(timeout, old, skill(OLD, timeout_sec=6)) != before
    text = at(None, "/input_schema" + ZIP.removesuffix("type") + "description", Side.CONTRACT)
    assert surroundings(text, old, skill(OLD)) == surroundings(text, old, skill(edited(OLD, ELSEWHERE["a new field"])))
    whole = at(None, None, Side.CONTRACT)
    assert surroundings(whole, old, new) == surroundings(whole, old, skill(OLD, timeout_sec=5, version="9.0.0"))
    assert surroundings(whole, old, new) != surroundings(whole, old, skill(OLD, timeout_sec=5, dangerous=True))


pointers = st.lists(
    st.sampled_from(["properties", "address", "zip", "required", "0", "x", "$defs", "~1", "9" * 11, "items", "-1"]),
    max_size=6,
).map(lambda tokens: "".join(f"/{token}" for token in tokens))


@given(st.none() | pointers, st.none() | pointers, st.sampled_from(Side), st.sampled_from([None, True, OLD]))
def test_any_place_has_surroundings_on_both_sides(old: str | None, new: str | None, side: Side, output: Any) -> None:
    manifest = skill(OLD, output_schema=output)
    told = surroundings(at(old, new, side), manifest, manifest)
    assert len(told) == 33
    assert told == surroundings(at(old, new, side), skill(OLD, output_schema=output), manifest)


def test_a_schema_whose_parts_all_lead_to_each_other_is_gone_through_once() -> None:
    names = [f"d{number}" for number in range(40)]
    everyone = {name: {"$ref": f"#{name}"} for name in names}
    schema = {
        "type": "object",
        "properties": everyone,
        "$defs": {name: {"$anchor": name, "properties": everyone} for name in names},
    }
    enclosures = Enclosures(manifest=SkillManifest(name="a.b", version="1.0.0", input_schema=schema))
    told = {enclosures.around(Side.INPUT, f"/$defs/{name}/properties/{name}") for name in names}
    assert len(told) == len(names)
    nested: dict[str, Any] = {"type": "string", "description": "x" * 100_000}
    for _ in range(100):
        nested = {"properties": {"in": nested}}
    deep = Enclosures(manifest=SkillManifest(name="a.b", version="1.0.0", input_schema=nested))
    places = ["/properties/in" * depth for depth in range(1, 101)]
    read = [deep.around(Side.INPUT, place) for place in places]
    assert len(set(read)) < len(places)  # past a bound each is held by the whole schema
    again = Enclosures(manifest=SkillManifest(name="a.b", version="1.0.0", input_schema=deepcopy(nested)))
    assert [again.around(Side.INPUT, place) for place in places] == read
