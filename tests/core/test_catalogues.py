"""A catalogue is released as one: its worst member says what the release needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance.core.catalogues import CatalogueComparison, MemberChange, compare_catalogues
from governance.core.compat.engine import check
from governance.core.compat.model import Bump, Verdict
from governance.core.contract import manifest_from_document
from governance.core.skill import SkillManifest
from governance.core.versioning import Version

V = Version.parse
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def tool(name: str, schema: dict[str, Any] | None = None, **fields: Any) -> SkillManifest:
    document = {
        "name": f"azure.{name}", "version": "2.8.1", "description": f"Does {fields.pop('does', 'something')}.",
        "input_schema": schema or {"type": "object"}, **fields,
    }  # fmt: skip
    return manifest_from_document(document, native=False)


def release(old: list[SkillManifest], new: list[SkillManifest]) -> CatalogueComparison:
    return compare_catalogues(old, new, compare=check)


def told(found: CatalogueComparison) -> list[tuple[str, str, str | None]]:
    return [(one.name, one.change.value, one.successor) for one in found.members]


def test_a_rename_in_a_minor_is_a_break_that_needs_a_major() -> None:
    found = release([tool("a_get", PATH)], [tool("a", PATH)])
    assert told(found) == [("azure.a_get", "renamed", "azure.a")]
    (member,) = found.members
    assert member.evidence == "the same contract"
    assert member.comparison.verdict is Verdict.BREAKING
    (finding,) = member.comparison.findings
    assert (finding.code, finding.skill) == ("contract.tool-renamed", "azure.a_get")
    assert "alias" in finding.fix
    assert (found.bump, str(found.next_version(V("2.8.1")))) == (Bump.MAJOR, "3.0.0")
    assert str(found.next_version(V("0.8.1"))) == "0.9.0"


def test_an_alias_under_the_old_name_is_no_break() -> None:
    found = release([tool("a_get", PATH)], [tool("a_get", PATH), tool("a", PATH)])
    assert told(found) == [("azure.a", "added", None), ("azure.a_get", "unchanged", None)]
    assert (found.bump, str(found.next_version(V("2.8.1")))) == (Bump.MINOR, "2.9.0")


@pytest.mark.parametrize(
    ("old", "new", "evidence"),
    [
        (tool("get_commit", PATH), tool("fetch_commit", PATH, does="another thing"), "the same schemas"),
        (tool("list_issues", PATH), tool("list_issue", does="another thing"), "a close name"),
        (tool("issues", replacement="azure.tickets@^1"), tool("tickets", PATH), "declared as its replacement"),
    ],
)
def test_a_rename_is_told_by_what_speaks_for_it(old: SkillManifest, new: SkillManifest, evidence: str) -> None:
    (member,) = release([old], [new]).members
    assert (member.change, member.successor, member.evidence) == (MemberChange.RENAMED, new.name, evidence)


def test_tools_that_merely_take_the_same_arguments_are_no_renames() -> None:
    for other in ("render_chart", "create_branch", "get_branch"):
        found = release([tool("delete_branch", PATH, does="a")], [tool(other, PATH, does="b")])
        assert told(found) == [("azure.delete_branch", "removed", None), (f"azure.{other}", "added", None)]
        assert found.members[0].comparison.findings[0].code == "contract.tool-removed"


def test_a_removed_tool_names_a_successor_that_was_there_all_along() -> None:
    old = [tool("issues", replacement="azure.tickets@^1"), tool("tickets", PATH)]
    found = release(old, [tool("tickets", PATH)])
    assert told(found) == [("azure.issues", "removed", "azure.tickets"), ("azure.tickets", "unchanged", None)]


def test_each_added_tool_succeeds_one_removed_tool_at_most() -> None:
    old = [tool("get_a", PATH), tool("get_b", PATH)]
    found = release(old, [tool("get_c", PATH)])
    assert sorted(change for _, change, _ in told(found)) == ["removed", "renamed"]


def test_what_else_changed_in_a_renamed_tool_is_told_with_it() -> None:
    wider = {**PATH, "required": ["path", "depth"], "properties": {**PATH["properties"], "depth": {}}}
    (member,) = release([tool("list_files", PATH)], [tool("list_file", wider)]).members
    assert {finding.code for finding in member.comparison.findings} >= {
        "contract.tool-renamed", "input.required-added",
    }  # fmt: skip


def test_the_worst_member_decides_and_stands_first() -> None:
    old = [tool("a"), tool("b", timeout_sec=60), tool("c", title="x"), tool("d")]
    new = [tool("a", PATH), tool("b", timeout_sec=5), tool("c", title="y"), tool("d")]
    found = release(old, new)
    assert told(found) == [
        ("azure.a", "changed", None), ("azure.b", "changed", None), ("azure.c", "changed", None),
        ("azure.d", "unchanged", None),
    ]  # fmt: skip
    assert [member.comparison.bump for member in found.members] == [Bump.MAJOR, Bump.MINOR, Bump.PATCH, Bump.NONE]
    assert found.bump is Bump.MAJOR


def test_an_unchanged_catalogue_needs_nothing_in_whatever_order_it_comes() -> None:
    catalogue = [tool("a", PATH), tool("b")]
    found = release(catalogue, catalogue[::-1])
    assert (found.bump, {change for _, change, _ in told(found)}) == (Bump.NONE, {"unchanged"})
    assert found.next_version(V("1.4.0")) == V("1.4.0")


def test_an_empty_catalogue_removes_or_adds_everything() -> None:
    assert {change for _, change, _ in told(release([tool("a"), tool("b")], []))} == {"removed"}
    assert {change for _, change, _ in told(release([], [tool("a"), tool("b")]))} == {"added"}
    assert release([], []).bump is Bump.NONE


def test_the_document_counts_the_members() -> None:
    document = json.loads(json.dumps(release([tool("a", PATH), tool("old_b")], [tool("a", PATH)]).to_document()))
    assert document["counts"] == {"added": 0, "removed": 1, "renamed": 0, "changed": 0, "unchanged": 1}
    assert document["bump"] == "major"


@pytest.mark.timeout(60)
def test_a_thousand_renamed_tools_are_paired_in_bounded_time() -> None:
    old = [tool(f"tool_{n}_get", PATH) for n in range(1_000)]
    new = [tool(f"tool_{n}", PATH) for n in range(1_000)]
    found = release(old, new)
    assert {change for _, change, _ in told(found)} == {"renamed"}
