"""A release is as its worst member, and its number announces the worst that happened to any."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.catalogues import CatalogueComparison, Member, MemberChange, compare_catalogues
from governance.core.compat.engine import check
from governance.core.compat.model import Bump, Comparison, Level, Verdict
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.gate import Outcome, decide
from governance.core.releases import ReleaseDecision, ReleaseMember, VersionBy, decide_release, smallest_release
from governance.core.versioning import Version, judged_bump, satisfies_bump

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
NARROW = CITY | {"required": ["city"]}


def tool(name: str, schema: Any = CITY, version: str = "1.0.0", **fields: Any) -> SkillManifest:
    document = {"name": f"shop.{name}", "version": version, "description": "Find.", "input_schema": schema}
    return manifest_from_document(document | fields, native=False)


def release(version: str, old: list[SkillManifest], new: list[SkillManifest], **more: Any) -> ReleaseDecision:
    """Members alone in their histories, so that only the release's own rules speak."""
    return decide_release(
        "shop",
        Version.parse(version),
        version_by=VersionBy.CONTENT,
        members={one.name: ReleaseMember(manifest=one, decision=None) for one in new},
        changes=compare_catalogues(old, new, compare=check),
        baseline=Version.parse("1.0.0") if old else None,
        **more,
    )


def codes(decision: ReleaseDecision) -> set[str]:
    return {reason.code for reason in decision.reasons}


def test_a_first_release_has_nothing_to_break() -> None:
    decision = release("1.0.0", [], [tool("find")])
    assert (decision.outcome, codes(decision)) == (Outcome.ALLOW, {"first-version"})
    assert (decision.bump, decision.smallest_version) == (Bump.NONE, None)


@pytest.mark.parametrize(
    ("new", "bump"),
    [
        ([tool("find"), tool("pay")], Bump.NONE),
        ([tool("find", title="Find"), tool("pay")], Bump.PATCH),
        ([tool("find"), tool("pay"), tool("new")], Bump.MINOR),
        ([tool("find", NARROW), tool("pay")], Bump.MAJOR),
        ([tool("find")], Bump.MAJOR),
        ([tool("find"), tool("pay", title="Pay", compatibility="breaking_change")], Bump.MAJOR),
        ([tool("find"), tool("pay", compatibility="breaking_change")], Bump.NONE),
    ],
)
def test_a_release_needs_the_bump_of_its_worst_member(new: list[SkillManifest], bump: Bump) -> None:
    old = [tool("find"), tool("pay")]
    assert release("2.0.0", old, new).bump is bump
    too_small = {Bump.MINOR: "1.0.1", Bump.MAJOR: "1.9.0"}.get(bump)
    if too_small is not None:
        decision = release(too_small, old, new)
        assert decision.outcome is Outcome.BLOCK
        assert "bump-too-small" in codes(decision)
        assert str(decision.smallest_version) in decision.reasons[0].fix


def test_below_1_0_0_a_break_needs_a_minor() -> None:
    old, new = [tool("find", version="0.3.0")], [tool("find", NARROW, version="0.4.0")]
    decision = decide_release(
        "shop",
        Version.parse("0.4.0"),
        version_by=VersionBy.RELEASE,
        members={one.name: ReleaseMember(manifest=one, decision=None) for one in new},
        changes=compare_catalogues(old, new, compare=check),
        baseline=Version.parse("0.3.0"),
    )
    assert (decision.bump, decision.outcome) == (Bump.MINOR, Outcome.ALLOW)


def test_one_refused_member_refuses_the_release_with_its_own_advice() -> None:
    new = tool("find", replacement="shop.find@^1")
    decision = decide(new, [], compare=check)
    assert decision.outcome is Outcome.BLOCK
    whole = decide_release(
        "shop",
        Version.parse("1.0.0"),
        version_by=VersionBy.RELEASE,
        members={new.name: ReleaseMember(manifest=new, decision=decision)},
        changes=compare_catalogues([], [new], compare=check),
        baseline=None,
    )
    (reason,) = (one for one in whole.reasons if one.outcome is Outcome.BLOCK)
    assert reason.code == "member-refused"
    assert "shop.find: replacement-itself" in reason.message
    assert reason.fix == decision.reasons[0].fix
    assert not whole.undecided_alone


