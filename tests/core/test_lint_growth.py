"""What lint costs grows with a contract's length, however its parts refer to each other."""

from __future__ import annotations

import sys
from typing import Any

from governance.core.contract import manifest_from_document
from governance.core.lint import lint


def mutual(count: int) -> dict[str, Any]:
    """Definitions that each stand for any of the others: as many references as the square of their number."""
    others = [{"$ref": f"#/$defs/d{i}"} for i in range(count)]
    definitions = {f"d{i}": {"anyOf": [dict(one) for one in others]} for i in range(count)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def calls(schema: dict[str, Any]) -> int:
    document = {"name": "shop.find", "version": "1.0.0", "description": "Find.", "input_schema": schema}
    manifest = manifest_from_document(document, native=False)
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        lint(manifest)
    finally:
        sys.setprofile(None)
    return counted


def test_four_times_the_references_cost_no_more_than_five_times_as_much() -> None:
    assert calls(mutual(40)) < 5 * calls(mutual(20))
