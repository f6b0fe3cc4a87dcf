"""Asked by itself, a field or an item gives the findings that the whole document gives, with whole payloads."""

from __future__ import annotations

from typing import Any

import pytest
from asking import valid
from hard_pairs import I, S, all_of, any_of, closed, needs, obj
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import dialects, pairs

from governance.core.compat.explain import Explainer
from governance.core.compat.model import Finding, FindingLevel, Reading, Side
from governance.core.compat.positions import Position
from governance.core.compat.question import Question
from governance.core.schema.budget import Budget


def many(items: Any) -> Any:
    return {"type": "array", "items": items}


def explained(old: Any, new: Any, side: Side, reading: Reading) -> list[Finding]:
    budget = Budget(1_000_000)
    question = Question(old, new, side=side, reading=reading, assert_formats=False, budget=budget)
    return Explainer(question).findings() if question.ask().found else []


def told(findings: list[Finding]) -> list[tuple[str, str | None, str | None]]:
    return [(one.code, one.old_pointer, one.new_pointer) for one in findings]


def by_the_whole(old: Any, new: Any, side: Side, reading: Reading) -> list[Finding]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Position, "field", lambda *_, **__: None)
        patch.setattr(Position, "item", lambda *_, **__: None)
        return explained(old, new, side, reading)


@given(dialects.flatmap(pairs), st.sampled_from((Side.INPUT, Side.OUTPUT)), st.sampled_from(Reading))
def test_what_the_part_tells_the_whole_tells(pair: tuple[Any, Any], side: Side, reading: Reading) -> None:
    assume(valid(*pair))
    parts, whole = explained(*pair, side, reading), by_the_whole(*pair, side, reading)
    open_to = {one.new_pointer for one in (*parts, *whole) if one.level is FindingLevel.UNDECIDED}
    if not open_to:
        assert told(parts) == told(whole)


@pytest.mark.parametrize(
    ("old", "new", "payloads"),
    [
        pytest.param(
            {**obj(a=obj(b=S), c=I), **needs("c")}, {**obj(a=obj(b=I), c=I), **needs("c")},
            [{"c": 0, "a": {"b": ""}}], id="what is required beside the field is there",
        ),
        pytest.param(
            {**obj(a=obj(b=S)), "maxProperties": 1, **needs("z")}, {**obj(a=obj(b=I)), **needs("z")},
            [], id="where there is no room for the field nothing breaks",
        ),
        pytest.param(
            {**many(obj(b=S)), "minItems": 2}, many(obj(b=I)), [[{"b": ""}, {}]], id="a list is as long as it must be"
        ),
        pytest.param(
            {**many(S), "minItems": 2, "uniqueItems": True}, many(I), [["a", ""]], id="items that must differ do"
        ),
        pytest.param(
            {**many(S), "maxItems": 1, "uniqueItems": True}, many(I), [[""]], id="one item differs from all others"
        ),
        pytest.param(
            {"prefixItems": [S, S], "items": S, "type": "array"}, {"prefixItems": [S], "items": I},
            [["", ""]], id="the rest of the receiver may start before the sender's",
        ),
        pytest.param(
            any_of({**obj(a=S), **needs("a")}, {**obj(a=S, b=S), **needs("b")}), obj(b=I),
            [{"b": ""}], id="fields that depend on a choice are asked together",
        ),
        pytest.param(
            all_of(obj(a=obj(x=S)), obj(a=obj(y=S))), obj(a=closed(y=S)), [{"a": {"x": ""}}],
            id="several descriptions of a field count together",
        ),
    ],
)  # fmt: skip
def test_a_payload_holds_what_stands_around_the_part(old: Any, new: Any, payloads: list[Any]) -> None:
    found = explained(old, new, Side.INPUT, Reading.DEFAULT)
    assert [one.witness.payload for one in found if one.witness] == payloads
    assert told(found) == told(by_the_whole(old, new, Side.INPUT, Reading.DEFAULT))
