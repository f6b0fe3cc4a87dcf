"""A skill no lint complains of, to be spoilt."""

from __future__ import annotations

from typing import Any

from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.lint import lint


def skill(**changes: Any) -> SkillManifest:
    """A skill no lint complains of, with ``changes``."""
    whole = {
        "name": "billing.refund_invoice",
        "version": "1.0.0",
        "description": "Refunds one paid invoice in full; use it when the customer asked for the money back.",
        "input_schema": {
            "type": "object",
            "properties": {
                "invoice_id": {"type": "string", "x-example": "INV-1"},
                "reason": {"type": "string", "description": "Shown to the customer; left out if not given."},
            },
            "required": ["invoice_id"],
        },
        "output_schema": {"type": "object", "properties": {"refund_id": {"type": "string"}}},
        "errors": [{"code": "NOT_PAID", "meaning": "The invoice was never paid."}],
        "side_effects": "external",
        "owner": "team-billing",
        "examples": [
            {"input": {"invoice_id": "INV-1"}, "output": {"refund_id": "R-1"}},
            {"input": {"invoice_id": "INV-2"}, "error": "NOT_PAID"},
        ],
    } | changes
    return manifest_from_document({k: v for k, v in whole.items() if v is not None}, native=False)


def ids(manifest: SkillManifest, **options: Any) -> set[str]:
    return {finding.id for finding in lint(manifest, **options)}
