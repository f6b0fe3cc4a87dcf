"""An exception opens the gate for its finding, in its surroundings, in its scope, and nothing else ever."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.core.compat.engine import check
from governance.core.consumers import Change, Need
from governance.core.contract import manifest_from_document
from governance.core.gate import (
    GateDecision,
    GateException,
    HistoryItem,
    Outcome,
    Question,
    Surroundings,
    answer,
    decide,
)
from governance.core.lines import Published
from governance.core.policy import Policy, PolicyMode, policy_of
from governance.core.skill import SkillManifest
from governance.core.versioning import Version

V = Version.parse
LETTERS = "abc"
subsets = st.sets(st.sampled_from(LETTERS)).map(sorted)


def skill(version: str, *, needs: str = "", extra: str = "", inner: str = "") -> SkillManifest:
    """Requires the optional fields in ``needs``; ``extra`` names further ones, ``inner`` fields of the object in it."""
    fields: dict[str, Any] = {letter: {"type": "string"} for letter in LETTERS + extra}
    fields["in"] = {"type": "object", "properties": {letter: {} for letter in inner}}
    schema = {"type": "object", "properties": fields, "required": list(needs)}
    document = {"name": "git.log", "version": version, "description": "Lists.", "input_schema": schema}
    return manifest_from_document(document, native=False)


def there(manifest: SkillManifest, *, opens: bool = False) -> HistoryItem:
    published = Published(
        version=V(manifest.version),
        contract_digest=manifest.contract_digest,
        manifest_digest=manifest.manifest_digest,
        opens_line=opens,
        baseline=None if opens else V("1.0.0"),
    )
    return HistoryItem(published=published, manifest=manifest)


FIRST = there(skill("1.0.0"), opens=True)
SECOND = there(skill("1.1.0", extra="d"))


def judged(
    candidate: SkillManifest, exceptions: list[GateException], *, mode: PolicyMode | None = None
) -> GateDecision:
    policy = policy_of(mode) if mode else Policy()
    around = Surroundings(exceptions=tuple(exceptions), policy=policy)
    return decide(candidate, [FIRST, SECOND], compare=check, around=around)


def given_for(decision: GateDecision, letters: list[str], **scope: Any) -> list[GateException]:
    """An exception for the findings about ``letters``, as it would be asked for from a stored check."""
    named = {
        finding.fingerprint
        for one in decision.compared
        for finding in one.comparison.findings
        if finding.new in letters
    }
    return [
        GateException(fingerprint=fingerprint, id="exc_1", surroundings=one, **scope)
        for fingerprint in sorted(named)
        for one in decision.surroundings[fingerprint]
    ]


def codes(decision: GateDecision) -> set[str]:
    return {reason.code for reason in decision.reasons}


@settings(max_examples=30, deadline=None)
@given(subsets, subsets)
def test_the_gate_allows_what_breaks_only_where_every_break_is_excepted_and_the_line_opens_all_the_same(
    needs: list[str], excepted: list[str]
) -> None:
    candidate = skill("1.2.0", needs="".join(needs), extra="d")
    plain = judged(candidate, [])
    decision = judged(candidate, given_for(plain, excepted))
    left = set(needs) - set(excepted)
    assert (decision.outcome is Outcome.BLOCK) == bool(left)
    assert decision.opens_line == plain.opens_line == bool(needs)
    assert decision.exceptions_used == (("exc_1",) if set(needs) & set(excepted) else ())
    assert decision.verdict == plain.verdict


@settings(max_examples=30, deadline=None)
@given(subsets, st.sampled_from(["d", "de"]), st.sampled_from(["", "x"]))
def test_an_exception_never_outlives_its_surroundings(needs: list[str], extra: str, inner: str) -> None:
    asked = judged(skill("1.2.0", needs="".join(needs), extra="d"), [])
    exceptions = given_for(asked, list(LETTERS))
    changed = skill("1.2.0", needs="".join(needs), extra=extra, inner=inner)
    decision = judged(changed, exceptions)
    same = (extra, inner) == ("d", "")
    assert (decision.outcome is Outcome.BLOCK) == (bool(needs) and not same)
    assert ("exception-reopened" in codes(decision)) == (bool(needs) and not same)
    if needs and not same:
        (told, *_) = (reason for reason in decision.reasons if reason.code == "exception-reopened")
        assert told.exception is not None
        assert told.exception.id == "exc_1"
        assert "the newer contract changed" in told.message
        assert decision.exceptions_used == ()


def test_what_is_excepted_against_one_version_of_the_line_is_judged_against_the_others() -> None:
    candidate = skill("1.2.0", needs="a", extra="d")
    against_all = given_for(judged(candidate, []), ["a"])
    assert len(against_all) == 2  # the object that holds the finding is another one in each version
    assert judged(candidate, against_all).outcome is Outcome.WARN
    for one in against_all:
        assert judged(candidate, [one]).outcome is Outcome.BLOCK


def test_an_exception_that_nothing_needed_was_not_used() -> None:
    candidate = skill("2.0.0", needs="a", extra="d")
    plain = judged(candidate, [])
    exceptions = given_for(plain, ["a"])
    assert judged(candidate, exceptions) == plain
    minor = skill("1.2.0", needs="a", extra="d")
    for mode in (PolicyMode.WARN, PolicyMode.OFF):
        assert judged(minor, exceptions, mode=mode).exceptions_used == ()
    assert judged(minor, exceptions, mode=PolicyMode.ENFORCE).exceptions_used == ("exc_1",)


@pytest.mark.parametrize("scope", [{"environment": "prod"}, {"consumer": "agents/one"}])
def test_an_exception_for_one_environment_or_consumer_does_not_open_the_gate(scope: dict[str, str]) -> None:
    candidate = skill("1.2.0", needs="a", extra="d")
    decision = judged(candidate, given_for(judged(candidate, []), ["a"], **scope))
    assert decision.outcome is Outcome.BLOCK
    assert codes(decision).isdisjoint({"exception-used", "exception-reopened"})


@pytest.mark.parametrize(
    ("scope", "consumer", "environment", "opens"),
    [
        ({}, "agents/one", "prod", True),
        ({"environment": "prod"}, "agents/one", "prod", True),
        ({"environment": "prod"}, "agents/one", "test", False),
        ({"consumer": "agents/one"}, "agents/one", "test", True),
        ({"consumer": "agents/two"}, "agents/one", "prod", False),
        ({"consumer": "agents/one", "environment": "prod"}, "agents/one", "test", False),
    ],
)
def test_where_something_is_deployed_the_exceptions_of_that_place_and_of_its_consumers_count(
    scope: dict[str, str], consumer: str, environment: str, opens: bool
) -> None:
    breaking = there(skill("2.0.0", needs="a", extra="d"), opens=True)
    asked = decide(breaking.manifest, [FIRST, SECOND], compare=check)
    found = answer(
        Question.DEPLOY,
        Change.deploy(breaking, [FIRST, SECOND, breaking], [SECOND], beside=False),
        V("2.0.0"),
        [Need(consumer=consumer, range=">=1")],
        compare=check,
        policy=Policy(),
        environment=environment,
        exceptions=given_for(asked, ["a"], **scope),
    )
    assert (found.outcome is not Outcome.BLOCK) == opens
    assert [reason.code for reason in found.reasons] == (["exception-used"] if opens else ["consumer-broken"])


def test_a_decision_tells_what_surrounds_each_finding_an_exception_may_be_asked_for() -> None:
    decision = judged(skill("1.2.0", needs="ab", extra="d"), [])
    document = decision.to_document()
    breaking = {
        finding["fingerprint"]
        for one in document["compared"]
        for finding in one["findings"]
        if finding["level"] == "breaking"
    }
    assert set(document["surroundings"]) == breaking
    (reason,) = [one for one in document["reasons"] if one["code"] == "bump-too-small"]
    assert reason["surroundings"] in document["surroundings"][reason["fingerprint"]]
    assert judged(replace(FIRST.manifest, version="1.0.1"), []).surroundings == {}
