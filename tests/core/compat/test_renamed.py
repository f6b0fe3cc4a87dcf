"""A tool under another name is not the tool that its callers know, whoever compares the two."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.catalogues import MemberChange, compare_catalogues
from governance.core.compat.engine import check
from governance.core.compat.model import Bump, Level, Verdict
from governance.core.contract import SkillManifest, manifest_from_document


def skill(name: str, **fields: Any) -> SkillManifest:
    document = {"name": name, "version": "1.0.0", "input_schema": {"type": "object"}, **fields}
    return manifest_from_document(document, native=False)


@pytest.mark.parametrize(
    ("old", "new", "renamed"),
    [
        ("get_user", "fetch_user", True),
        ("crm.get_user", "crm.fetch_user", True),
        ("crm.get_user", "erp.get_user", True),
        ("crm.get_user", "fetch_user", True),
        ("crm.get_user", "crm.get_user", False),
        ("crm.get_user", "get_user", False),
        ("get_user", "crm.get_user", False),
    ],
)
def test_two_names_are_a_break_and_a_bare_one_stands_in_any_namespace(old: str, new: str, renamed: bool) -> None:
    comparison = check(skill(old), skill(new))
    assert [finding.code for finding in comparison.findings] == (["contract.tool-renamed"] if renamed else [])
    assert comparison.verdict is (Verdict.BREAKING if renamed else Verdict.COMPATIBLE)
    assert comparison.identical is not renamed
    if renamed:
        assert comparison.level is Level.BREAKING_CHANGE
        assert comparison.bump is Bump.MAJOR
        assert (comparison.findings[0].old, comparison.findings[0].new) == (old, new)


def test_in_a_catalogue_it_is_said_once() -> None:
    (member,) = compare_catalogues([skill("crm.get_user")], [skill("crm.fetch_user")], compare=check).members
    assert member.change is MemberChange.RENAMED
    assert [finding.code for finding in member.comparison.findings] == ["contract.tool-renamed"]
