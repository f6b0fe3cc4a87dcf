"""What was written down about a comparison reads back as the same comparison, or not at all."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from governance.core.compat.engine import check, check_schemas
from governance.core.compat.model import Comparison, Side
from governance.core.compat.stored import kept_comparison, kept_document
from governance.core.contract import manifest_from_document
from governance.core.document import read_json
from governance.core.skill import SkillManifest
from governance.wire import write_json


def skill(**fields: Any) -> SkillManifest:
    document = {
        "name": "shop.find", "version": "1.0.0", "description": "Find.", "timeout_sec": 1,
        "input_schema": {"type": "object"}, "output_schema": True, "compatibility": "backward_compatible",
    }  # fmt: skip
    return manifest_from_document(document | fields)


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


OLD = skill(
    input_schema=arguments(a={"type": "integer", "enum": [1, 2, None]}, b={"minimum": 0.5}, c=True),
    required_permissions=["read"],
    tags=["x"],
)
NEW = skill(
    input_schema={**arguments(a={"const": None}, b={"minimum": 0.75}), "required": ["d"]},
    output_schema={"type": "object"},
    required_permissions=["read", "write"],
    description="Delete everything.",
    timeout_sec=0.5,
)
COMPARISONS = [
    check(OLD, NEW),
    check(NEW, OLD),
    check(OLD, OLD),
    check(None, OLD),
    check(OLD, None),
    check_schemas({"pattern": r"^(.)\1$"}, {"pattern": r"^(.)\1*$"}, side=Side.INPUT),
    check_schemas({"maximum": Decimal("1e400")}, {"maximum": Decimal("1e399")}, side=Side.OUTPUT),
    check_schemas({"maximum": 10**40}, {"maximum": 10**39}, side=Side.INPUT),
    replace(check(OLD, OLD), second_opinion=(Side.INPUT,), disagreement=(Side.OUTPUT,)),
]


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_it_reads_back_as_it_was_with_every_digit(comparison: Comparison) -> None:
    read = kept_comparison(read_json(write_json(kept_document(comparison))))
    assert read == comparison
    assert read.bump is comparison.bump
    assert read.named("shop.find").to_document() == comparison.named("shop.find").to_document()


@pytest.mark.parametrize("comparison", COMPARISONS[:1])
def test_what_is_no_comparison_is_refused(comparison: Comparison) -> None:
    whole = kept_document(comparison)
    broken: list[Any] = [None, [], 3, {}, whole | {"verdict": "fine"}, whole | {"findings": 7}, whole | {"extra": 1}]
    broken += [{key: value for key, value in whole.items() if key != missing} for missing in ("level", "identical")]
    finding = whole["findings"][0]
    broken += [
        whole | {"findings": [{**finding, **change}]}
        for change in ({"level": "x"}, {"fingerprint": "0" * 16}, {"witness": {}}, {"witness": {"side": "input"}})
    ]
    for document in broken:
        with pytest.raises(ValueError, match="no comparison"):
            kept_comparison(document)
