"""Each row beside the schemas produces its code for its example, and not for its near miss."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.catalogues import compare_catalogues
from governance.core.compat.changes import contract_changes
from governance.core.compat.code import Code
from governance.core.compat.codes_contract import CONTRACT_CODES
from governance.core.compat.engine import check
from governance.core.compat.model import Finding, FindingLevel, Side
from governance.core.contract import manifest_from_document
from governance.core.skill import SkillManifest

BASE: dict[str, Any] = {
    "name": "git.log",
    "version": "1.0.0",
    "description": "Lists the commits of a repository.",
    "input_schema": {"type": "object"},
}


def manifest(row: Code, fields: Any) -> SkillManifest | None:
    if fields is None:
        return None
    document = {**BASE, **({f"{row.sides[0]}_schema": fields} if row.sides[0] is not Side.CONTRACT else fields)}
    if document.get("category") == "knowledge":
        document.pop("input_schema")
    return manifest_from_document(document, native=False)


def findings(row: Code, pair: tuple[Any, Any]) -> list[Finding]:
    old, new = (manifest(row, fields) for fields in pair)
    if row.id == "contract.tool-renamed":
        assert old is not None
        assert new is not None
        members = compare_catalogues([old], [new], compare=check).members
        return [finding for member in members for finding in member.comparison.findings]
    return list(check(old, new).findings)


@pytest.mark.parametrize("row", CONTRACT_CODES, ids=lambda row: row.id)
def test_the_example_of_a_row_produces_its_code(row: Code) -> None:
    produced = [finding for finding in findings(row, row.example) if finding.code == row.id]
    assert len(produced) == 1
    (finding,) = produced
    assert (finding.level, finding.side, finding.fix) == (row.level, row.sides[0], row.fix)
    assert finding.evidence is not None, "a change no payload can show carries the old and the new fact"
    assert finding.message


@pytest.mark.parametrize("row", CONTRACT_CODES, ids=lambda row: row.id)
def test_the_near_miss_of_a_row_does_not(row: Code) -> None:
    assert row.id not in {finding.code for finding in findings(row, row.near_miss)}


@pytest.mark.parametrize("row", CONTRACT_CODES, ids=lambda row: row.id)
def test_nothing_changes_between_equal_manifests(row: Code) -> None:
    for fields in (*row.example, *row.near_miss):
        same = manifest(row, fields)
        if same is not None:
            assert contract_changes(same, same) == []
            assert check(same, same).identical


def test_rows_are_told_in_sentences_a_reader_can_act_on() -> None:
    for row in CONTRACT_CODES:
        assert row.title[0].islower()
        assert row.title[-1] != "."
        for sentence in (row.means, row.hits, row.fix):
            assert sentence[0].isupper()
            assert sentence.endswith(".")


def test_the_table_of_the_design_is_covered_at_its_levels() -> None:
    levels = {row.id.partition(".")[2]: row.level for row in CONTRACT_CODES}
    for breaking in (
        "permission-added", "approval-added", "runtime-need-added", "idempotence-withdrawn", "side-effect-raised",
        "error-not-retryable", "tool-removed", "tool-renamed",
    ):  # fmt: skip
        assert levels[breaking] is FindingLevel.BREAKING
    for risky in (
        "default-moved", "default-dropped", "timeout-lowered", "allowed-tools-widened", "danger-added",
        "business-rule-added", "business-rule-changed", "error-added", "error-changed", "fallback-changed",
        "text-orders-model", "text-new-url", "text-names-tool", "text-invisible",
    ):  # fmt: skip
        assert levels[risky] is FindingLevel.RISKY
    for note in (
        "description-changed", "title-changed", "tags-changed", "examples-changed", "entrypoint-changed",
        "timeout-raised", "permission-removed",
    ):  # fmt: skip
        assert levels[note] is FindingLevel.NOTE
