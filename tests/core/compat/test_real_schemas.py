"""Schemas that real projects published, and seeded changes to them: all decided, every break with its payload."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from asking import contained, judge

from governance.core.compat.engine import Settings, check_schemas
from governance.core.compat.model import Comparison, FindingLevel, Reading, Side, Verdict

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "benchmarks"))

import corpus  # noqa: E402 - the benchmarks' corpus, which is no package

STEPS = [json.loads(line) for line in (ROOT / "tests/data/transitions.jsonl").read_text(encoding="utf-8").splitlines()]
CHANGED = [step for step in STEPS if step["old"] and step["new"]]


def compared(step: dict[str, Any]) -> list[Comparison]:
    comparisons = []
    for side, keyword in ((Side.INPUT, "inputSchema"), (Side.OUTPUT, "outputSchema")):
        old, new = (True if step[when].get(keyword) is None else step[when][keyword] for when in ("old", "new"))
        comparison = check_schemas(old, new, side=side)
        confirm(old, new, side, comparison)
        comparisons.append(comparison)
    return comparisons


def confirm(old: Any, new: Any, side: Side, comparison: Comparison) -> None:
    """Every break is shown by a payload that one schema accepts and the other refuses."""
    sender, receiver = (old, new) if side is Side.INPUT else (new, old)
    for finding in comparison.findings:
        if finding.level is FindingLevel.BREAKING:
            assert finding.witness is not None
            assert judge(sender).is_valid(finding.witness.payload)
            assert not judge(receiver).is_valid(finding.witness.payload)


@pytest.mark.parametrize("step", CHANGED, ids=lambda step: f"{step['source']} {step['tool']} {step['new_version']}")
def test_a_real_step_is_decided_as_its_history_says(step: dict[str, Any]) -> None:
    verdicts = {comparison.verdict for comparison in compared(step)}
    assert verdicts <= {Verdict.COMPATIBLE, Verdict.RISKY, Verdict.BREAKING}
    if step["verdict"] == "breaking-proven":
        assert verdicts & {Verdict.BREAKING, Verdict.RISKY}
    if step["verdict"] in ("none", "docs") or step["change"] == "reordered":
        assert Verdict.BREAKING not in verdicts


@pytest.mark.parametrize("seed", range(4))
def test_changes_to_real_tools_are_all_decided_and_the_readings_agree(seed: int) -> None:
    for pair in corpus.pairs(seed, 40):
        if pair.group != "changed":
            continue
        for side in (Side.INPUT, Side.OUTPUT):
            by_default = check_schemas(pair.old, pair.new, side=side)
            strict = check_schemas(pair.old, pair.new, side=side, settings=Settings(reading=Reading.STRICT))
            assert Verdict.UNDECIDED not in (by_default.verdict, strict.verdict)
            confirm(pair.old, pair.new, side, by_default)
            confirm(pair.old, pair.new, side, strict)
            if by_default.verdict is Verdict.BREAKING:
                assert strict.verdict is Verdict.BREAKING
        broken = check_schemas(pair.old, pair.new, side=Side.INPUT, settings=Settings(reading=Reading.STRICT))
        assert (broken.verdict is Verdict.BREAKING) is not contained(pair.old, pair.new)


def test_every_real_tool_equals_itself_written_otherwise() -> None:
    for tool in corpus.tools():
        schema = tool["inputSchema"]
        for side in (Side.INPUT, Side.OUTPUT):
            comparison = check_schemas(schema, _reversed(schema), side=side)
            assert comparison.verdict is Verdict.COMPATIBLE
            assert comparison.level.value == "backward_compatible"


def _reversed(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _reversed(node[key]) for key in reversed(node)}
    return [_reversed(item) for item in node] if isinstance(node, list) else node
