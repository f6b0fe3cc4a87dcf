"""No pair of schemas makes the engine crash, run away or fill the memory: it decides, or says why it cannot."""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest
from asking import judge
from hostile_pairs import PAIRS

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import FindingLevel, Side, Verdict

SECONDS = 3.0
"""Of processor time: ten times what the slowest takes, so that a busy machine does not matter."""
MEGABYTES = 400


@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
@pytest.mark.parametrize("name", PAIRS)
def test_it_ends_with_an_answer(name: str, side: Side) -> None:
    old, new = PAIRS[name]
    memory, began = _peak(), time.process_time()
    verdict = check_schemas(old, new, side=side)
    assert time.process_time() - began < SECONDS
    assert _peak() - memory < MEGABYTES
    if verdict.verdict is Verdict.UNDECIDED:
        assert verdict.reason
    if verdict.verdict is Verdict.INVALID:
        assert verdict.faults
    for finding in verdict.findings[:5]:
        if finding.level is FindingLevel.BREAKING:
            assert finding.witness is not None
            assert _refused(old, new, side, finding.witness.payload)


def _refused(old: Any, new: Any, side: Side, payload: Any) -> bool:
    sender, receiver = (old, new) if side is Side.INPUT else (new, old)
    return judge(sender).is_valid(payload) and not judge(receiver).is_valid(payload)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
