"""Rows of LINTS for what makes a skill hard to choose, to call or to trust."""

from __future__ import annotations

from typing import Any, Final

from governance.core.lint import quality, samples, together
from governance.core.lint.model import Lint, Severity


def _input(required: bool = True, **fields: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": fields}
    return {"input_schema": schema | ({"required": list(fields)} if required else {})}


_TEXT: Final = {"type": "string"}
_CALL: Final = {"input": {"invoice_id": "INV-1"}}

QUALITY_RULES: Final = (
    Lint(
        id="name.vague",
        severity=Severity.WARNING,
        title="Checks that the name says what the skill does",
        means="A model chooses by names first.",
        fix="Name it by verb and object, for example extract_invoice.",
        check=quality.vague_name,
        example={"name": "billing.helper"},
        near_miss={"name": "helper.refund_invoice"},
    ),
    Lint(
        id="name.version",
        severity=Severity.WARNING,
        title="Checks that the name carries no version",
        means="A version in the name makes the next version another skill: nobody compares the two.",
        fix="Drop it from the name; publish a new version instead.",
        check=quality.versioned_name,
        example={"name": "billing.refund_v2"},
        near_miss={"name": "billing.ipv6_lookup"},
    ),
    Lint(
        id="name.near-duplicate",
        severity=Severity.WARNING,
        title="Checks that no two names of a namespace are nearly one",
        means="A model takes one for the other.",
        fix="Rename one of them, or make them one skill.",
        check_catalogue=together.near_duplicates,
        example=[{"name": "billing.get_refund"}, {"name": "billing.getrefunds"}],
        near_miss=[{"name": "billing.get_refund"}, {"name": "shop.get_refunds"}],
    ),
    Lint(
        id="field.vague",
        severity=Severity.WARNING,
        title="Checks that field names say what they hold",
        means="A model fills fields by their names.",
        fix="Name the field by what it holds.",
        check=quality.vague_field,
        example=_input(data=_TEXT),
        near_miss=_input(invoice_data=_TEXT),
    ),
    Lint(
        id="field.optional-unexplained",
        severity=Severity.WARNING,
        title="Checks that every optional input says what happens without it",
        means="Whoever leaves the field out relies on something that is written nowhere.",
        fix="Give it a default, or say in its description what its absence means.",
        check=quality.unexplained_optional,
        example=_input(required=False, page_size={"type": "integer", "description": "Results per page (1 to 100)"}),
        near_miss=_input(
            required=False, page_size={"type": "integer", "description": "Results per page, 20 if omitted"}
        ),
    ),
    Lint(
        id="field.sensitive",
        severity=Severity.WARNING,
        title="Checks that fields that look like secrets or personal data are marked",
        means="Only what is marked is kept out of logs, spans and records.",
        fix='Write "x-sensitive": true (or false, if it is none) in its schema.',
        check=quality.unmarked_sensitive,
        example=_input(api_key=_TEXT),
        near_miss=_input(page_token=_TEXT),
    ),
    Lint(
        id="field.sensitive-mark",
        severity=Severity.WARNING,
        title="Checks that x-sensitive is a boolean",
        means="Anything else marks nothing, though it was meant to.",
        fix='Write "x-sensitive": true.',
        check=quality.bare_marks,
        example=_input(api_key={"type": "string", "x-sensitive": "yes"}),
        near_miss=_input(api_key={"type": "string", "x-sensitive": True}),
    ),
    Lint(
        id="description.empty",
        severity=Severity.WARNING,
        title="Checks that there is a description",
        means="No model can tell when to use the skill.",
        fix="Say when to use the skill, and when not.",
        check=quality.empty_description,
        example={"description": ""},
        near_miss={"description": "Refunds one paid invoice in full."},
    ),
    Lint(
        id="description.broad",
        severity=Severity.WARNING,
        title="Checks that the description tells this skill from others",
        means="A text that fits everything, or repeats the name, decides nothing.",
        fix="Name the tasks it is for, its limits, and what it returns.",
        check=quality.broad_description,
        example={"description": "Does anything you need with invoices."},
        near_miss={"description": "Refunds one paid invoice in full."},
    ),
    Lint(
        id="output.missing",
        severity=Severity.WARNING,
        title="Checks that there is an output schema",
        means="Callers may expect nothing, so no change of what comes out can be seen.",
        fix="Declare what the skill returns.",
        check=quality.missing_output,
        example={"output_schema": None},
        near_miss={"output_schema": {"type": "object", "properties": {"refund_id": _TEXT}}},
    ),
    Lint(
        id="output.unstructured",
        severity=Severity.WARNING,
        title="Checks that the output has structure",
        means="A reader must guess the parts of a text or of an object without fields.",
        fix="Return an object with named fields.",
        check=quality.unstructured_output,
        example={"output_schema": {"type": "object"}},
        near_miss={"output_schema": {"type": "object", "additionalProperties": _TEXT}},
    ),
    Lint(
        id="effects.undeclared",
        severity=Severity.WARNING,
        title="Checks that side effects are declared",
        means="Nobody can tell whether a call may be repeated, or needs a person's word.",
        fix="Declare side_effects; for MCP give readOnlyHint and destructiveHint.",
        check=quality.undeclared_effects,
        example={"side_effects": None},
        near_miss={"side_effects": "none"},
    ),
    Lint(
        id="owner.missing",
        severity=Severity.WARNING,
        title="Checks that somebody owns the skill",
        means="When it breaks, nobody knows whom to ask.",
        fix="Name a team in owner.",
        check=quality.no_owner,
        example={"owner": None},
        near_miss={"owner": "team-billing"},
    ),
    Lint(
        id="example.missing",
        severity=Severity.WARNING,
        title="Checks that there is an example call",
        means="Models and people learn the form of a call from one.",
        fix="Add one to examples.",
        check=samples.no_example,
        example={"examples": []},
        near_miss={"examples": [_CALL]},
    ),
    Lint(
        id="example.no-failing",
        severity=Severity.WARNING,
        title="Checks that an example shows a call that fails",
        means="How a skill says no is part of its contract.",
        fix="Add an example with the error it ends with.",
        check=samples.no_failing_example,
        example={"examples": [_CALL]},
        near_miss={"examples": [_CALL, {"input": {}, "error": "invoice_id is missing"}]},
    ),
    Lint(
        id="example.broken",
        severity=Severity.WARNING,
        title="Checks that examples keep to the schemas, and that failing ones fail",
        means="An example that its own schema refuses teaches calls that fail.",
        fix="Correct the example or the schema.",
        check=samples.broken_example,
        example={"examples": [{"input": {"invoice_id": 3}}]},
        near_miss={"examples": [{"input": {"invoice_id": 3}, "error": "invoice_id is no text"}]},
    ),
    Lint(
        id="example.broken-sample",
        severity=Severity.WARNING,
        title="Checks that x-example values keep to their schema",
        means="A sample that its own schema refuses teaches calls that fail.",
        fix="Correct the sample value.",
        check=samples.broken_sample,
        example=_input(invoice_id={"type": "string", "x-example": 3}),
        near_miss=_input(invoice_id={"type": "string", "x-example": "INV-1"}),
    ),
)
