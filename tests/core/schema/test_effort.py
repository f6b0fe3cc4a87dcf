"""What a validator would have to do is counted before it is asked, and never too low."""

from __future__ import annotations

import time
from typing import Any

import pytest
from asking import VALUES, valid
from hypothesis import assume, given
from strategies import dialects, schemas

from governance.core.schema.dialects import DEFAULT_DIALECT, dialect_of
from governance.core.schema.effort import MAX_VALUES, MAX_VISITS, Effort, values_in
from governance.core.schema.references import References


def effort(schema: Any) -> Effort:
    return Effort(References(schema, dialect_of(schema) or DEFAULT_DIALECT))


def doubled(times: int, keyword: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{times}": {"type": "string"}}
    for index in range(times):
        target = {"$ref": f"#/$defs/d{index + 1}"}
        pair = [target, dict(target)]
        properties = {"properties": {"a": pair[0], "b": pair[1]}}
        definitions[f"d{index}"] = properties if keyword == "properties" else {keyword: pair}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_references_that_double_are_seen_through_in_linear_time(keyword: str) -> None:
    began = time.process_time()
    assert effort(doubled(60, keyword)).visits("a") > 2**60
    assert effort(doubled(10, keyword)).visits("a") < MAX_VISITS
    assert time.process_time() - began < 1


def test_a_shared_part_counts_as_often_as_it_is_written() -> None:
    payload: Any = 1
    for _ in range(60):
        payload = [payload, payload]
    assert values_in(payload) == 2**61 - 1 > MAX_VALUES
    assert values_in({"a": [1, 2], "b": {}}) == 5


def test_recursion_is_as_deep_as_the_payload() -> None:
    schema = {"properties": {"n": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
    deep: Any = {}
    for _ in range(40):
        deep = {"n": deep}
    assert effort(schema).visits({"n": {}}) < 20
    assert effort(schema).visits(deep) > 2**40


def test_a_chain_too_long_to_follow_is_too_much_and_no_crash() -> None:
    links = {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(5000)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**links, "d5000": {"type": "string"}}}
    assert effort(schema).visits("a") > MAX_VISITS


@given(dialects.flatmap(schemas))
def test_small_schemas_are_never_too_much_for_small_values(schema: Any) -> None:
    assume(valid(schema))
    counted = effort(schema)
    for value in VALUES[::40]:
        assert 1 <= counted.visits(value) <= MAX_VISITS
