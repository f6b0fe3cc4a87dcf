"""A candidate is judged apart from the others, and each of its comparisons is made once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from governance.cli.announcing import Numbers
from governance.cli.judging import Candidate, Judging
from governance.core.compat import engine
from governance.core.compat.model import Comparison
from governance.core.skill import SkillManifest
from governance.importers.mcp import tool_contract
from tests.cli.toollists import NARROWER, OLD, WIDER

Asked = list[tuple[SkillManifest | None, SkillManifest | None]]


def skill(schema: Any, version: str) -> SkillManifest:
    tool = {"name": "find", "description": "Find it.", "inputSchema": schema}
    return replace(tool_contract(tool, name="find", version=version or "0.0.0"), version=version)


@pytest.fixture
def asked() -> Asked:
    return []


@pytest.fixture
def judging(asked: Asked) -> Judging:
    def compare(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        asked.append((old, new))
        return engine.check(old, new)

    return Judging(
        against="old",
        compare=compare,
        lint=lambda _: (),
        fail_on=None,
        transitive=True,
        numbers=Numbers(automatic=True),
    )


def test_a_number_found_for_a_candidate_asks_for_no_second_comparison(judging: Judging, asked: Asked) -> None:
    decision = judging(Candidate(manifest=skill(NARROWER, ""), stood=(skill(OLD, "1.0.0"),)))
    assert (decision["version"], decision["verdict"], len(asked)) == ("2.0.0", "breaking", 1)


def test_versions_that_differ_are_each_compared(judging: Judging, asked: Asked) -> None:
    stood = skill(OLD, "1.0.0"), skill(WIDER, "1.1.0")
    decision = judging(Candidate(manifest=skill(NARROWER, ""), stood=stood))
    assert decision["version"] == "2.0.0"
    assert len(asked) == len({(id(old and old.input_schema), id(new and new.input_schema)) for old, new in asked})
