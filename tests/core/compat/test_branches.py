"""Unions whose branches a constant tells apart: each branch is matched with its own, and no answer changes by it."""

from __future__ import annotations

from typing import Any

import pytest
from asking import VALUES, judge, separating
from hard_pairs import NULL, I, N, S, any_of, arr, needs, obj, one_of
from hypothesis import given
from hypothesis import strategies as st

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Reading, Side
from governance.core.schema.solver import Solver

KINDS = st.sampled_from(
    ({"const": 1}, {"const": 2}, {"const": 1.0}, {"const": "1"}, {"const": True}, {"enum": [1, 3]}, {"enum": ["a", 2]},
     {"const": 1, "type": "integer"}, {"type": "string"}, {}),
)  # fmt: skip
FIELDS = st.sampled_from(({}, S, I, {"const": 1}, {"enum": ["a", 2]}, {"type": ["string", "null"]}, {"minimum": 1}))


@st.composite
def branches(draw: st.DrawFn) -> Any:
    """A branch that most often has a tag, now and then one that is optional, free, or beside other types."""
    branch: dict[str, Any] = obj(k=draw(KINDS), **({"v": draw(FIELDS)} if draw(st.booleans()) else {}))
    required = [name for name in ("k", "v") if draw(st.integers(0, 4 if name == "k" else 1))]
    branch |= {"required": required} if required else {}
    if not draw(st.integers(0, 5)):
        del branch["type"]
    if not draw(st.integers(0, 3)):
        branch["additionalProperties"] = False
    return branch if draw(st.integers(0, 7)) else draw(st.sampled_from((S, N, I, {})))


@st.composite
def unions(draw: st.DrawFn) -> Any:
    union = {draw(st.sampled_from(("anyOf", "oneOf"))): draw(st.lists(branches(), min_size=2, max_size=5))}
    shape = draw(st.integers(0, 5))
    if shape == 0:
        return {"not": union}
    if shape == 1:
        return {"allOf": [union, draw(branches())]}
    if shape == 2:
        return arr(union)
    return obj(u=union) if shape == 3 else union


TAGGED = [
    value if nested is None else nested(value)
    for kind in (1, 2, 3, "1", "a", True, None)
    for rest in ({}, {"v": 1}, {"v": "a"}, {"v": None}, {"w": 0})
    for value in ({**({} if kind is None else {"k": kind}), **rest},)
    for nested in (None, lambda value: [value], lambda value: {"u": value})
]


@given(unions(), unions())
def test_waiting_for_a_tag_changes_no_answer(old: Any, new: Any) -> None:
    answer = separating(old, new)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Solver, "tags", lambda *_: None)
        plain = separating(old, new)
    assert answer.found is plain.found or None in (answer.found, plain.found)
    accepts, refuses = judge(old), judge(new)
    if answer.found:
        assert accepts.is_valid(answer.value)
        assert not refuses.is_valid(answer.value)
    elif answer.found is False:
        for value in (*VALUES, *TAGGED):
            assert refuses.is_valid(value) or not accepts.is_valid(value), value


@given(unions())
def test_a_tagged_union_lies_within_itself_in_any_order(union: Any) -> None:
    for keyword in ("anyOf", "oneOf"):
        if keyword in union:
            turned = {keyword: union[keyword][::-1]}
            assert separating(union, turned).found is False
            assert separating(turned, union).found is False


def animal(kind: Any, **fields: Any) -> Any:
    return {**obj(kind=kind, **fields), **needs("kind")}


@pytest.mark.parametrize("union", [any_of, one_of])
def test_a_change_in_one_branch_points_at_that_branch_in_both_documents(union: Any) -> None:
    kinds = [{"const": name} for name in ("cat", "dog", "owl")]
    old = union(*(animal(kind, age=S) for kind in kinds))
    new = union(animal(kinds[0], age=S), animal(kinds[2], age=S), animal(kinds[1], age={**S, "minLength": 1}))
    keyword = next(iter(old))
    found = check_schemas(old, new, side=Side.INPUT).findings
    assert [(one.code, one.old_pointer, one.new_pointer) for one in found] == [
        ("input.min-length-raised", f"/{keyword}/1/properties/age", f"/{keyword}/2/properties/age/minLength")
    ]
    assert found[0].witness is not None
    assert found[0].witness.payload == {"kind": "dog", "age": ""}


