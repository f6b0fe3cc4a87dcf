"""A lowered schema holds for exactly the values that the independent validator accepts, in every dialect."""

from __future__ import annotations

from typing import Any

from asking import VALUES, judge, valid
from hypothesis import assume, given
from strategies import dialects, schemas

from governance.core.schema.budget import Budget
from governance.core.schema.holding import Holding
from governance.core.schema.lower import Lowering
from governance.core.schema.nodes import Forest


@given(dialects.flatmap(schemas))
def test_the_lowered_form_means_what_the_validator_means(schema: Any) -> None:
    assume(valid(schema))
    forest = Forest()
    node = Lowering(forest, schema).lower()
    holding, validator = Holding(forest, Budget(10_000_000)), judge(schema)
    for value in VALUES[::3]:
        held = holding.holds(node, value)
        assert held is None or held is validator.is_valid(value), value


@given(dialects.flatmap(schemas))
def test_the_masks_of_a_node_leave_out_no_type(schema: Any) -> None:
    assume(valid(schema))
    forest = Forest()
    node = Lowering(forest, schema).lower()
    validator = judge(schema)
    for mask, value in ((1, None), (2, True), (4, 0.5), (8, "a"), (16, [1]), (32, {"a": 1})):
        assert (node.can_hold if validator.is_valid(value) else node.can_fail) & mask
