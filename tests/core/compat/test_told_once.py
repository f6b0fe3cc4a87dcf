"""One cause, one finding: what a shared definition breaks at every place that uses it is told once."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hard_pairs import S, obj

from governance.core.compat.engine import check_schemas
from governance.core.compat.explain import MAX_FINDINGS
from governance.core.compat.model import FindingLevel, Side


def shared(target: Any, places: int = 3, **others: Any) -> Any:
    used = {f"field_{number}": {"anyOf": [{"$ref": "#/$defs/t"}, {"type": "null"}]} for number in range(places)}
    lists = {"many": {"type": "array", "items": {"$ref": "#/$defs/t", "title": "Many"}}}
    return {"$defs": {"t": target}, **obj(**used, **lists, **others)}


ADDRESS = {**obj(street=S, zip=S), "required": ["street"]}
CHANGES = (
    {**ADDRESS, "required": ["street", "zip"]},
    {**ADDRESS, "required": []},
    {**ADDRESS, **obj(street=S)},
    {**ADDRESS, **obj(street=S, zip=S, city=S)},
    {**ADDRESS, **obj(street=S, zip={"type": ["string", "null"]})},
    {**ADDRESS, **obj(street={"type": "string", "minLength": 2}, zip=S)},
    {**ADDRESS, **obj(street={"anyOf": [S, {"type": "null"}]}, zip=S)},
    {**ADDRESS, **obj(street=S, zip={"type": "string", "format": "uri"})},
)


@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_a_shared_definition_is_told_once(change: Any, side: Side) -> None:
    for old, new in ((shared(ADDRESS), shared(change)), (shared(change), shared(ADDRESS))):
        findings = check_schemas(old, copy.deepcopy(new), side=side).findings
        places = [(finding.code, finding.old_pointer, finding.new_pointer) for finding in findings]
        assert len(places) == len(set(places))


def test_a_definition_used_everywhere_crowds_no_other_break_out() -> None:
    places = MAX_FINDINGS + 20
    old = shared(ADDRESS, places, zzz=S)
    new = shared({**ADDRESS, "required": ["street", "zip"]}, places, zzz={"type": "string", "minLength": 1})
    breaks = [one for one in check_schemas(old, new, side=Side.INPUT).findings if one.level is FindingLevel.BREAKING]
    assert [one.code for one in breaks] == ["input.became-required", "input.min-length-raised"]
