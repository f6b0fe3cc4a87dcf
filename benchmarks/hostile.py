#!/usr/bin/env python3
"""How long does a comparison of megabyte-size hostile documents take, against the ceiling of 250 ms?

    .venv/bin/python benchmarks/hostile.py [CEILING_MS]

CPU milliseconds of the comparing thread, as the service counts them, over both sides; the worse of both is printed,
with the verdict, its reason and how much the peak memory of the process grew.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from governance.comparing import Comparer
from governance.core.compat.model import Side

Schema = dict[str, Any]
Make = Callable[[Schema, int], Schema]


def field(schema: Schema) -> Schema:
    return {"type": "object", "properties": {"a": schema}}


def fields(count: int, schema: Schema, **more: Any) -> Schema:
    return {"type": "object", "properties": {f"p{i}": dict(schema) for i in range(count)}, **more}


def chained(count: int, leaf: Schema) -> Schema:
    steps: list[Schema] = [field({"$ref": f"#/$defs/d{i + 1}"}) for i in range(count)]
    return {**field({"$ref": "#/$defs/d0"}), "$defs": {f"d{i}": step for i, step in enumerate([*steps, leaf])}}


def mutual(count: int, leaf: Schema) -> Schema:
    everyone = {f"r{j}": {"$ref": f"#/$defs/d{j}"} for j in range(count)}
    bodies = {f"d{i}": {"type": "object", "properties": {**everyone, "v": leaf}} for i in range(count)}
    return {**field({"$ref": "#/$defs/d0"}), "$defs": bodies}


def anchored(count: int, leaf: Schema) -> Schema:
    links = fields(count, {"$dynamicRef": "#n"})
    return {"$id": "https://example.com/", **links, "$defs": {"n": {"$dynamicAnchor": "n", **leaf}}}


def evaluating(count: int, leaf: Schema) -> Schema:
    branches = [{"properties": {f"q{j}": leaf}} for j in range(6)]
    return fields(count, {"anyOf": branches, "unevaluatedProperties": False})


def unions(count: int, width: int, leaf: Schema) -> Schema:
    def branch(name: str) -> Schema:
        return {"properties": {name: leaf}, "required": [name]}

    parts = [{"anyOf": [branch(f"p{i}_{j}") for j in range(width)]} for i in range(count)]
    return {"type": "object", "allOf": parts}


DOCUMENTS: dict[str, Make] = {
    "an enum of 5,000 (means well)": lambda leaf, more: field({"enum": [f"value-{i}" for i in range(5_000 + more)]}),
    "an enum of 100,000 texts": lambda leaf, more: field({"enum": [f"value-{i}" for i in range(100_000 + more)]}),
    "an enum of 100,000 numbers": lambda leaf, more: field({"enum": [i + 0.5 for i in range(100_000 + more)]}),
    "30,000 objects as constants": lambda leaf, more: field({"enum": [{"k": {"l": i}} for i in range(30_000 + more)]}),
    "a constant list of 100,000": lambda leaf, more: field({"const": list(range(100_000 + more))}),
    "oneOf of 30,000 constants": lambda leaf, more: field(
        {"oneOf": [{"const": f"v{i}"} for i in range(30_000 + more)]}
    ),
    "5,000 chained definitions": lambda leaf, more: chained(5_000, leaf),
    "50 mutually recursive definitions": lambda leaf, more: mutual(50, leaf),
    "200 mutually recursive definitions": lambda leaf, more: mutual(200, leaf),
    "200 overlapping patterns": lambda leaf, more: {"patternProperties": {f"x{i}": leaf for i in range(200)}},
    "5,000 patterns": lambda leaf, more: {"patternProperties": {f"^x{i}$": leaf for i in range(5_000)}},
    "20,000 fields, all required": lambda leaf, more: fields(20_000, leaf, required=[f"p{i}" for i in range(20_000)]),
    "3,000 dynamic references": lambda leaf, more: anchored(3_000, leaf),
    "800 times 64 ways to evaluate": lambda leaf, more: evaluating(800, leaf),
    "20 unions of 20, all at once": lambda leaf, more: unions(20, 20, leaf),
}


def measured(make: Make, comparer: Comparer) -> str:
    worst, told = 0.0, ""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for side in (Side.INPUT, Side.OUTPUT):
        old, new = make({"type": ["string", "null"]}, 0), make({"type": "string"}, 1)
        began = time.thread_time()
        comparison = comparer.check_schemas(old, new, side=side)
        took = 1000 * (time.thread_time() - began)
        if took > worst:
            reason = re.search(r"\(([a-z-]+)\)", comparison.reason or "")
            worst, told = took, comparison.verdict.value + (f" ({reason[1]})" if reason else "")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    size = len(json.dumps(make({"type": "string"}, 0))) // 1000
    return f"{size:,} kB | {worst:,.0f} | {told} | {grown}"


def main() -> None:
    ceiling = float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0.25
    comparer = Comparer(ceiling_sec=ceiling, clock=time.thread_time)
    print("| document | size | CPU ms | verdict | memory grown, MB |\n| --- | --- | --- | --- | --- |")
    for name, make in DOCUMENTS.items():
        print(f"| {name} | {measured(make, comparer)} |", flush=True)


if __name__ == "__main__":
    main()
