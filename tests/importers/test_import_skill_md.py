"""A SKILL.md becomes a knowledge skill whose text is its contract, and never one with empty metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.contract import UNVERSIONED, Category
from governance.core.skill import SkillManifest
from governance.importers import import_text
from governance.importers.rules import business_rules

DATA = Path(__file__).parent.parent / "data"
FRONT = json.loads((DATA / "skill_front_matters.json").read_text(encoding="utf-8"))
NAMED = "name: plan-work\ndescription: Plans work.\n"


def skill_md(front: str = NAMED, body: str = "# Plan\n\nThink first.\n") -> str:
    return f"---\n{front}---\n{body}"


def accepted(text: str, **options: Any) -> SkillManifest:
    result = import_text(text, file="plan-work/SKILL.md", **options)
    assert not result.refused
    return result.accepted[0]


def test_a_skill_file_becomes_a_knowledge_skill() -> None:
    skill = accepted(skill_md(NAMED + "license: MIT\nallowed-tools: Bash(git add:*), Read Write\n"))
    assert (skill.name, skill.external_name) == ("plan_work", "plan-work")
    assert skill.category is Category.KNOWLEDGE
    assert skill.version == UNVERSIONED
    assert skill.allowed_tools == ("Bash(git add:*)", "Read", "Write")
    assert skill.extensions == {"skill_md": {"license": "MIT", "body": "# Plan\n\nThink first.\n"}}
    assert skill.defaulted == {"timeout_sec", "compatibility"}


def test_its_text_is_its_contract() -> None:
    before, after = accepted(skill_md()), accepted(skill_md(body="# Plan\n\nThink later.\n"))
    assert before.contract_digest != after.contract_digest


def test_line_ends_are_no_part_of_the_contract() -> None:
    text = skill_md()
    assert accepted(text.replace("\n", "\r\n")).contract_digest == accepted(text).contract_digest


@pytest.mark.parametrize(
    ("front", "version", "external"),
    [
        ("metadata:\n  version: '1.2.0'\n", "1.2.0", None),
        ("metadata:\n  version: 1.10\n", "1.10.0", "1.10"),
        ("metadata: {version: v2.0.0, author: x}\n", "2.0.0", "v2.0.0"),
        ("version: 3.1.0\n", "3.1.0", None),
        ("metadata:\n  author: x\n", UNVERSIONED, None),
    ],
)
def test_the_version_stands_in_metadata_as_written(front: str, version: str, external: str | None) -> None:
    skill = accepted(skill_md(NAMED + front))
    assert (skill.version, skill.external_version) == (version, external)
    assert skill.contract_digest == accepted(skill_md(NAMED + front), version="9.9.9").contract_digest


@pytest.mark.parametrize("entry", [entry for entry in FRONT if entry["parses"]], ids=lambda entry: entry["path"])
def test_real_front_matter_is_read(entry: dict[str, Any]) -> None:
    result = import_text(skill_md(entry["front_matter"] + "\n"), file="SKILL.md")
    assert not result.refused
    assert result.accepted[0].description
    assert [warning for warning in result.warnings if warning.code == "lenient"] == []


@pytest.mark.parametrize("entry", [entry for entry in FRONT if not entry["parses"]], ids=lambda entry: entry["path"])
def test_real_broken_front_matter_is_mended_with_a_warning_or_refused_with_its_line(entry: dict[str, Any]) -> None:
    result = import_text(skill_md(entry["front_matter"] + "\n"), file="SKILL.md")
    if result.accepted:
        assert result.accepted[0].description
        assert [(w.code, w.place.line) for w in result.warnings if w.place] == [("lenient", 3)]
    else:
        (fault,) = result.refused[0].error.faults
        assert fault.place is not None
        assert fault.place.line is not None
        assert entry["front_matter"].split("\n")[fault.place.line - 2].startswith("  - cloudflare")


@pytest.mark.parametrize(
    ("front", "description", "line"),
    [
        ("description: Plan work: goals, risks\nname: plan-work\n", "Plan work: goals, risks", 2),
        ("name: plan-work\ndescription: [Beta] Plans work\n", "[Beta] Plans work", 3),
        ("name: plan-work\ndescription: *bold* plans\n", "*bold* plans", 3),
        ('name: plan-work\ndescription: "Plan" work: now\n', '"Plan" work: now', 3),
        ("name: plan-work\ndescription: Plan: a\n  and: b\n\n  rest\n", "Plan: a and: b\nrest", 3),
        ("name: plan-work\ndescription: @team plans\n", "@team plans", 3),
    ],
)
def test_an_unquoted_description_is_read_as_text_with_a_located_warning(
    front: str, description: str, line: int
) -> None:
    result = import_text(skill_md(front), file="SKILL.md")
    assert result.accepted[0].description == description
    (warning,) = [warning for warning in result.warnings if warning.code == "lenient"]
    assert str(warning.place) == f"SKILL.md:{line}:1"
    assert warning.pointer == "/description"


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("# Plan\n", "SKILL.md:1", "begins with front matter"),
        ("", "SKILL.md:1", "begins with front matter"),
        ("---\nname: a\ndescription: b\n", "SKILL.md:1", "never closed"),
        ("---\n---\nbody\n", "SKILL.md:2", "empty"),
        ("---\n- a\n---\n", "SKILL.md:2", "not fields"),
        ("---\nname: a\n---\n", "SKILL.md:2:1", "missing"),
        ("---\nname: a\ndescription: '  '\n---\n", "SKILL.md:3:14", "empty"),
        ("---\nname: 3\ndescription: b\n---\n", "SKILL.md:2:7", "string"),
        ("---\nname: a\ndescription:\n  text: b\n---\n", "SKILL.md:4:3", "string"),
        ("---\nname: a\nname: b\ndescription: c\n---\n", "SKILL.md:3:1", "twice"),
        ("---\nname: a\ndescription: c\nmetadata:\n  a: b: c\n---\n", "SKILL.md:5:7", "mapping values"),
        ("---\nname: a\ndescription: c\nallowed-tools: 3\n---\n", "SKILL.md:4:16", "list of tools"),
        ("---\nname: a\ndescription: c\nmetadata: &a [*a]\n---\n", "SKILL.md:4:11", "anchors"),
    ],
)
def test_what_cannot_be_read_is_refused_where_it_stands(text: str, place: str, says: str) -> None:
    result = import_text(text, file="SKILL.md")
    assert not result.accepted
    (refused,) = result.refused
    assert says in str(refused.error)
    assert str(refused.error.faults[0].place) == place


def test_a_name_that_is_not_its_folders_is_told() -> None:
    result = import_text(skill_md(), file="skills/other/SKILL.md")
    assert "differs from its folder" in result.warnings[0].message


@pytest.mark.parametrize(
    "heading",
    [
        "## Business rules",
        "# Business Rules:",
        "### 业务规则",
        "【业务规则】",
        "## 【业务规则】",
        "**【业务规则】**",
        "## 3. Business rules ##",
    ],
)
def test_the_list_under_the_heading_becomes_business_rules(heading: str) -> None:
    body = (
        "# Plan\n- not a rule\n\n"
        f"{heading}\n\n- BR-01: Goals come first.\n* Risks are named\n  and weighed.\n1. 订单必须已支付。\n\n"
        "# Next\n- not a rule either\n"
    )
    rules = accepted(skill_md(body=body)).business_rules
    assert [rule.text for rule in rules] == ["Goals come first.", "Risks are named and weighed.", "订单必须已支付。"]
    assert rules[0].id == "BR-01"


def test_subsections_belong_to_the_rules_and_code_is_not_read_for_headings() -> None:
    rules, lines = business_rules(
        "## Business rules\n- a rule\n### More\n- b rule\n```\n# not a heading\n```\n- c rule\n## End\n- d"
    )
    assert [rule["text"] for rule in rules] == ["a rule", "b rule", "c rule"]
    assert lines == [1, 3, 7]


def test_paragraphs_are_rules_where_there_is_no_list() -> None:
    rules, _ = business_rules("## Business rules\nFirst\nline.\n\nSecond.\n")
    assert [rule["text"] for rule in rules] == ["First line.", "Second."]


def test_moving_a_rule_keeps_its_id_and_two_rules_never_share_one() -> None:
    one, _ = business_rules("## Business rules\n- first\n- second\n- R1: x\n- R1: y\n- first\n")
    other, _ = business_rules("## Business rules\n- second\n- first\n")
    assert {rule["id"] for rule in other} <= {rule["id"] for rule in one}
    assert len({rule["id"] for rule in one}) == len(one) == 4


def test_a_fault_in_a_rule_points_at_its_line() -> None:
    result = import_text(skill_md(body="# A\n\n## Business rules\n- " + "x" * 100_001 + "\n"), file="SKILL.md")
    (refused,) = result.refused
    assert str(refused.error.faults[0].place) == "SKILL.md:8"


def test_yaml_manifests_between_document_marks_are_no_skill_file() -> None:
    result = import_text("---\nname: a\ninput_schema: {type: object}\n---\nname: b\ninput_schema: {type: object}\n")
    assert {skill.name for skill in result.accepted} == {"a", "b"}


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_front_matter_and_body_is_a_skill_or_a_clear_error(front: str, body: str) -> None:
    result = import_text(f"---\n{front}\n---\n{body}".encode("utf-8", "replace"), file="SKILL.md")
    for skill in result.accepted:
        assert skill.name
        assert skill.description.strip()
    assert result.accepted or result.refused
