"""A comparison ends when its time is up, and says what it knows by then."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from governance.comparing import Comparer
from governance.core.compat.engine import Settings
from governance.core.compat.model import Reading, Side, Verdict
from governance.core.contract import manifest_from_document
from governance.core.skill import SkillManifest
from governance.opinion import CoversWorker


class Clock:
    """Seconds that pass with every look at it."""

    def __init__(self, tick: float) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def exponential(leaf: str) -> Any:
    branches = [
        {"anyOf": [{"properties": {f"p{i}": {"type": leaf}}, "required": [f"p{i}"]}, {"maxProperties": i}]}
        for i in range(40)
    ]
    return {"type": "object", "oneOf": branches[:20], "allOf": branches[20:]}


def patterns(letter: str) -> Any:
    return {"properties": {f"k{i}": {"pattern": f"^(?:a|b)*{letter}(?:a|b){{12}}{i}"} for i in range(200)}}


def wide(extra: int) -> Any:
    return {"properties": {f"p{i}": {"type": "string", "maxLength": i + extra} for i in range(2000)}}


def overlapping(leaf: str) -> Any:
    fields = ({"properties": {f"k{i}": {"type": leaf}}, "required": [f"k{i % 7}"]} for i in range(120))
    return {"type": "object", "oneOf": list(fields)}


def chained(extra: Any) -> Any:
    """Each definition applies the next one in place and below a field."""
    steps = {
        f"d{i}": {
            "allOf": [{"$ref": f"#/$defs/d{i + 1}"}],
            "properties": {f"x{i}": {"$ref": f"#/$defs/d{i + 1}"}},
        }
        for i in range(80)
    }
    return {"$ref": "#/$defs/d0", "$defs": steps | {"d80": extra}}


HOSTILE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "unions of unions": lambda: (exponential("integer"), exponential("number")),
    "patterns that blow up": lambda: (patterns("a"), patterns("b")),
    "very wide objects": lambda: (wide(1), wide(0)),
    "chains of references": lambda: (chained({"type": "object"}), chained({"type": "object", "minProperties": 1})),
    "overlapping alternatives": lambda: (overlapping("integer"), overlapping("number")),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_end_soon_after_the_ceiling(name: str) -> None:
    old, new = HOSTILE[name]()
    comparison = Comparer(ceiling_sec=0.2).check_schemas(old, new, side=Side.INPUT)
    assert comparison.verdict in (Verdict.UNDECIDED, Verdict.BREAKING)
    assert comparison.verdict is Verdict.UNDECIDED or comparison.witness is not None


def test_without_time_a_pair_is_undecided_by_time() -> None:
    comparer = Comparer(ceiling_sec=0.25, clock=Clock(tick=1.0))
    comparison = comparer.check_schemas({"minimum": 2}, {"minimum": 1}, side=Side.INPUT)
    assert comparison.verdict is Verdict.UNDECIDED
    assert "(time)" in (comparison.reason or "")
    assert comparison.interrupted
    assert comparison.to_document()["interrupted"] is True


def test_no_ceiling_means_no_look_at_the_clock() -> None:
    clock = Clock(tick=1.0)
    comparer = Comparer(ceiling_sec=None, clock=clock)
    assert comparer.check_schemas({"minimum": 2}, {"minimum": 1}, side=Side.INPUT).verdict is Verdict.COMPATIBLE
    assert clock.now == 0.0


def skill(**fields: Any) -> SkillManifest:
    document = {
        "name": "shop.find", "version": "1.0.0", "description": "Find.", "timeout_sec": 1,
        "input_schema": {"type": "object"}, "output_schema": True, "compatibility": "backward_compatible",
    }  # fmt: skip
    return manifest_from_document(document | fields)


def test_what_was_proved_before_time_ran_out_is_said() -> None:
    old = skill(output_schema={"minimum": 1})
    new = skill(output_schema={"minimum": 2})
    comparison = Comparer(ceiling_sec=1.5, clock=Clock(tick=1.0)).check(old, new)
    assert comparison.verdict is Verdict.UNDECIDED
    assert (comparison.reason or "").endswith("proved so far: the input side")


BACK_REFERENCE = ({"pattern": r"^(.)\1$"}, {"pattern": r"^(.)\1*$"})


class Opinion(CoversWorker):
    """Answers as told, and remembers how long it was given."""

    def __init__(self, answer: bool | None) -> None:
        super().__init__()
        self.answer = answer
        self.given: list[float | None] = []

    def __call__(
        self, old: Any, new: Any, draft: str | None = None, *, timeout_sec: float | None = None
    ) -> bool | None:
        self.given.append(timeout_sec)
        return self.answer


def test_the_second_opinion_gets_the_time_that_is_left_and_its_proof_is_labelled() -> None:
    opinion = Opinion(True)
    comparison = Comparer(opinion=opinion, ceiling_sec=60).check_schemas(*BACK_REFERENCE, side=Side.INPUT)
    assert comparison.verdict is Verdict.COMPATIBLE
    assert comparison.second_opinion == (Side.INPUT,)
    (left,) = opinion.given
    assert left is not None
    assert 0 < left < 60


def test_the_second_opinion_is_not_asked_about_what_is_decided() -> None:
    opinion = Opinion(None)
    comparer = Comparer(opinion=opinion)
    for old, new in (({"minimum": 2}, {"minimum": 1}), ({"minimum": 1}, {"minimum": 2})):
        comparer.check_schemas(old, new, side=Side.INPUT)
    assert opinion.given == []


def test_its_plain_no_against_a_strict_proof_leaves_the_pair_undecided() -> None:
    strict = Settings(reading=Reading.STRICT)
    pair = {"minimum": 2}, {"minimum": 1}
    denied = Comparer(opinion=Opinion(False)).check_schemas(*pair, side=Side.INPUT, settings=strict)
    assert denied.verdict is Verdict.UNDECIDED
    assert denied.disagreement == (Side.INPUT,)
    assert "(disagreement)" in (denied.reason or "")
    assert denied.to_document()["disagreement"] == ["input"]
    for agreeing in (True, None):
        agreed = Comparer(opinion=Opinion(agreeing)).check_schemas(*pair, side=Side.INPUT, settings=strict)
        assert agreed.verdict is Verdict.COMPATIBLE
        assert agreed.disagreement == ()


def test_its_yes_moves_no_verified_payload() -> None:
    strict = Settings(reading=Reading.STRICT)
    comparison = Comparer(opinion=Opinion(True)).check_schemas(
        {"minimum": 1}, {"minimum": 2}, side=Side.INPUT, settings=strict
    )
    assert comparison.verdict is Verdict.BREAKING


@pytest.mark.timeout(60)
def test_a_real_worker_that_is_slow_costs_no_more_than_what_is_left() -> None:
    slow = {"allOf": [{"anyOf": [{"minProperties": i}, {"required": [f"r{i}"]}]} for i in range(18)]}
    with contextlib.closing(CoversWorker(timeout_sec=30)) as worker:
        worker({"minimum": 1}, {"minimum": 0})  # its start is not counted
        assert worker(slow, slow | {"maxProperties": 90}, timeout_sec=0.1) is None
