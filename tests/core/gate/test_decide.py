"""The gate keeps the promise a number and a level make to the whole line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import pytest

from governance.core.compat.codes import CODES
from governance.core.compat.engine import check
from governance.core.compat.model import (
    Bump,
    Comparison,
    Evidence,
    Finding,
    FindingLevel,
    Level,
    Side,
    Verdict,
    verdict_of,
)
from governance.core.contract import manifest_from_document
from governance.core.gate import (
    REASONS,
    GateDecision,
    GateException,
    HistoryItem,
    Outcome,
    ReplacementFacts,
    Surroundings,
    auto_version,
    decide,
    replay,
)
from governance.core.lines import Published
from governance.core.policy import PolicyMode, policy_of
from governance.core.skill import SkillManifest, Status
from governance.core.versioning import Version
from governance.errors import InvalidVersion

V = Version.parse


def skill(version: str, level: str | None = None, *, needs: str = "", **fields: Any) -> SkillManifest:
    """A version whose input requires the fields in ``needs``, one letter each, of the optional a to f."""
    document: dict[str, Any] = {
        "name": "git.log",
        "version": version,
        "description": "Lists commits.",
        "owner": "team-git",
        "input_schema": {
            "type": "object",
            "properties": {letter: {"type": "string"} for letter in "abcdef"},
            "required": list(needs),
        },
        **fields,
    }
    if level:
        document["compatibility"] = level
    return manifest_from_document(document, native=False)


def there(manifest: SkillManifest, *, opens: bool = False, baseline: str | None = None, **state: Any) -> HistoryItem:
    return HistoryItem(
        published=Published(
            version=V(manifest.version),
            contract_digest=manifest.contract_digest,
            manifest_digest=manifest.manifest_digest,
            opens_line=opens,
            baseline=V(baseline) if baseline else None,
            **state,
        ),
        manifest=manifest,
    )


def codes(decision: GateDecision) -> list[str]:
    return [reason.code for reason in decision.reasons]


def reason(decision: GateDecision, code: str) -> Any:
    return next(one for one in decision.reasons if one.code == code)


def undecided(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
    """An engine that can decide nothing."""
    if old is None:
        return check(None, new)
    finding = Finding(
        code="input.undecided", side=Side.INPUT, level=FindingLevel.UNDECIDED, message="cannot say", fix="simplify"
    )
    return Comparison(verdict=Verdict.UNDECIDED, level=Level.UNDECIDED, findings=(finding,), reason="budget")


FIRST = there(skill("1.0.0"), opens=True)


# The first version.


def test_the_first_version_is_allowed_at_the_level_it_declares() -> None:
    decision = decide(skill("0.1.0", "backward_compatible"), [], compare=check)
    assert (decision.outcome, decision.verdict, codes(decision)) == (Outcome.ALLOW, "new", ["first-version"])
    assert (decision.level, decision.computed, decision.bump) == (Level.BACKWARD_COMPATIBLE, None, Bump.NONE)
    assert (decision.opens_line, decision.line, decision.baseline) == (True, "0.1.0", None)


def test_a_version_below_all_others_warns_that_ranges_will_start_there() -> None:
    decision = decide(skill("0.9.0"), [FIRST], compare=check)
    assert (decision.outcome, codes(decision)) == (Outcome.WARN, ["opens-below", "first-version"])
    unserved = [there(skill("1.0.0"), state=Status.RETIRED), there(skill("2.0.0-rc.1"))]
    assert decide(skill("0.9.0"), unserved, compare=check).outcome is Outcome.ALLOW


def test_a_candidate_without_a_version_is_refused_as_such() -> None:
    with pytest.raises(InvalidVersion):
        decide(skill("1.0.0").__class__(name="git.log", version=""), [], compare=check)


# The same version again.


def test_the_same_bytes_again_are_allowed_and_change_nothing() -> None:
    decision = decide(skill("1.0.0"), [FIRST], compare=check)
    assert (decision.outcome, codes(decision), decision.opens_line) == (Outcome.ALLOW, ["already-published"], True)


def test_a_version_taken_by_other_bytes_blocks_under_every_policy_and_names_a_free_number() -> None:
    history = [FIRST, there(skill("1.1.0"), baseline="1.0.0"), there(skill("1.1.1"), baseline="1.1.0")]
    for mode in PolicyMode:
        decision = decide(
            skill("1.1.0", owner="somebody"),
            history,
            compare=check,
            around=Surroundings(policy=policy_of(mode, "namespace git")),
        )
        assert decision.outcome is Outcome.BLOCK
        assert "1.1.2" in reason(decision, "version-taken").fix
        assert (decision.version, decision.smallest_version, decision.baseline) == ("1.1.0", "1.1.2", "1.1.1")


def test_a_taken_version_is_compared_all_the_same_and_named_the_honest_number() -> None:
    decision = decide(skill("1.0.0", needs="a"), [FIRST], compare=check)
    assert (decision.verdict, decision.bump, decision.smallest_version) == ("breaking", Bump.MAJOR, "2.0.0")
    assert (codes(decision), decision.version) == (["version-taken"], "1.0.0")


# Levels and numbers.


def test_a_compatible_change_needs_no_more_than_it_claims() -> None:
    decision = decide(skill("1.0.1", "backward_compatible", title="Log"), [FIRST], compare=check)
    assert (decision.outcome, decision.bump, decision.opens_line) == (Outcome.ALLOW, Bump.PATCH, False)
    assert (decision.line, decision.baseline) == ("1.0.0", "1.0.0")


def test_a_break_in_a_minor_is_blocked_with_its_payload_and_the_version_that_would_do() -> None:
    decision = decide(skill("1.1.0", needs="a"), [FIRST], compare=check)
    assert (decision.outcome, decision.bump, decision.smallest_version) == (Outcome.BLOCK, Bump.MAJOR, "2.0.0")
    blocked = reason(decision, "bump-too-small")
    assert "2.0.0" in blocked.fix
    assert blocked.fingerprint == decision.compared[0].comparison.findings[0].fingerprint
    assert decision.compared[0].comparison.witness is not None
    assert decision.opened_by[0]["code"] == decision.compared[0].comparison.findings[0].code


def test_an_honest_break_is_allowed_and_opens_a_line() -> None:
    decision = decide(skill("2.0.0", "breaking_change", needs="a"), [FIRST], compare=check)
    assert (decision.outcome, codes(decision)) == (Outcome.ALLOW, ["opens-line"])
    assert (decision.opens_line, decision.line) == (True, "2.0.0")
    assert reason(decision, "opens-line").fingerprint


def test_a_level_below_the_computed_one_is_a_lie_whatever_the_number() -> None:
    decision = decide(skill("2.0.0", "input_compatible", needs="a"), [FIRST], compare=check)
    assert (decision.outcome, decision.declared) == (Outcome.BLOCK, Level.INPUT_COMPATIBLE)
    assert decision.level is Level.BREAKING_CHANGE
    lie = reason(decision, "declared-too-mild")
    assert "breaking_change" in lie.fix
    assert lie.fingerprint


def test_a_level_above_the_computed_one_warns_and_the_number_follows_it() -> None:
    decision = decide(skill("1.0.1", "breaking_change", title="Log"), [FIRST], compare=check)
    assert codes(decision) == ["bump-too-small", "declared-too-severe"]
    decision = decide(skill("2.0.0", "breaking_change", title="Log"), [FIRST], compare=check)
    assert (decision.outcome, decision.opens_line) == (Outcome.WARN, True)


def test_a_major_that_breaks_nothing_opens_no_line() -> None:
    decision = decide(skill("2.0.0", title="Log"), [FIRST], compare=check)
    assert (decision.outcome, decision.opens_line, decision.line) == (Outcome.ALLOW, False, "1.0.0")


def test_below_one_a_break_needs_a_minor() -> None:
    history = [there(skill("0.4.0"), opens=True)]
    assert decide(skill("0.5.0", needs="a"), history, compare=check).outcome is Outcome.ALLOW
    patch = decide(skill("0.4.1", needs="a"), history, compare=check)
    assert (patch.outcome, patch.smallest_version, patch.bump) == (Outcome.BLOCK, "0.5.0", Bump.MINOR)


def test_a_prerelease_is_judged_as_its_release() -> None:
    assert decide(skill("2.0.0-rc.1", needs="a"), [FIRST], compare=check).outcome is Outcome.ALLOW
    refused = decide(skill("1.1.0-rc.1", needs="a"), [FIRST], compare=check)
    assert (refused.outcome, refused.smallest_version) == (Outcome.BLOCK, "2.0.0-rc.1")


# Baseline and line.


def test_the_baseline_passes_over_what_nobody_is_served_from() -> None:
    history = [
        FIRST,
        there(skill("1.1.0", needs="a"), opens=True, baseline="1.0.0", yanked="broke callers"),
        there(skill("1.2.0", needs="a"), opens=True, baseline="1.0.0", state=Status.RETIRED),
        there(skill("1.3.0", needs="a"), opens=True, baseline="1.0.0", state=Status.DRAFT),
        there(skill("1.4.0-rc.1", needs="a"), opens=True, baseline="1.0.0"),
    ]
    decision = decide(skill("1.4.0"), history, compare=check)
    assert (decision.baseline, decision.outcome, decision.line) == ("1.0.0", Outcome.ALLOW, "1.0.0")


def test_a_disabled_version_stays_a_baseline() -> None:
    history = [FIRST, there(skill("1.1.0", needs=""), baseline="1.0.0", disabled="incident")]
    assert decide(skill("1.2.0"), history, compare=check).baseline == "1.1.0"


@dataclass(frozen=True)
class Pairwise:
    """An engine that knows only which steps break: compatibility here does not add up step by step."""

    breaks: frozenset[tuple[str, str]]
    level: FindingLevel = FindingLevel.BREAKING

    def __call__(self, old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        if old is None or new is None or (old.version, new.version) not in self.breaks:
            return Comparison(verdict=Verdict.COMPATIBLE, level=Level.BACKWARD_COMPATIBLE)
        finding = Finding(
            code="input.type-narrowed", side=Side.INPUT, level=self.level, message="narrower", fix="widen",
            old=old.version,
        )  # fmt: skip
        level = Level.BREAKING_CHANGE if self.level is FindingLevel.BREAKING else Level.UNDECIDED
        return Comparison(verdict=verdict_of([finding]), level=level, findings=(finding,))


def errors_named(word: str) -> list[dict[str, Any]]:
    """Something in which promises may differ."""
    return [{"code": word, "meaning": word, "retryable": False}]


def line_of_three() -> list[HistoryItem]:
    return [
        there(skill("1.0.0", errors=errors_named("a")), opens=True),
        there(skill("1.1.0", errors=errors_named("b")), baseline="1.0.0"),
        there(skill("1.2.0", errors=errors_named("c")), baseline="1.1.0"),
    ]


def test_the_promise_is_kept_to_the_whole_line_and_not_to_the_baseline_alone() -> None:
    engine = Pairwise(frozenset({("1.0.0", "1.3.0")}))
    decision = decide(skill("1.3.0", errors=errors_named("d")), line_of_three(), compare=engine)
    assert [(one.role, one.version) for one in decision.compared] == [
        ("baseline", "1.2.0"), ("line", "1.1.0"), ("line", "1.0.0"),
    ]  # fmt: skip
    assert (decision.verdict, decision.computed, decision.outcome) == ("breaking", Level.BREAKING_CHANGE, Outcome.BLOCK)
    assert "1.0.0" in reason(decision, "bump-too-small").message
    assert decision.smallest_version == "2.0.0"


def test_without_the_line_the_decision_says_what_it_left_unproven() -> None:
    engine = Pairwise(frozenset({("1.0.0", "1.3.0")}))
    decision = decide(skill("1.3.0", errors=errors_named("d")), line_of_three(), compare=engine, transitive=False)
    assert (decision.outcome, codes(decision), decision.not_checked) == (Outcome.WARN, ["line-not-judged"], ("line",))


def test_older_lines_are_not_judged_again() -> None:
    history = [*line_of_three(), there(skill("2.0.0", errors=errors_named("x")), opens=True, baseline="1.2.0")]
    engine = Pairwise(frozenset({("1.0.0", "2.1.0"), ("1.2.0", "2.1.0")}))
    decision = decide(skill("2.1.0", errors=errors_named("y")), history, compare=engine)
    assert ([one.version for one in decision.compared], decision.outcome) == (["2.0.0"], Outcome.ALLOW)


def test_equal_contracts_of_a_line_are_compared_once() -> None:
    history = [
        there(skill("1.0.0"), opens=True),
        there(skill("1.1.0"), baseline="1.0.0"),
        there(skill("1.2.0"), baseline="1.1.0"),
    ]
    decision = decide(skill("1.3.0", title="new"), history, compare=check)
    assert [one.version for one in decision.compared] == ["1.2.0"]


def test_a_backport_must_not_make_the_next_step_a_break() -> None:
    engine = Pairwise(frozenset({("1.0.1", "1.1.0")}))
    decision = decide(skill("1.0.1", title="backport"), line_of_three(), compare=engine)
    assert (decision.outcome, codes(decision)) == (Outcome.BLOCK, ["breaks-next"])
    assert (decision.compared[-1].role, decision.compared[-1].version) == ("next", "1.1.0")
    unsure = decide(
        skill("1.0.1", title="backport"), line_of_three(),
        compare=Pairwise(frozenset({("1.0.1", "1.1.0")}), FindingLevel.UNDECIDED),
    )  # fmt: skip
    assert unsure.undecided_alone


def test_a_break_is_not_put_in_below_versions_of_the_line_it_breaks() -> None:
    history = [*line_of_three(), there(skill("3.0.0", title="d"), baseline="1.2.0")]
    engine = Pairwise(frozenset({("1.2.0", "2.0.0")}))
    decision = decide(skill("2.0.0", title="e"), history, compare=engine)
    assert (decision.outcome, codes(decision)) == (Outcome.BLOCK, ["splits-line"])
    assert "4.0.0" in reason(decision, "splits-line").fix


def test_a_backport_for_which_there_is_no_number_is_told_to_go_above_everything() -> None:
    history = [FIRST, there(skill("2.0.0", needs="b"), opens=True, baseline="1.0.0")]
    decision = decide(skill("1.0.1", needs="a"), history, compare=check)
    assert (decision.outcome, decision.smallest_version) == (Outcome.BLOCK, None)
    assert "above 2.0.0" in reason(decision, "bump-too-small").fix


# Undecided, risky, exceptions.


def test_undecided_blocks_alone_even_when_the_number_would_do_for_a_break() -> None:
    for version in ("1.1.0", "2.0.0"):
        decision = decide(skill(version, "input_compatible", title="x"), [FIRST], compare=undecided)
        assert (decision.outcome, decision.undecided_alone) == (Outcome.BLOCK, True)
        assert reason(decision, "undecided").fingerprint
        assert (decision.level, decision.bump) == (Level.UNDECIDED, Bump.MAJOR)


def test_a_blocked_break_is_not_undecided_alone() -> None:
    decision = decide(skill("1.1.0", needs="a"), [FIRST], compare=check)
    assert not decision.undecided_alone


def test_an_exception_lets_a_named_finding_pass_but_a_line_still_opens() -> None:
    blocked = decide(skill("1.1.0", title="x"), [FIRST], compare=undecided)
    fingerprint = reason(blocked, "undecided").fingerprint
    (around,) = blocked.surroundings[fingerprint]
    exception = GateException(fingerprint=fingerprint, id="ex-7", surroundings=around, reason="tested by hand")
    decision = decide(
        skill("1.1.0", title="x"), [FIRST], compare=undecided, around=Surroundings(exceptions=(exception,))
    )
    assert decision.outcome is Outcome.WARN
    assert {"exception-used", "opens-line"} == set(codes(decision))
    assert "ex-7" in reason(decision, "exception-used").message
    assert decision.opens_line
    other = GateException(fingerprint="0" * 16, id="ex-8", surroundings=around)
    assert (
        decide(skill("1.1.0", title="x"), [FIRST], compare=undecided, around=Surroundings(exceptions=(other,))).outcome
        is Outcome.BLOCK
    )


def test_an_excused_break_needs_a_minor() -> None:
    blocked = decide(skill("1.1.0", "input_compatible", needs="a"), [FIRST], compare=check)
    every = Surroundings(
        exceptions=tuple(
            GateException(fingerprint=fingerprint, id="ex-1", surroundings=around)
            for fingerprint, (around,) in blocked.surroundings.items()
        )
    )
    excused = decide(skill("1.1.0", "input_compatible", needs="a"), [FIRST], compare=check, around=every)
    assert (excused.outcome, excused.opens_line, excused.bump) == (Outcome.WARN, True, Bump.MINOR)
    patch = decide(skill("1.0.1", needs="a"), [FIRST], compare=check, around=every)
    assert (patch.outcome, patch.smallest_version) == (Outcome.BLOCK, "1.1.0")


def test_risky_warns_needs_a_minor_and_blocks_when_asked_to() -> None:
    risky = {"timeout_sec": 5}
    assert codes(decide(skill("1.1.0", **risky), [there(skill("1.0.0", timeout_sec=60))], compare=check)) == ["risky"]
    history = [there(skill("1.0.0", timeout_sec=60), opens=True)]
    assert decide(skill("1.1.0", **risky), history, compare=check).outcome is Outcome.WARN
    assert "bump-too-small" in codes(decide(skill("1.0.1", **risky), history, compare=check))
    strict = decide(skill("1.1.0", **risky), history, compare=check, fail_on=Verdict.RISKY)
    assert (strict.outcome, codes(strict)) == (Outcome.BLOCK, ["failed-on"])
    assert strict.reasons[0].fingerprint


def test_a_check_may_fail_on_any_break_however_honest() -> None:
    candidate = skill("2.0.0", "breaking_change", needs="a")
    assert decide(candidate, [FIRST], compare=check, fail_on=Verdict.BREAKING).outcome is Outcome.BLOCK
    assert decide(candidate, [FIRST], compare=check, fail_on=Verdict.RISKY).outcome is Outcome.BLOCK


# Validity, lint, policy.


def test_an_invalid_candidate_is_told_so_and_nothing_else() -> None:
    evaporated = replace(skill("1.1.0"), input_schema={"type": 5})
    decision = decide(evaporated, [FIRST], compare=check, around=Surroundings(policy=policy_of(PolicyMode.OFF)))
    assert (decision.outcome, decision.verdict, codes(decision)) == (Outcome.BLOCK, "invalid", ["invalid"])
    decision = decide(skill("1.1.0"), [there(replace(skill("1.0.0"), input_schema={"type": 5}))], compare=check)
    assert codes(decision) == ["baseline-invalid"]


@dataclass(frozen=True)
class Complaint:
    id: str = "hidden-order"
    severity: str = "error"
    pointer: str = "/description"
    message: str = "the text orders the model about"
    fix: str = "Take it out."


def test_lint_errors_block_and_lint_warnings_do_not() -> None:
    errors = decide(skill("1.0.1", title="x"), [FIRST], compare=check, lint_findings=[Complaint()])
    assert (errors.outcome, reason(errors, "lint").fix) == (Outcome.BLOCK, "Take it out.")
    warning = Complaint(severity="warning")
    assert decide(skill("1.0.1"), [FIRST], compare=check, lint_findings=[warning]).outcome is Outcome.ALLOW


def test_a_policy_softens_what_can_be_stored_and_says_where_it_came_from() -> None:
    candidate = skill("1.1.0", "input_compatible", needs="a")
    for mode, outcome in ((PolicyMode.WARN, Outcome.WARN), (PolicyMode.OFF, Outcome.ALLOW)):
        decision = decide(
            candidate, [FIRST], compare=check, around=Surroundings(policy=policy_of(mode, "skill:git.log"))
        )
        assert decision.outcome is outcome
        assert {"declared-too-mild", "bump-too-small"} <= set(codes(decision))
        assert decision.opens_line, "what is let in anyway still opens a line"
        assert decision.to_document()["policy"] == {"mode": mode.value, "origin": "skill:git.log"}


def test_a_decision_lists_what_it_could_not_check() -> None:
    assert decide(skill("1.0.1"), [FIRST], compare=check, not_checked=["consumers"]).not_checked == ("consumers",)


# Replacement.


def history_of(version: str, **state: Any) -> tuple[Published, ...]:
    return (replace(there(skill(version)).published, **state),)


@pytest.mark.parametrize(
    ("replacement", "facts", "code"),
    [
        ("git.history@^1", ReplacementFacts(published=()), "replacement-missing"),
        ("git.history@^2", ReplacementFacts(published=history_of("1.0.0")), "replacement-missing"),
        (
            "git.history@^1",
            ReplacementFacts(published=history_of("1.0.0", state=Status.DEPRECATED)),
            "replacement-inactive",
        ),
        ("git.history@^1", ReplacementFacts(published=history_of("1.0.0", yanked="bad")), "replacement-inactive"),
        (
            "git.history@^1",
            ReplacementFacts(published=history_of("1.0.0"), leads_to=("git.other", "git.log")),
            "replacement-circular",
        ),
        ("git.log@^1", None, "replacement-itself"),
    ],
)
def test_a_replacement_must_exist_be_active_and_not_lead_back(
    replacement: str, facts: ReplacementFacts | None, code: str
) -> None:
    decision = decide(skill("1.0.1", replacement=replacement), [FIRST], compare=check, replacement=facts)
    assert (decision.outcome, code in codes(decision)) == (Outcome.BLOCK, True)


def test_a_good_replacement_is_no_reason() -> None:
    active = ReplacementFacts(published=history_of("1.0.0"))
    for name, facts in (("git.history@^1", active), ("git.log@^2", None), ("none", ReplacementFacts(published=()))):
        decision = decide(skill("1.0.1", replacement=name), [FIRST], compare=check, replacement=facts)
        assert decision.outcome is Outcome.ALLOW


# The table and the document.


def test_every_reason_says_what_to_do_without_a_hole_in_it() -> None:
    for code, row in REASONS.items():
        assert row.id == code
        assert row.title
        assert "{" not in row.fix.format(smallest="2.0.0", above="3.0.0", level="breaking_change")


def test_reasons_come_worst_first_and_the_document_is_plain_json() -> None:
    import json

    decision = decide(skill("1.0.1", "breaking_change", title="x"), [FIRST], compare=check)
    ranks = [one.outcome.rank for one in decision.reasons]
    assert ranks == sorted(ranks, reverse=True)
    document = json.loads(json.dumps(decision.to_document()))
    assert (document["decision"], document["smallest_version"]) == ("block", "2.0.0")
    assert document["compared"][0]["role"] == "baseline"


# Versions without a registry.


def test_versions_side_by_side_make_the_history_they_would_have_made() -> None:
    loose = [skill("2.1.0", needs="a", title="x"), skill("1.0.0"), skill("2.0.0", needs="a"), skill("1.1.0")]
    history = replay(loose, compare=check)
    assert [(str(one.version), one.published.opens_line) for one in history] == [
        ("1.0.0", True), ("1.1.0", False), ("2.0.0", True), ("2.1.0", False),
    ]  # fmt: skip
    assert [str(one.published.baseline) for one in history] == ["None", "1.0.0", "1.1.0", "2.0.0"]
    assert decide(skill("2.2.0", needs="a"), history, compare=check).outcome is Outcome.ALLOW


# The smallest honest number.


@pytest.mark.parametrize(
    ("candidate", "number"),
    [
        (skill("9.9.9"), "1.2.0"),
        (skill("9.9.9", title="new"), "1.2.2"),
        (skill("9.9.9", timeout_sec=5), "1.3.0"),
        (skill("9.9.9", needs="a"), "2.0.0"),
        (skill("9.9.9", "breaking_change"), "2.0.0"),
        (skill("9.9.9", owner="team"), "1.2.2"),
    ],
)
def test_the_automatic_version_is_the_smallest_honest_free_one(candidate: SkillManifest, number: str) -> None:
    history = [FIRST, there(skill("1.2.0"), baseline="1.0.0"), there(skill("1.2.1"), yanked="bad", baseline="1.2.0")]
    assert auto_version(candidate, history, compare=check) == V(number)


def test_by_content_an_unchanged_contract_keeps_its_number() -> None:
    moved = skill("9.9.9", owner="team", external_version="2026.1")
    assert auto_version(moved, [FIRST], compare=check, by_content=True) == V("1.0.0")
    assert auto_version(moved, [FIRST], compare=check) == V("1.0.1")


def test_the_first_automatic_version_is_one_and_nothing_servable_means_a_new_major() -> None:
    assert auto_version(skill("9.9.9"), [], compare=check) == V("1.0.0")
    retired = [there(skill("1.4.0"), state=Status.RETIRED)]
    assert auto_version(skill("9.9.9"), retired, compare=check) == V("2.0.0")
    assert auto_version(skill("9.9.9"), [there(skill("2.0.0-rc.1"))], compare=check) == V("2.0.0")


def test_below_one_the_automatic_version_of_a_break_is_a_minor() -> None:
    assert auto_version(skill("9.9.9", needs="a"), [there(skill("0.3.1"))], compare=check) == V("0.4.0")


def test_what_the_automatic_version_says_the_gate_lets_in() -> None:
    for candidate in (skill("9.9.9", title="new"), skill("9.9.9", timeout_sec=5), skill("9.9.9", needs="ab")):
        number = auto_version(candidate, [FIRST], compare=check)
        decision = decide(replace(candidate, version=str(number)), [FIRST], compare=check)
        assert decision.outcome is not Outcome.BLOCK


def test_a_finding_carries_evidence_into_the_decision() -> None:
    decision = decide(skill("2.0.0", required_permissions=["repo:write"]), [FIRST], compare=check)
    (finding,) = [one for one in decision.compared[0].comparison.findings if one.level is FindingLevel.BREAKING]
    assert finding.evidence == Evidence(field="required_permissions", old=[], new=["repo:write"])
    assert finding.skill == "git.log"


TODAY = date(2026, 11, 30)


def ending(version: str, sunset: str | None, status: str = "deprecated") -> SkillManifest:
    return skill(version, status=status, sunset=sunset, replacement="none") if sunset else skill(version)


@pytest.mark.parametrize(
    ("version", "sunset", "status", "refused"),
    [
        ("1.0.0", "2026-01-01", "deprecated", True),
        ("1.0.0", "2027-11-29", "deprecated", True),
        ("1.0.0", "2027-11-30", "deprecated", False),
        ("0.9.0", "2027-02-27", "deprecated", True),
        ("0.9.0", "2027-02-28", "deprecated", False),
        ("1.0.0", "2026-01-01", "sunset", True),
        ("1.0.0", "2026-01-01", "active", False),
    ],
)
def test_a_version_that_announces_its_end_leaves_the_notice_period(
    version: str, sunset: str, status: str, refused: bool
) -> None:
    decision = decide(ending(version, sunset, status), [], compare=check, today=TODAY)
    assert [one.code for one in decision.reasons if one.outcome is Outcome.BLOCK] == (
        ["notice-too-short"] if refused else []
    )
    assert decide(ending(version, sunset, status), [], compare=check).outcome is not Outcome.BLOCK


@pytest.mark.parametrize(("sunset", "refused"), [("2026-12-24", False), ("2027-01-06", False), ("2026-12-23", True)])
def test_a_sunset_that_was_announced_before_may_come_again_and_later_but_not_earlier(
    sunset: str, refused: bool
) -> None:
    before = ending("1.0.0", "2026-12-24")
    there = HistoryItem(
        published=Published(
            version=V("1.0.0"), contract_digest=before.contract_digest, manifest_digest=before.manifest_digest,
            opens_line=True, baseline=None, state=Status.DEPRECATED, sunset="2026-12-24",
        ),
        manifest=before,
    )  # fmt: skip
    decision = decide(ending("1.0.1", sunset), [there], compare=check, today=TODAY)
    assert ("notice-too-short" in {one.code for one in decision.reasons}) is refused


def test_versions_of_a_line_that_differ_in_texts_alone_are_compared_once_and_what_holds_is_counted() -> None:
    asked: list[str] = []

    def compare(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        if old is not None:
            asked.append(old.version)
        return check(old, new)

    history = [there(skill("1.0.0", needs="a"), opens=True)]
    for minor in range(1, 30):
        history.append(
            there(skill(f"1.{minor}.0", needs="a", description=f"Lists {minor}."), baseline=f"1.{minor - 1}.0")
        )
    history[10] = there(skill("1.10.0", needs="ab"), baseline="1.9.0")
    decision = decide(skill("1.30.0", description="Lists again."), history, compare=compare)
    assert asked == ["1.29.0", "1.10.0"]
    document = decision.to_document()
    assert ([one["role"] for one in document["compared"]], document["line_compared"]) == (["baseline"], 1)
    decision = decide(skill("1.30.0", needs="abc"), history, compare=check)
    document = decision.to_document()
    assert [one["version"] for one in document["compared"]] == ["1.29.0"]
    assert document["line_compared"] == 1
    assert decision.outcome is Outcome.BLOCK


def test_every_contract_break_stands_in_what_the_promise_digest_covers() -> None:
    base = {"side_effects": "read", "idempotent": True, "errors": [{"code": "x", "meaning": "m", "retryable": True}]}
    changes: list[dict[str, Any]] = [
        {"required_permissions": ["p"]}, {"requires_approval": True}, {"side_effects": "destructive"},
        {"idempotent": False}, {"runtime_requirements": {"network": ["a.example"]}},
        {"errors": [{"code": "x", "meaning": "m", "retryable": False}]}, {"name": "git.other"},
    ]  # fmt: skip
    shown = set()
    for change in changes:
        one, other = skill("1.0.0", **base), skill("1.0.0", **{**base, **change})
        found = {item.code for item in check(one, other).findings if item.level is FindingLevel.BREAKING}
        assert found
        assert one.promise_digest != other.promise_digest
        shown |= found
    breaking = {
        row.id for row in CODES.values() if row.id.startswith("contract.") and row.level is FindingLevel.BREAKING
    }
    assert breaking - shown == {"contract.tool-removed"}
