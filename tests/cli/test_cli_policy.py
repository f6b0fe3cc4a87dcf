"""Policies on the command line: what is named is changed, the rest stays, and everybody sees where it was set."""

from __future__ import annotations

from governance.cli.commands.demo import EXAMPLES
from tests.cli.conftest import Govctl


def test_a_policy_is_set_key_by_key_shown_with_origins_and_remembered(registry: Govctl) -> None:
    assert registry("publish", EXAMPLES / "1.0.0").code == 0
    assert registry("policy", "set", "namespace:shop", "mode=warn", "exception_days=7").code == 0
    changed = registry(
        "policy", "set", "namespace:shop", "mode=", "readiness=block", "--reason", "careful", "-o", "json"
    )
    assert changed.json["settings"] == {"exception_days": 7, "readiness": "block"}
    held = registry("policy", "show", "shop.orders.find", "-o", "json").json["values"]
    assert held["readiness"] == {"value": "block", "origin": "namespace:shop"}
    assert held["mode"] == {"value": "enforce", "origin": "default"}
    assert "namespace:shop" in registry("policy", "show", "namespace:shop").out
    assert "skill:shop.orders.find" in registry("policy", "show", "find").out
    assert "skill:nothing_yet" in registry("policy", "show", "nothing_yet").out
    assert {one["origin"] for one in registry("policy", "show", "-o", "json").json["values"].values()} == {"default"}
    history = registry("policy", "history", "namespace:shop", "-o", "jsonl").lines
    assert [(one["revision"], one["reason"]) for one in history] == [(2, "careful"), (1, None)]
    assert registry("policy", "set", "namespace:shop", "readiness=block").out.startswith("UNCHANGED")


def test_a_key_or_value_nobody_knows_is_a_usage_error_that_names_those_there_are(here: Govctl) -> None:
    for words in (("mod=warn",), ("mode=soft",), ("exception_days=many",), ("mode",), ()):
        done = here("policy", "set", "global", *words)
        assert (done.code, done.out) == (2, "")
    assert "enforce" in here("policy", "set", "global", "mode=soft").err
    assert here("policy", "show", "global", "mode=warn").code == 2
    assert here("policy", "history", "shop").code == 2
