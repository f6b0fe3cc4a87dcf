"""Each row of LINTS finds its own example, leaves its near miss alone, and is quiet on those of all the others."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.contract import SkillManifest
from governance.core.lint import CLIENTS, LINTS, Lint, Severity, findings_of, lint_catalogue, lint_comments
from governance.core.lint.ignoring import MARK, honour, read_comment
from governance.core.lint.model import EVERYWHERE, Located
from governance.errors import InvalidContract, Place
from tests.core.careful import skill

EXPECTED = {"example.missing", "example.broken", "owner.missing"}
"""What a fragment leaves behind: its examples no longer fit, or it is about a skill that nobody owns."""


def manifests(row: Lint, sample: Any) -> list[SkillManifest]:
    if row.check_comment:
        return [skill(owner=None)]
    if row.check_catalogue:
        return [skill(**fields) for fields in sample]
    own_schema = "input_schema" in sample and "examples" not in sample
    return [skill(**(({"examples": None} if own_schema else {}) | sample))]


def found(row: Lint, sample: Any) -> set[str]:
    """Everything all lints say of a sample, those of comments included."""
    try:
        skills = manifests(row, sample)
    except InvalidContract as error:
        return {finding.id for finding in findings_of(error)}
    findings = lint_catalogue(skills, profiles=list(CLIENTS))
    ids = {finding.id for finding in findings}
    if row.check_comment:
        place = Place(file="a.yaml", line=1)
        begins, ends = EVERYWHERE
        comment = read_comment(sample.partition(MARK)[2], place, begins=begins, ends=ends)
        heard = honour([Located(finding=finding, place=place) for finding in findings], [comment])
        ids |= {finding.id for _, finding in lint_comments(heard.ignores)}
    return ids


@pytest.mark.parametrize("row", LINTS.values(), ids=LINTS)
def test_a_row_finds_its_example_and_leaves_its_near_miss_alone(row: Lint) -> None:
    assert row.id in found(row, row.example)
    assert row.id not in found(row, row.near_miss)


@pytest.mark.parametrize("row", LINTS.values(), ids=LINTS)
def test_no_other_row_speaks_of_a_near_miss(row: Lint) -> None:
    allowed = EXPECTED | ({"example.no-failing"} if row.id == "example.missing" else set())
    assert found(row, row.near_miss) <= allowed


def test_every_row_says_what_it_checks_why_and_what_to_do() -> None:
    for lint_id, row in LINTS.items():
        assert row.id == lint_id
        assert row.title.startswith("Checks that ")
        assert row.means.endswith(".")
        assert row.fix.endswith(".")
        checks = (row.check, row.check_client, row.check_catalogue, row.check_comment)
        assert sum(check is not None for check in checks) == 1


def test_only_an_invalid_contract_and_what_hides_in_texts_block_a_publish() -> None:
    blocking = {row.id for row in LINTS.values() if row.severity is Severity.ERROR and not row.check_comment}
    assert blocking == {"contract.invalid", "text.invisible", "text.lookalike", "text.order", "text.secrecy"}
