"""Every report tells who is hit, how it passes, and what is missing, in what its host shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from governance.cli.cases import decision_cases, judgement_case
from governance.cli.formats import FORMATS
from governance.cli.hit import hit_changes
from governance.cli.markdown import COMMENT_LIMIT
from governance.cli.present import decision_blocks
from governance.cli.report import Report, Weight
from governance.cli.terminal import Style
from governance.core.compat.engine import check
from governance.core.consumers import Change, Need
from governance.core.contract import manifest_from_document
from governance.core.exceptions import surroundings
from governance.core.gate import GateException, HistoryItem, Question, Surroundings, answer, decide
from governance.core.lines import Published
from governance.core.policy import Policy
from governance.core.skill import SkillManifest
from governance.core.versioning import Version

V = Version.parse


def skill(version: str, *, required: list[str]) -> SkillManifest:
    fields = {"order_id": {"type": "string"}, "region": {"type": "string"}}
    schema = {"type": "object", "properties": fields, "required": required}
    document = {"name": "shop.orders.status", "version": version, "description": "Where is it.", "input_schema": schema}
    return manifest_from_document(document, native=False)


def there(manifest: SkillManifest) -> HistoryItem:
    published = Published(
        version=V(manifest.version),
        contract_digest=manifest.contract_digest,
        manifest_digest=manifest.manifest_digest,
        opens_line=True,
        baseline=None if manifest.version == "1.0.0" else V("1.0.0"),
    )
    return HistoryItem(published=published, manifest=manifest)


FIRST, NEXT = there(skill("1.0.0", required=["order_id"])), there(skill("2.0.0", required=["order_id", "region"]))
_FOUND = check(FIRST.manifest, NEXT.manifest).named(NEXT.manifest.name).findings[0]
BREAK, AROUND = _FOUND.fingerprint, surroundings(_FOUND, FIRST.manifest, NEXT.manifest)


def need(consumer: str, **fields: Any) -> Need:
    return Need(consumer=consumer, range=">=1", owner=f"team-{consumer}", environment="prod", **fields)


def deploying(needs: list[Need], exceptions: list[GateException]) -> dict[str, Any]:
    """May 2.0.0 take the place of 1.0.0 in prod?"""
    return answer(
        Question.DEPLOY,
        Change.deploy(NEXT, [FIRST, NEXT], [FIRST], beside=False),
        NEXT.version,
        needs,
        compare=check,
        policy=Policy(),
        environment="prod",
        exceptions=exceptions,
    ).to_document()


def publishing(needs: list[Need]) -> dict[str, Any]:
    return decide(NEXT.manifest, [FIRST], compare=check, around=Surroundings(needs=tuple(needs))).to_document()


Render = Callable[[dict[str, Any]], str]


def rendered(form: str) -> Render:
    def render(judged: dict[str, Any]) -> str:
        cases = (judgement_case(judged),) if "question" in judged else decision_cases(judged, None)
        blocks = tuple(hit_changes(judged) if "question" in judged else decision_blocks(judged))
        report = Report(document=judged, blocks=blocks, cases=cases)
        return FORMATS[form].render(report, Style())

    return render


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "junit", "github", "json"])
@pytest.mark.parametrize("judge", [lambda needs: deploying(needs, []), publishing], ids=["deploy", "publish"])
def test_who_is_hit_is_told_by_name_with_owner_and_payload(
    form: str, judge: Callable[[list[Need]], dict[str, Any]]
) -> None:
    shown = rendered(form)(judge([need("chargeback")])).replace("\\", "").replace("&quot;", '"')
    assert all(word in shown for word in ("chargeback", "team-chargeback", '"order_id"'))


def test_a_consumer_that_would_break_fails_the_build_and_is_told_how_to_be_let_pass() -> None:
    judged = deploying([need("chargeback")], [])
    (case,) = [judgement_case(judged)]
    assert case.failed
    words = f"govctl exception add shop.orders.status@2.0.0 {BREAK} --consumer chargeback --environment prod"
    assert any(words in fact.value for remark in case.remarks for fact in remark.change.facts)


def test_one_that_passes_by_an_exception_is_suppressed_by_it_and_the_others_are_not() -> None:
    exception = GateException(
        fingerprint=BREAK, id="exc_7", surroundings=AROUND, reason="moves on Monday", consumer="chargeback"
    )
    judged = deploying([need("chargeback"), need("helpdesk")], [exception])
    results = json.loads(rendered("sarif")(judged))["runs"][0]["results"]
    told = {one["properties"].get("owner"): one for one in results if one["ruleId"] == "consumer-broken"}
    assert told["team-chargeback"]["level"] == "warning"
    assert told["team-chargeback"]["suppressions"][0]["justification"] == "exc_7: moves on Monday"
    assert (told["team-helpdesk"]["level"], "suppressions" in told["team-helpdesk"]) == ("error", False)
    assert len({one["partialFingerprints"]["govctlFinding/v1"] for one in results}) == len(results)
    suite = ET.fromstring(rendered("junit")(judged))
    assert suite.get("failures") == "1"


def test_an_exception_for_one_consumer_suppresses_no_finding_of_the_skill() -> None:
    exception = GateException(fingerprint=BREAK, id="exc_7", surroundings=AROUND, consumer="chargeback")
    patch = skill("1.0.1", required=["order_id", "region"])
    around = Surroundings(needs=(need("chargeback"),), exceptions=(exception,))
    judged = decide(patch, [FIRST], compare=check, around=around).to_document()
    findings = [remark for case in decision_cases(judged, None) if case.part == "input" for remark in case.remarks]
    assert [(one.weight, one.suppression) for one in findings] == [(Weight.ERROR, None)]


def test_who_is_held_back_is_a_note_and_fails_nothing() -> None:
    cases = decision_cases(publishing([need("chargeback")]), None)
    (held,) = [remark for case in cases for remark in case.remarks if remark.change.code == "consumer-held-back"]
    assert held.weight is Weight.NOTE
    assert not any(case.failed for case in cases)


def test_a_comment_stays_below_its_limit_with_five_hundred_consumers_and_counts_those_it_leaves_out() -> None:
    judged = deploying([need(f"consumer-{number:03}") for number in range(500)], [])
    shown = rendered("markdown")(judged)
    assert len(shown) <= COMMENT_LIMIT
    assert "450 more consumers are hit" in shown
    assert len(json.loads(rendered("sarif")(judged))["runs"][0]["results"]) == 51


def test_what_is_not_ready_stands_in_every_report() -> None:
    judged = decide(FIRST.manifest, [], compare=check, around=Surroundings()).to_document()
    for form in ("text", "markdown", "sarif", "junit", "github", "json"):
        assert "has no owner" in rendered(form)(judged), form
