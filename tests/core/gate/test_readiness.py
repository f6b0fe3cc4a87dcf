"""Nothing is ready that nobody answers for, and what is high-risk shows its calls before others rely on it."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.engine import check
from governance.core.contract import manifest_from_document
from governance.core.gate import Outcome, Surroundings, decide, readiness
from governance.core.policy import Policy
from governance.core.skill import SkillManifest

WORKS: dict[str, Any] = {"input": {"q": "x"}, "output": {}}
FAILS: dict[str, Any] = {"input": {"q": ""}, "error": "empty"}


def skill(**fields: Any) -> SkillManifest:
    document = {
        "name": "mail.send",
        "version": "1.0.0",
        "description": "Sends a mail.",
        "input_schema": {"type": "object"},
        "owner": "team-mail",
    } | fields
    return manifest_from_document({key: one for key, one in document.items() if one is not None}, native=False)


def policy(readiness_: str) -> Policy:
    return Policy(values={**Policy().values, "readiness": readiness_})


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({}, []),
        ({"owner": None}, ["/owner"]),
        ({"side_effects": "write"}, []),
        ({"side_effects": "external"}, ["/examples", "/examples", ""]),
        ({"side_effects": "destructive", "examples": [WORKS]}, ["/examples", ""]),
        ({"dangerous": True, "examples": [FAILS]}, ["/examples", ""]),
        ({"dangerous": True, "examples": [WORKS, FAILS]}, [""]),
        ({"dangerous": True, "examples": [WORKS, FAILS], "owner": None}, ["/owner", ""]),
    ],
)
def test_what_is_missing_is_told_at_its_place(fields: dict[str, Any], missing: list[str]) -> None:
    risky = skill(**fields)
    assert [one.pointer for one in readiness(risky, Policy(), ())] == missing
    tested = [one.pointer for one in readiness(risky, Policy(), {risky.contract_digest})]
    assert tested == [pointer for pointer in missing if pointer]


@pytest.mark.parametrize(
    ("said", "publish", "protected"),
    [("off", None, None), ("warn", Outcome.WARN, Outcome.BLOCK), ("block", Outcome.BLOCK, Outcome.BLOCK)],
)
def test_the_policy_says_what_it_does_and_a_protected_environment_takes_nothing_that_is_not_ready(
    said: str, publish: Outcome | None, protected: Outcome | None
) -> None:
    nobodys = skill(owner=None)
    assert [one.outcome for one in readiness(nobodys, policy(said), ())] == ([publish] if publish else [])
    assert [one.outcome for one in readiness(nobodys, policy(said), (), protected=True)] == (
        [protected] if protected else []
    )


def test_the_gate_of_a_registry_asks_and_says_what_it_cannot_know() -> None:
    risky = skill(dangerous=True, owner=None)
    decision = decide(risky, [], compare=check, around=Surroundings())
    assert [one.code for one in decision.reasons] == ["not-ready"] * 4 + ["first-version"]
    assert (decision.outcome, decision.not_checked) == (Outcome.WARN, ("telemetry",))
    off = decide(risky, [], compare=check, around=Surroundings(policy=policy("off")))
    assert (off.outcome, off.not_checked) == (Outcome.ALLOW, ())
    blocked = decide(risky, [], compare=check, around=Surroundings(policy=policy("block")))
    assert blocked.outcome is Outcome.BLOCK
    assert decide(risky, [], compare=check).outcome is Outcome.ALLOW  # offline nobody knows the policy
