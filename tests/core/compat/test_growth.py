"""What a comparison costs grows no faster than the schemas, however the findings lie in them.

Counted in the engine's own steps: a clock would measure the machine's other work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from growing import (
    NARROW,
    WIDE,
    all_tagged,
    chain,
    chain_of_changes,
    changed_fields,
    fields,
    lists,
    nullable,
    references,
    tagged,
)  # fmt: skip

from governance.core.compat.explain import Explainer
from governance.core.compat.judge import Judge
from governance.core.compat.model import Reading, Side
from governance.core.compat.question import Question
from governance.core.schema.budget import Budget

PLENTY: Final = 100_000_000


def steps(make: Callable[[int, Any], Any], size: int) -> tuple[int, int]:
    """The steps to a decision and its explanation, and the findings."""
    budget = Budget(PLENTY)
    question = Question(
        make(size, WIDE), make(size, NARROW), side=Side.INPUT, reading=Reading.DEFAULT, assert_formats=False,
        budget=budget,
    )  # fmt: skip
    assert question.ask().found
    findings = Explainer(question).findings()
    assert all(finding.witness is not None for finding in findings)
    return PLENTY - budget.remaining, len(findings)


@pytest.mark.parametrize(
    "make", [chain, lists, nullable, references, fields, tagged], ids=lambda make: str(make.__name__)
)
def test_ten_times_the_size_costs_no_more_than_ten_times_the_steps(make: Callable[[int, Any], Any]) -> None:
    small, findings = steps(make, 4)
    large, same = steps(make, 40)
    assert findings == same == 1
    assert large <= 10 * small


@pytest.mark.parametrize("make", [chain_of_changes, changed_fields, all_tagged], ids=lambda make: str(make.__name__))
def test_ten_times_the_findings_cost_no_more_than_ten_times_the_steps(
    make: Callable[[int, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # But for the validator: to each finding's payload it is a whole document.
    monkeypatch.setattr(Judge, "steps", lambda *_: 0)
    small, few = steps(make, 4)
    large, many = steps(make, 40)
    assert many >= 8 * few
    assert large <= 10 * small
