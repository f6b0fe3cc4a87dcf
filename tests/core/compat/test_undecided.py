"""What the documentation says stays undecided does, with the reason it names; and equal schemas never are."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from governance.core.compat.engine import check_schemas
from governance.core.compat.model import Side, Verdict
from governance.core.compat.telling import REASONS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "compatibility.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE.partition("## What stays undecided")[2], re.M))
SCHEMA = Path(__file__).resolve().parents[3] / "governance" / "core" / "schema"
ROOT = "https://example.com/"


def field(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def anchored(extra: dict[str, Any]) -> dict[str, Any]:
    tree = {"$id": "t", "$dynamicAnchor": "n", "type": "object", "properties": {"c": {"$dynamicRef": "#n"}}}
    return {"$id": ROOT, "$ref": "t", "$defs": {"t": tree, "u": {"$id": "u", "$dynamicAnchor": "n"}}, **extra}


def branches(count: int) -> dict[str, Any]:
    return {"anyOf": [{"properties": {f"p{i}": {}}} for i in range(count)], "unevaluatedProperties": False}


EXAMPLES: dict[str, tuple[Any, Any]] = {
    "dynamic-reference": (anchored({}), anchored({"maxProperties": 0})),
    "reference-loop": (
        field({"type": "number"}),
        field({"allOf": [{"$ref": "#/properties/a"}]}),
    ),
    "unevaluated-width": (branches(7), branches(8)),
    "payload-too-large": (field({"type": "array"}), field({"type": "array", "maxItems": 60_000})),
    "depth": (
        {"$ref": "#/$defs/d0", "$defs": {**{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(401)}, "d401": {}}},
        {"type": "object"},
    ),
    "unverified-witness": (field({"pattern": "^x{40}$"}), field({"pattern": "^(x+x+)+(?!x)y"})),
    "number-too-large": (field({"minimum": 0}), field({"minimum": Decimal("-1e6000")})),
}


@pytest.mark.parametrize("reason", [reason for reason in ROWS if reason.startswith("regex-")])
def test_each_pattern_of_the_page_is_undecided_for_the_reason_it_names(reason: str) -> None:
    old, new = (json.loads(text) for text in re.findall(r"`({.*?})`", ROWS[reason]))
    comparison = check_schemas(field(old), field(new), side=Side.INPUT)
    assert comparison.verdict is Verdict.UNDECIDED
    assert reason in (comparison.reason or "")


@pytest.mark.parametrize("reason", EXAMPLES)
def test_each_example_is_undecided_for_its_reason(reason: str) -> None:
    old, new = EXAMPLES[reason]
    comparison = check_schemas(old, new, side=Side.INPUT)
    assert comparison.verdict is Verdict.UNDECIDED
    assert reason in (comparison.reason or "")


@pytest.mark.parametrize("reason", EXAMPLES)
def test_an_undecided_schema_is_compatible_with_itself(reason: str) -> None:
    schema = EXAMPLES[reason][1]
    same = check_schemas(schema, deepcopy(schema), side=Side.INPUT)
    assert same.verdict is Verdict.COMPATIBLE
    assert same.identical


def test_the_page_names_the_reasons_that_exist_and_no_others() -> None:
    assert {reason for reason in ROWS if not reason.startswith("regex-")} == REASONS.keys()
    source = "".join(file.read_text(encoding="utf-8") for file in SCHEMA.glob("regex*.py"))
    raised = set(re.findall(r'(?:error\([^\n]*, |UnsupportedPattern\(|reason, message = )"([a-z-]+)"', source)) - {
        "syntax"
    }
    assert {f"regex-{reason}" for reason in raised} == {reason for reason in ROWS if reason.startswith("regex-")}


def test_numbers_are_found_or_proved_absent_however_many_are_ruled_out() -> None:
    many = list(range(20_001))
    old = field({"type": "integer", "minimum": 0, "maximum": 20_001})
    assert check_schemas(old, field({"enum": [*many, 20_001]}), side=Side.INPUT).verdict is Verdict.COMPATIBLE
    witness = check_schemas(old, field({"enum": many}), side=Side.INPUT).witness
    assert witness is not None
    assert witness.payload == {"a": 20_001}
