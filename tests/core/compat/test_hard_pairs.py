"""Pairs worked out by hand, each in both directions: the engine decides them all, and rightly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asking import judge, separating, valid
from hard_pairs import ALL

CONFORMANCE = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "containment_cases.json").read_text(encoding="utf-8")
)


def relation(one: Any, other: Any) -> str:
    """How the sets relate, every difference confirmed by the validator; ``?`` where that is undecided."""
    within: list[bool] = []
    for sender, receiver in ((one, other), (other, one)):
        answer = separating(sender, receiver)
        if answer.found is None:
            return f"? ({answer.reason})"
        if answer.found:
            assert judge(sender).is_valid(answer.value), answer.value
            assert not judge(receiver).is_valid(answer.value), answer.value
        within.append(not answer.found)
    return {(True, True): "=", (True, False): "<", (False, True): ">", (False, False): "x"}[within[0], within[1]]


@pytest.mark.parametrize(("one", "other", "expected"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_hard_pair(one: Any, other: Any, expected: str) -> None:
    assert valid(one, other)
    assert relation(one, other) == expected


@pytest.mark.parametrize("case", CONFORMANCE, ids=lambda case: f"{case['id']} {case['why']}")
def test_conformance_case(case: dict[str, Any]) -> None:
    old, new = (_in_dialect(case[side], case[f"{side}_dialect"]) for side in ("old", "new"))
    answer = separating(old, new)
    assert answer.found is (not case["contained"])
    if answer.found:
        assert judge(old).is_valid(answer.value)
        assert not judge(new).is_valid(answer.value)


def test_there_are_enough_of_them_and_no_two_alike() -> None:
    assert len({row[0] for row in ALL}) == len(ALL) >= 150


def _in_dialect(schema: Any, uri: str) -> Any:
    return {"$schema": uri, **schema} if isinstance(schema, dict) else schema
