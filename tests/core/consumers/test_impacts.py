"""Who is hit: each consumer by what serves it, what would serve it, and the fields it uses."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.engine import check
from governance.core.compat.model import Verdict
from governance.core.consumers import Change, ConsumerImpact, Impact, Need, impacts, matrix
from governance.core.contract import manifest_from_document
from governance.core.gate import HistoryItem, Outcome, Question, Surroundings, answer, decide, replay
from governance.core.policy import Policy, PolicyMode, policy_of
from governance.core.skill import SkillManifest
from governance.core.versioning import Version

V = Version.parse


def skill(version: str, *, needs: str = "", gives: str = "xyz", types: dict[str, str] | None = None) -> SkillManifest:
    """Inputs a to f, of which ``needs`` are required; outputs ``gives``, each always there and a string."""
    kinds = types or {}
    return manifest_from_document(
        {
            "name": "git.log",
            "version": version,
            "description": "Lists commits.",
            "input_schema": {
                "type": "object",
                "properties": {letter: {"type": kinds.get(letter, "string")} for letter in "abcdef"},
                "required": list(needs),
            },
            "output_schema": {
                "type": "object",
                "properties": {letter: {"type": kinds.get(letter, "string")} for letter in gives},
                "required": list(gives),
            },
        },
        native=False,
    )


def history(*manifests: SkillManifest) -> list[HistoryItem]:
    return replay(manifests, compare=check)


def published(manifest: SkillManifest, there: list[HistoryItem]) -> Change:
    candidate = replay([*(one.manifest for one in there), manifest], compare=check)
    return Change.publish(next(one for one in candidate if one.version == V(manifest.version)), there)


def one_impact(change: Change, **need: Any) -> ConsumerImpact:
    [found] = impacts(change, [Need(consumer="billing", **need)], compare=check)
    return found


FIRST = history(skill("1.0.0"))


def test_a_consumer_whose_range_ends_before_the_break_is_held_back_with_the_payload() -> None:
    found = one_impact(published(skill("2.0.0", needs="a"), FIRST), range="^1.0.0")
    assert (found.impact, found.now, found.then) == (Impact.HELD_BACK, V("1.0.0"), V("1.0.0"))
    assert found.findings[0].witness is not None
    assert "It stays on 1.0.0; 2.0.0 would break it" in found.why


def test_a_consumer_of_an_open_range_is_held_back_too_for_nobody_crosses_a_break_unasked() -> None:
    assert one_impact(published(skill("2.0.0", needs="a"), FIRST), range=">=1").impact is Impact.HELD_BACK


def test_a_consumer_that_is_moved_within_its_line_by_a_compatible_version_is_untouched() -> None:
    found = one_impact(published(skill("1.0.1"), FIRST), range="^1.0.0")
    assert (found.impact, found.then, found.verdict) == (Impact.UNTOUCHED, V("1.0.1"), Verdict.COMPATIBLE)


def test_a_consumer_that_reads_other_fields_is_not_hit_by_one_that_goes() -> None:
    change = published(skill("2.0.0", gives="xy"), FIRST)
    assert one_impact(change, range="^1", reads=("/x", "/y")).impact is Impact.UNTOUCHED
    hit = one_impact(change, range="^1", reads=("/z",))
    assert (hit.impact, hit.narrowed) == (Impact.HELD_BACK, True)
    assert one_impact(change, range="^1").impact is Impact.HELD_BACK


def test_a_consumer_that_sends_other_fields_is_not_hit_by_a_narrower_one() -> None:
    change = published(skill("2.0.0", types={"b": "integer"}), FIRST)
    assert one_impact(change, range="^1", sends=("/a",)).impact is Impact.UNTOUCHED
    found = one_impact(change, range="^1", sends=("/a", "/b"))
    assert found.impact is Impact.HELD_BACK
    witness = found.findings[0].witness
    assert witness is not None
    assert set(witness.payload) <= {"a", "b"}


def test_fields_that_make_no_valid_call_narrow_nothing() -> None:
    there = history(skill("1.0.0", needs="a"))
    found = one_impact(published(skill("2.0.0", needs="ab"), there), range="^1", sends=("/c",))
    assert (found.impact, found.narrowed) == (Impact.HELD_BACK, False)


def test_a_required_field_that_a_consumer_sends_anyway_may_still_be_left_out_by_it() -> None:
    found = one_impact(published(skill("2.0.0", needs="a"), FIRST), range="^1", sends=("/a",))
    assert found.impact is Impact.HELD_BACK


def test_an_accepted_line_moves_its_consumer_into_the_next_break_of_it_never() -> None:
    there = history(skill("1.0.0"), skill("2.0.0", needs="a"))
    found = one_impact(published(skill("3.0.0", needs="ab"), there), range="*", accepted=(V("2.0.0"),))
    assert (found.impact, found.now) == (Impact.HELD_BACK, V("2.0.0"))


def test_a_consumer_of_a_range_that_nothing_answers_is_unknown_and_never_safe() -> None:
    found = one_impact(published(skill("1.1.0"), FIRST), range="^7")
    assert (found.impact, found.now, found.then) == (Impact.UNKNOWN, None, None)
    assert one_impact(published(skill("1.1.0"), FIRST), range="not a range").impact is Impact.UNKNOWN


def test_a_backport_below_what_serves_a_consumer_says_nothing_of_it() -> None:
    there = history(skill("1.0.0"), skill("2.0.0", needs="a"))
    found = one_impact(published(skill("1.0.1"), there), range="^2")
    assert found.impact is Impact.UNTOUCHED


def test_who_is_left_with_nothing_by_a_retirement_is_broken() -> None:
    there = history(skill("1.0.0"), skill("1.1.0"), skill("2.0.0", needs="a"))
    change = Change.retire(V("2.0.0"), there)
    assert one_impact(change, range="^2").impact is Impact.BROKEN
    assert one_impact(change, range="^1").impact is Impact.UNTOUCHED
    stays = one_impact(Change.retire(V("1.1.0"), there), range="^1")
    assert (stays.impact, stays.then) == (Impact.UNTOUCHED, V("1.0.0"))


def test_a_deployment_breaks_whoever_it_moves_whatever_they_have_accepted() -> None:
    there = history(skill("1.0.0"), skill("2.0.0", needs="a"))
    replaces = Change.deploy(there[1], there, there[:1], beside=False)
    assert one_impact(replaces, range=">=1").impact is Impact.BROKEN
    assert one_impact(replaces, range="^1").impact is Impact.BROKEN
    beside = Change.deploy(there[1], there, there[:1], beside=True)
    assert one_impact(beside, range="^1").impact is Impact.HELD_BACK


@pytest.mark.parametrize("mode", PolicyMode)
def test_an_answer_is_as_bad_as_its_worst_row_unless_the_policy_softens_it(mode: PolicyMode) -> None:
    there = history(skill("1.0.0"), skill("2.0.0", needs="a"))
    needs = [Need(consumer="calm", range="^1"), Need(consumer="hit", range="^2", owner="team-hit")]
    found = answer(
        Question.RETIRE, Change.retire(V("2.0.0"), there), V("2.0.0"), needs, compare=check, policy=policy_of(mode)
    )
    assert [one.need.consumer for one in found.consumers] == ["hit", "calm"]
    assert found.reasons[0].code == "consumer-broken"
    assert "hit" in found.reasons[0].message
    expected = {PolicyMode.ENFORCE: Outcome.BLOCK, PolicyMode.WARN: Outcome.WARN, PolicyMode.OFF: Outcome.ALLOW}
    assert found.outcome is expected[mode]


def test_an_answer_without_consumers_says_that_nobody_is_known() -> None:
    change = Change.retire(V("1.0.0"), FIRST)
    found = answer(Question.RETIRE, change, V("1.0.0"), [], compare=check, policy=Policy())
    assert [one.code for one in found.reasons] == ["nobody-known"]


def test_the_gate_names_who_is_hit_and_lets_a_major_pass_that_holds_them_back() -> None:
    around = Surroundings(needs=(Need(consumer="billing", owner="team-pay", range="^1"),))
    decision = decide(skill("2.0.0", needs="a"), FIRST, compare=check, around=around)
    assert decision.outcome is not Outcome.BLOCK
    document = decision.to_document()["consumers"]
    assert document["counts"] == {
        "served_and_broken": 0, "affected": 0, "held_back": 1, "unknown": 0, "untouched": 0,
    }  # fmt: skip
    assert document["impacts"][0]["owner"] == "team-pay"
    assert "consumer-held-back" in {reason.code for reason in decision.reasons}


def test_who_follows_prereleases_and_would_be_served_a_break_of_them_blocks_it() -> None:
    there = history(skill("1.0.0"), skill("2.0.0-rc.1", needs="a"))
    around = Surroundings(needs=(Need(consumer="early-bird", range="^2.0.0-rc.1"), Need(consumer="calm", range="^1")))
    decision = decide(skill("2.0.0", needs="b"), there, compare=check, around=around)
    assert decision.outcome is Outcome.BLOCK
    [reason] = [reason for reason in decision.reasons if reason.outcome is Outcome.BLOCK]
    assert reason.code == "consumer-broken"
    assert reason.message.startswith("early-bird: It would move from 2.0.0-rc.1 to 2.0.0, which breaks it")
    assert decision.consumers[0].findings[0].witness is not None


def test_the_matrix_and_the_verdict_agree() -> None:
    there = history(skill("1.0.0"), skill("1.1.0", gives="wxyz"), skill("2.0.0", needs="a", gives="wxy"))
    needs = [
        Need(consumer="one", range="^1"),
        Need(consumer="two", range="^2"),
        Need(consumer="three", range="^1", reads=("/x",), sends=("/a",)),
        Need(consumer="four", range="^9"),
    ]
    rows = matrix("git.log", needs, there, [one.version for one in there], compare=check)
    assert [[cell.serves for cell in row.cells] for row in rows[:2]] == [[False, True, False], [False, False, True]]
    change = Change.publish(there[2], there[:2])
    for need in needs:
        [impact] = impacts(change, [need], compare=check)
        [row] = matrix("git.log", [need], there[:2], [one.version for one in there[:2]], compare=check)
        assert impact.now == row.now
        [whole] = matrix("git.log", [need], there, [V("2.0.0")], compare=check)
        if impact.verdict is not None and whole.now == impact.now:
            assert whole.cells[0].verdict == impact.verdict
