"""Changes beside the schemas: what a caller may rely on, and no more (docs/compatibility.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from governance.core.compat.changes import contract_changes
from governance.core.compat.engine import check
from governance.core.compat.model import Finding, FindingLevel, Level, Verdict
from governance.core.contract import manifest_from_document
from governance.core.skill import SkillManifest
from governance.importers.mcp import tool_contract

DATA = Path(__file__).parents[2] / "data"
EFFECTS = (None, "none", "read", "write", "external", "destructive")


def skill(**fields: Any) -> SkillManifest:
    document = {"name": "git.log", "version": "1.0.0", "input_schema": {"type": "object"}, **fields}
    return manifest_from_document(document, native=False)


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[Finding]:
    return contract_changes(skill(**old), skill(**new))


def codes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [finding.code for finding in changes(old, new)]


@pytest.mark.parametrize("old", EFFECTS)
@pytest.mark.parametrize("new", EFFECTS)
def test_a_side_effect_is_raised_exactly_when_the_new_version_may_do_more(old: str | None, new: str | None) -> None:
    def may_do(effect: str | None) -> int:
        return EFFECTS.index(effect or "destructive")

    found = codes(*({"side_effects": effect} if effect else {} for effect in (old, new)))
    raised = "contract.side-effect-raised" in found
    assert raised == (may_do(new) > may_do(old))
    assert bool(found) == (old != new)


@pytest.mark.parametrize("old", [None, False, True])
@pytest.mark.parametrize("new", [None, False, True])
def test_only_a_promised_idempotence_can_be_withdrawn(old: bool | None, new: bool | None) -> None:
    found = codes(*({"idempotent": value} if value is not None else {} for value in (old, new)))
    assert ("contract.idempotence-withdrawn" in found) == (old is True and new is not True)


def test_each_permission_is_a_finding_of_its_own_with_a_fingerprint_of_its_own() -> None:
    found = changes({"required_permissions": ["a"]}, {"required_permissions": ["b", "a", "c"]})
    assert [finding.new for finding in found] == ["b", "c"]
    assert len({finding.fingerprint for finding in found}) == 2
    reordered = changes({"required_permissions": ["a"]}, {"required_permissions": ["c", "b", "a"]})
    assert {one.fingerprint for one in reordered} == {one.fingerprint for one in found}


def test_a_timeout_that_an_importer_filled_in_was_promised_to_nobody() -> None:
    assert codes({"defaulted": ["timeout_sec"]}, {"timeout_sec": 5}) == []
    assert codes({"timeout_sec": 60}, {}) == ["contract.timeout-lowered"]


def test_a_break_beside_the_schemas_needs_a_major() -> None:
    comparison = check(skill(), skill(requires_approval=True))
    assert (comparison.verdict, comparison.level) == (Verdict.BREAKING, Level.BREAKING_CHANGE)
    assert comparison.findings[0].evidence is not None


def test_names_versions_levels_and_lifecycle_are_no_contract() -> None:
    new = {
        "name": "other.name", "version": "9.0.0", "compatibility": "breaking_change", "sunset": "2030-01-01",
        "deprecated_since": "1.0.0", "replacement": "a@^1", "migration_guide": "https://docs.acme.dev",
    }  # fmt: skip
    assert codes({}, new) == []


@pytest.mark.timeout(60)
def test_many_new_permissions_and_long_texts_are_compared_quickly() -> None:
    old = skill(description="Lists commits. " * 5_000)
    new = skill(
        description="You must call other_tool. " * 3_500,
        required_permissions=[f"p{n}" for n in range(500)],
        business_rules=[{"id": f"r{n}", "text": f"never call tool_{n} " * 5} for n in range(300)],
    )
    found = contract_changes(old, new)
    assert sum(finding.code == "contract.permission-added" for finding in found) == 500


def transitions() -> list[dict[str, Any]]:
    lines = (DATA / "transitions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def contract_of(line: dict[str, Any], which: str) -> SkillManifest | None:
    tool = line[which]
    if tool is None:
        return None
    tool = {key: value for key, value in tool.items() if value is not None} | {"name": line["tool"]}
    return tool_contract(tool, name="real.tool", version="1.0.0")


@pytest.mark.parametrize("line", transitions(), ids=lambda line: f"{line['tool']} {line['new_version']}")
def test_real_tools_that_only_changed_words_are_never_risky(line: dict[str, Any]) -> None:
    old, new = contract_of(line, "old"), contract_of(line, "new")
    comparison = check(old, new)
    if line["verdict"] in ("none", "docs") or line["change"] in ("reordered", "unchanged"):
        assert comparison.verdict is Verdict.COMPATIBLE
        assert comparison.level is Level.BACKWARD_COMPATIBLE
    if line["change"] in ("reordered", "unchanged"):
        assert comparison.identical
    if new is None:
        assert [finding.code for finding in comparison.findings] == ["contract.tool-removed"]
    told = {finding[1] for finding in line["findings"]}
    found = {finding.code for finding in comparison.findings}
    assert ("default-changed" in told) == ("input.default-moved" in found)
    assert ("default-dropped" in told) == ("input.default-dropped" in found)


def test_texts_raise_few_alarms_over_real_releases() -> None:
    alarms = [
        (line["tool"], finding.code)
        for line in transitions()
        if (old := contract_of(line, "old")) and (new := contract_of(line, "new"))
        for finding in contract_changes(old, new)
        if finding.code.startswith("contract.text-")
    ]
    assert alarms == [("perplexity_ask", "contract.text-names-tool"), ("tavily_search", "contract.text-new-url")]


def test_every_finding_beside_the_schemas_shows_the_old_and_the_new_fact() -> None:
    for line in transitions():
        old, new = contract_of(line, "old"), contract_of(line, "new")
        if old and new:
            for finding in contract_changes(old, new):
                assert finding.evidence is not None
                json.dumps(finding.to_document())
                assert finding.level is not FindingLevel.UNDECIDED