def test_what_is_withdrawn_warns_and_names_the_successor() -> None:
    decision = release("2.0.0", [tool("find_orders", NARROW), tool("pay")], [tool("search_orders", NARROW)])
    told = {reason.message.split()[0]: reason for reason in decision.reasons if reason.code == "member-withdrawn"}
    assert "shop.search_orders takes its place" in told["shop.find_orders"].message
    assert "no longer in the release" in told["shop.pay"].message
    assert decision.outcome is Outcome.WARN
    assert [one["name"] for one in decision.withdrawn_document()] == ["shop.find_orders", "shop.pay"]


def test_the_successor_of_a_renamed_tool_counts_as_added() -> None:
    decision = release("2.0.0", [tool("find_orders", NARROW)], [tool("search_orders", NARROW)])
    assert [(one["name"], one["change"]) for one in decision.members_document()] == [("shop.search_orders", "added")]


@pytest.mark.parametrize(
    ("standing", "code", "outcome"), [(True, "already-published", "allow"), (False, "version-taken", "block")]
)
def test_a_number_that_is_there_is_this_release_or_taken(standing: bool, code: str, outcome: str) -> None:
    decision = release("1.1.0", [tool("find")], [tool("find")], standing=standing)
    assert (decision.outcome.value, codes(decision)) == (outcome, {code})


def test_the_document_is_plain_json_and_the_worst_reason_comes_first() -> None:
    decision = release("1.1.0", [tool("find"), tool("pay")], [tool("find", NARROW)])
    document = json.loads(json.dumps(decision.to_document()))
    assert document["reasons"][0]["outcome"] == document["decision"] == "block"
    assert document["counts"] == {"added": 0, "removed": 1, "renamed": 0, "changed": 1, "unchanged": 0}


# ── laws ──

VERSIONS = st.builds(Version, major=st.integers(0, 3), minor=st.integers(0, 3), patch=st.integers(0, 3))
COMPARISONS = {
    Bump.NONE: Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE, identical=True),
    Bump.PATCH: Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE),
    Bump.MINOR: Comparison(verdict=Verdict.COMPATIBLE, level=Level.INPUT_COMPATIBLE),
    Bump.MAJOR: Comparison(verdict=Verdict.BREAKING, level=Level.BREAKING_CHANGE),
}
BUMPS = st.lists(st.sampled_from(list(COMPARISONS)), min_size=1, max_size=6)


def decided(bumps: list[Bump], baseline: Version, version: Version, taken: set[Version]) -> ReleaseDecision:
    tools = [tool(f"t{number}") for number in range(len(bumps))]
    changed = [
        Member(
            name=one.name,
            change=MemberChange.UNCHANGED if bump is Bump.NONE else MemberChange.CHANGED,
            comparison=COMPARISONS[bump],
        )
        for one, bump in zip(tools, bumps, strict=True)
    ]
    return decide_release(
        "shop",
        version,
        version_by=VersionBy.CONTENT,
        members={one.name: ReleaseMember(manifest=one, decision=None) for one in tools},
        changes=CatalogueComparison(members=tuple(changed), bump=Bump.NONE),
        baseline=baseline,
        taken=taken,
    )


@given(BUMPS, VERSIONS, VERSIONS, st.sets(VERSIONS, max_size=5))
def test_the_bump_is_the_worst_and_the_number_is_judged_by_it(
    bumps: list[Bump], baseline: Version, version: Version, taken: set[Version]
) -> None:
    decision = decided(bumps, baseline, version, taken)
    worst = max((judged_bump(bump, baseline) for bump in bumps), key=lambda bump: bump.rank)
    assert decision.bump is worst
    assert ("bump-too-small" in codes(decision)) is not satisfies_bump(baseline, version, worst)


@given(BUMPS, VERSIONS, st.sets(VERSIONS, max_size=8))
def test_the_smallest_number_that_is_told_is_free_and_would_do(
    bumps: list[Bump], baseline: Version, taken: set[Version]
) -> None:
    smallest = decided(bumps, baseline, baseline, taken).smallest_version
    assert smallest is not None
    assert smallest not in taken
    assert smallest > baseline
    assert "bump-too-small" not in codes(decided(bumps, baseline, smallest, taken))


@given(VERSIONS, st.sampled_from(list(Bump)), st.sets(VERSIONS, max_size=8))
def test_a_number_that_is_taken_is_stepped_over(baseline: Version, bump: Bump, taken: set[Version]) -> None:
    free = smallest_release(baseline, bump, set())
    found = smallest_release(baseline, bump, taken)
    assert found >= free
    assert found not in taken
