"""Pairs of schemas to compare: real histories of tools, seeded changes to real tools, and hard pairs with answers."""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "core" / "compat")]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Is every value of ``old`` one of ``new``? ``contained`` is the answer where it is known beforehand."""

    group: str
    old: Any
    new: Any
    contained: bool | None = None


def tools() -> list[dict[str, Any]]:
    """Every tool with an input schema in the real catalogues."""
    found: list[dict[str, Any]] = []
    for path in sorted((DATA / "catalogues").glob("*.json")):
        stack: list[Any] = [json.loads(path.read_text(encoding="utf-8"))]
        while stack:
            node = stack.pop()
            if isinstance(node, dict):
                if isinstance(node.get("inputSchema"), dict):
                    found.append(node)
                stack.extend(node.values())
            elif isinstance(node, list):
                stack.extend(node)
    return found


def pairs(seed: int, changed: int) -> list[Pair]:
    return [*_histories(), *_changed(seed, changed), *_hard()]


def _histories() -> Iterator[Pair]:
    with (DATA / "transitions.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            step = json.loads(line)
            if not step["old"] or not step["new"]:
                continue
            for keyword in ("inputSchema", "outputSchema"):
                old, new = step["old"].get(keyword), step["new"].get(keyword)
                if old is not None and new is not None and old != new:
                    yield Pair(group="history", old=old, new=new)


def _changed(seed: int, count: int) -> Iterator[Pair]:
    source, schemas = random.Random(seed), [tool["inputSchema"] for tool in tools()]
    for _ in range(count):
        old = source.choice(schemas)
        yield Pair(group="changed", old=old, new=changed(old, source))


def _hard() -> Iterator[Pair]:
    from hard_pairs import ALL

    for _, one, other, relation in ALL:
        yield Pair(group="hard", old=one, new=other, contained=relation in "=<")
        yield Pair(group="hard", old=other, new=one, contained=relation in "=>")


def changed(schema: Any, source: random.Random) -> Any:
    """The schema after one to three changes of the kind that releases make."""
    new = copy.deepcopy(schema)
    for _ in range(source.randint(1, 3)):
        places = [node for node in _objects(new) if isinstance(node.get("properties"), dict)]
        if places:
            source.choice(_CHANGES)(source.choice(places), source)
    return new


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            yield current
            stack.extend(current.values())
        elif isinstance(current, list):
            stack.extend(current)


def _field(place: dict[str, Any], source: random.Random) -> dict[str, Any]:
    fields = [field for field in place["properties"].values() if isinstance(field, dict)]
    return source.choice(fields) if fields else {}


def _add_field(place: dict[str, Any], source: random.Random) -> None:
    place["properties"][f"extra_{source.randint(0, 99)}"] = {"type": source.choice(["string", "integer", "boolean"])}


def _drop_field(place: dict[str, Any], source: random.Random) -> None:
    if place["properties"]:
        name = source.choice(sorted(place["properties"]))
        del place["properties"][name]
        if isinstance(place.get("required"), list) and name in place["required"]:
            place["required"] = [other for other in place["required"] if other != name]


def _require(place: dict[str, Any], source: random.Random) -> None:
    if place["properties"]:
        required = {*place.get("required", []), source.choice(sorted(place["properties"]))}
        place["required"] = sorted(required)


def _relax(place: dict[str, Any], source: random.Random) -> None:
    if place.get("required"):
        place["required"] = place["required"][1:]


def _retype(place: dict[str, Any], source: random.Random) -> None:
    field = _field(place, source)
    if isinstance(field.get("type"), str):
        field["type"] = source.choice(["string", "integer", "number", [field["type"], "null"]])


def _bound(place: dict[str, Any], source: random.Random) -> None:
    field = _field(place, source)
    if field.get("type") == "string":
        field[source.choice(["minLength", "maxLength"])] = source.choice([1, 8, 64])
    elif field.get("type") in ("integer", "number"):
        field[source.choice(["minimum", "maximum"])] = source.choice([0, 1, 100])
    elif field.get("type") == "array":
        field[source.choice(["minItems", "maxItems"])] = source.choice([1, 10])


def _values(place: dict[str, Any], source: random.Random) -> None:
    field = _field(place, source)
    if isinstance(field.get("enum"), list) and len(field["enum"]) > 1:
        field["enum"] = [*field["enum"], "other"] if source.random() < 0.5 else field["enum"][:-1]
    elif field.get("type") == "string":
        field["enum"] = ["asc", "desc"]


def _close(place: dict[str, Any], source: random.Random) -> None:
    place["additionalProperties"] = source.choice([True, False])


def _reword(place: dict[str, Any], source: random.Random) -> None:
    _field(place, source)["description"] = f"Says the same in other words ({source.randint(0, 9)})."


_CHANGES: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (
    _add_field, _drop_field, _require, _relax, _retype, _bound, _values, _close, _reword,
)  # fmt: skip
