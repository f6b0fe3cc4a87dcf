"""A sender is told of names by schemas that apply and pass, and of none by those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Side, Verdict

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}


def test_a_dependent_schema_tells_of_names_only_where_its_trigger_is_declared() -> None:
    dependent = {"b": {"properties": {"c": TEXT}}}
    old = {"properties": {"a": TEXT}, "dependentSchemas": dependent}
    new = {"properties": {"a": TEXT, "c": NUMBER}}
    assert check_schemas(old, new, side=Side.INPUT).verdict is Verdict.COMPATIBLE
    told = {"properties": {"a": TEXT, "b": TEXT}, "dependentSchemas": dependent}
    answer = check_schemas(told, {"properties": {"a": TEXT, "b": TEXT, "c": NUMBER}}, side=Side.INPUT)
    assert answer.verdict is Verdict.BREAKING
    assert answer.witness is not None
    assert answer.witness.payload.keys() == {"b", "c"}


@pytest.mark.parametrize("closing", [{}, {"additionalProperties": False}])
def test_a_union_beside_declared_fields_hides_no_break(closing: dict[str, Any]) -> None:
    either = {"anyOf": [{"required": ["k"]}, {"required": ["v"]}]}
    old = {"type": "object", "properties": {"k": TEXT, "v": TEXT}, **either, **closing}
    new = {"type": "object", "properties": {"k": TEXT, "v": NUMBER}}
    answer = check_schemas(old, new, side=Side.INPUT)
    assert answer.verdict is Verdict.BREAKING
    assert [finding.code for finding in answer.findings if finding.witness] == ["input.type-narrowed"]
