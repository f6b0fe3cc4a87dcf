"""The second opinion, asked as the product asks it, never denies what the engine proved nor proves what it refuted."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from governance.comparing import Comparer
from governance.core.compat.engine import Settings
from governance.core.compat.model import Reading, Side, Verdict
from governance.opinion import CoversWorker

TRANSITIONS = Path(__file__).parents[2] / "data" / "transitions.jsonl"
STRICT = Settings(reading=Reading.STRICT)
PAIRS_A_SEED = 150


@pytest.fixture(scope="module")
def opinion() -> Iterator[CoversWorker]:
    with contextlib.closing(CoversWorker(timeout_sec=5)) as worker:
        yield worker


def real_schemas() -> list[Any]:
    """Schemas that real tools were published with."""
    found: list[Any] = []
    for line in TRANSITIONS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        for tool in (pair["old"], pair["new"]):
            found += [tool[key] for key in ("inputSchema", "outputSchema") if tool and tool.get(key)]
    return found


def places(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema that may take a keyword."""
    if isinstance(schema, dict):
        if "type" in schema or "properties" in schema or "$ref" in schema:
            yield schema
        for child in schema.values():
            yield from places(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from places(child)


def mutated(schema: Any, chance: random.Random) -> Any:
    """One to three changes as teams make them, at random places."""
    copy = json.loads(json.dumps(schema))
    for _ in range(chance.randint(1, 3)):
        spots = list(places(copy))
        if not spots:
            break
        spot = chance.choice(spots)
        named = spot.get("properties")
        match chance.randrange(9):
            case 0 if isinstance(named, dict) and named:
                spot["required"] = sorted({*spot.get("required", []), chance.choice(sorted(named))})
            case 1 if spot.get("required"):
                spot["required"] = spot["required"][1:]
            case 2 if isinstance(named, dict) and named:
                named.pop(chance.choice(sorted(named)))
            case 3:
                spot["type"] = chance.choice(["string", "integer", "number", ["string", "null"], "object", "array"])
            case 4:
                spot["enum"] = chance.sample(["a", "b", "c", 1, 2, None, True], chance.randint(1, 4))
            case 5:
                spot[chance.choice(["minLength", "maxLength", "minItems", "minProperties"])] = chance.randint(0, 3)
            case 6:
                spot[chance.choice(["minimum", "maximum", "exclusiveMinimum"])] = chance.choice([0, 1, 2.5, 10])
            case 7:
                spot["additionalProperties"] = chance.choice([True, False, {"type": "string"}])
            case 8:
                spot["anyOf"] = [{"type": "string", "pattern": "^a"}, {"type": ["integer", "object"]}, {"maxLength": 2}]
    return copy


@pytest.mark.parametrize("seed", range(4))
def test_over_changes_of_real_schemas_neither_contradicts_the_other(opinion: CoversWorker, seed: int) -> None:
    chance = random.Random(seed)
    comparer = Comparer(opinion=opinion, ceiling_sec=10)
    known = real_schemas()
    decided = 0
    for _ in range(PAIRS_A_SEED):
        one = chance.choice(known)
        pair = [mutated(one, chance) if chance.random() < 0.5 else one, mutated(one, chance)]
        chance.shuffle(pair)
        comparison = comparer.check_schemas(*pair, side=Side.INPUT, settings=STRICT)
        assert comparison.disagreement == (), json.dumps(pair)
        if comparison.verdict is Verdict.BREAKING:
            assert opinion(*pair) is not True, json.dumps(pair)
        decided += comparison.verdict in (Verdict.BREAKING, Verdict.COMPATIBLE, Verdict.RISKY)
    assert decided > 0.97 * PAIRS_A_SEED