def test_a_value_that_was_never_meant_for_a_branch_is_no_loss_of_it() -> None:
    old = any_of({**obj(a=S, v={**S}), **needs("a")}, {**obj(b=S, v={**S}), **needs("b")})
    new = any_of({**obj(a=S, v=S), **needs("a")}, {**obj(b=S, v={**S, "minLength": 1}), **needs("b")})
    found = check_schemas(old, new, side=Side.INPUT).findings
    assert [(one.code, one.old_pointer, one.new_pointer) for one in found] == [
        ("input.min-length-raised", "/anyOf/1/properties/v", "/anyOf/1/properties/v/minLength")
    ]


def test_a_field_that_only_the_new_branch_requires_is_its_loss() -> None:
    old = any_of({**obj(a=S, v=S), **needs("a")}, {**obj(b=S, v=S), **needs("b")})
    new = any_of({**obj(a=S, v=S), **needs("a")}, {**obj(b=S, v=S), **needs("b", "v")})
    found = check_schemas(old, new, side=Side.INPUT).findings
    assert [(one.code, one.new_pointer) for one in found] == [("input.became-required", "/anyOf/1/required/1")]
    assert found[0].witness is not None
    assert found[0].witness.payload == {"b": ""}


def test_of_several_types_the_one_that_is_lost_is_named() -> None:
    found = check_schemas(obj(a=any_of(S, NULL)), obj(a=S), side=Side.INPUT).findings
    assert [(one.old_pointer, one.old, one.new) for one in found] == [("/properties/a/anyOf/1/type", "null", "string")]


def test_a_tag_may_stand_behind_references_and_lists_of_constants() -> None:
    cat, dog = animal({"enum": ["cat", "lion"]}, age=S), animal({"const": "dog"}, age=S)
    old = {"$defs": {"cat": cat, "dog": dog}, "anyOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]}
    new = {"$defs": {"cat": animal({"const": "lion"}, age=S), "dog": dog}, "anyOf": old["anyOf"]}
    found = check_schemas(old, new, side=Side.INPUT).findings
    assert [one.witness.payload for one in found if one.witness] == [{"kind": "cat"}]


def overlapping(count: int, last: Any) -> Any:
    return any_of(*({**obj(**{f"k{at}": S}, v=last), **needs(f"k{at}")} for at in range(count)))


def test_however_many_branches_overlap_widening_each_breaks_nothing() -> None:
    for count in (2, 6, 7, 20):
        wide = overlapping(count, {"type": ["string", "null"]})
        assert check_schemas(overlapping(count, S), wide, side=Side.INPUT).verdict == "compatible", count
        assert check_schemas(wide, overlapping(count, S), side=Side.INPUT).verdict == "breaking", count


@st.composite
def crowded(draw: st.DrawFn) -> Any:
    """Objects that may fit several of many branches at once."""
    children = st.sampled_from(({}, S, I, {"type": ["string", "null"]}, {"const": 1}))
    names = st.lists(st.sampled_from("abcd"), unique=True, max_size=3)
    listed = []
    for _ in range(draw(st.integers(6, 9))):
        told = draw(names)
        branch = {**obj(**{name: draw(children) for name in told}), "required": told[:1]}
        listed.append(branch if draw(st.integers(0, 4)) else {**branch, "additionalProperties": False})
    return any_of(*listed)


@given(crowded(), crowded(), st.data())
def test_what_is_proved_of_crowded_unions_is_so(old: Any, new: Any, data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        new = any_of(*old["anyOf"][1:], *new["anyOf"][: data.draw(st.integers(0, 2))])
    for reading in Reading:
        answer = separating(old, new, Side.INPUT, reading)
        accepts, refuses = judge(old), judge(new)
        if answer.found:
            assert accepts.is_valid(answer.value)
            assert not refuses.is_valid(answer.value)
        elif answer.found is False:
            for value in VALUES:
                if isinstance(value, dict) and (reading is Reading.STRICT or declared(old, value)):
                    assert refuses.is_valid(value) or not accepts.is_valid(value), value


def declared(union: Any, value: dict[str, Any]) -> bool:
    """Is every field told by a branch that the value fits?"""
    told = {name for branch in union["anyOf"] if judge(branch).is_valid(value) for name in branch["properties"]}
    return value.keys() <= told
