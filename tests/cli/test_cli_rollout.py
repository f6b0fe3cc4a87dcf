"""Versions are rolled out and back from the command line, against a real control plane."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Govctl


@pytest.fixture
def shop(registry: Govctl, tmp_path: Path) -> Govctl:
    """``shop.find`` 1.0.0 and 1.1.0."""
    for version in ("1.0.0", "1.1.0"):
        manifest = {
            "name": "shop.find",
            "version": version,
            "compatibility": "backward_compatible",
            "description": "Use when somebody looks for an order.",
            "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
            "output_schema": {"type": "object"},
            "timeout_sec": 5,
        }
        file = tmp_path / f"{version}.json"
        file.write_text(json.dumps(manifest))
        assert registry("publish", file).code == 0
    return registry


def test_a_rollout_is_started_steered_and_ended(shop: Govctl) -> None:
    words = ("--weights", "10,100", "--min-calls", "50", "--dwell", "60", "--failures", "0.02,0.5")
    started = shop("rollout", "start", "shop.find@1.1.0", *words, "--reason", "new index", "-o", "json").json
    plan = started["plan"]
    assert (plan["weights"], plan["min_calls"], plan["dwell_sec"]) == ([10, 100], 50, 60)
    assert plan["failures"] == {"absolute": 0.02, "relative": 0.5}
    assert plan["violations"] == {"absolute": 0.01, "relative": 0.0}, "what is left out is by default"
    id_ = started["id"]

    shown = shop("rollout", "show", id_)
    assert shown.out.splitlines()[0] == (
        f"RUNNING  {id_}: shop.find 1.0.0 → 1.1.0. 10 % of the named consumers get 1.1.0."
    )
    assert "wait: 0 of 50 calls of the candidate in this step." in shown.out
    assert "0 calls" in shown.out

    assert shop("rollout", "hold", id_, "--reason", "Friday").out.startswith("HELD")
    assert shop("rollout", "resume", id_, "--reason", "Monday").out.startswith("RUNNING")
    assert "100 % of the named consumers" in shop("rollout", "advance", id_, "--reason", "seen enough").out
    fallen = shop("rollout", "fall-back", id_, "--reason", "too slow").out
    assert fallen.startswith("FALLEN BACK")
    assert f"1.1.0 stays withheld until `govctl rollout cancel {id_} --reason WHY`." in fallen
    assert "shop.find 1.0.0" in shop("resolve", "shop.find@^1").out
    (listed,) = shop("rollout", "list", "--in-force", "-o", "jsonl").lines
    assert (listed["id"], listed["state"], listed["reason"]) == (id_, "fallen_back", "too slow")

    assert shop("rollout", "cancel", id_, "--reason", "it is fast again").out.startswith("CANCELLED")
    assert shop("rollout", "list", "--in-force").out.startswith("ROLLOUTS  0 rollouts.")
    assert "fallen back" not in shop("rollout", "list").out
    assert shop("rollout", "resume", id_, "--reason", "r").code == 6


def test_the_way_back_is_one_command(shop: Govctl) -> None:
    assert "shop.find 1.1.0" in shop("resolve", "shop.find@^1").out
    back = shop("rollout", "start", "shop.find@1.0.0", "--reason", "1.1.0 is wrong")
    assert back.out.startswith("COMPLETED")
    assert "1.0.0 serves all." in back.out
    assert "shop.find 1.0.0" in shop("resolve", "shop.find@^1").out


def test_what_makes_no_sense_is_told_before_it_is_sent(shop: Govctl) -> None:
    for words in (
        ("start",),
        ("start", "shop.find"),
        ("hold", "rol_0000000000000000"),
        ("start", "shop.find@1.1.0", "--weights", "ten"),
        ("start", "shop.find@1.1.0", "--failures", "0.1,0.1,0.1"),
        ("start", "shop.find@1.1.0", "--failures", "nan"),
        ("start", "shop.find@1.1.0", "--weights", "50,20,100"),
        ("start", "shop.find@1.9.0"),
        ("show", "rol_0000000000000000"),
        ("show", "../tokens"),
    ):
        assert shop("rollout", *words).code == 2, words
