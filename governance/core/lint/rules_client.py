"""Rows of LINTS for what clients refuse, and for the comments that silence lints."""

from __future__ import annotations

from typing import Any, Final

from governance.core.lint import clients, ignoring
from governance.core.lint.model import Lint, Severity


def _field(schema: dict[str, Any], name: str = "invoice_id") -> dict[str, Any]:
    return {"input_schema": {"type": "object", "properties": {name: schema}, "required": [name]}}


_EITHER: Final[dict[str, Any]] = {"anyOf": [{"required": ["invoice_id"]}, {"required": ["order_id"]}]}
_SENTENCE: Final = "Refunds one paid invoice in full. "

CLIENT_RULES: Final = (
    Lint(
        id="client.name",
        severity=Severity.WARNING,
        title="Checks that the client takes the name, with the prefix it puts before it",
        means="One refused name makes some clients drop the whole list of tools.",
        fix="Choose a shorter name of letters, digits and underscores.",
        check_client=clients.client_name,
        example={"external_name": "refund invoice"},
        near_miss={"external_name": "refund-invoice"},
    ),
    Lint(
        id="client.description",
        severity=Severity.WARNING,
        title="Checks that the client takes a description of this length",
        means="A longer one is refused, or cut where it hurts.",
        fix="Shorten it to what decides when to use the skill.",
        check_client=clients.client_description,
        example={"description": _SENTENCE * 31},
        near_miss={"description": _SENTENCE},
    ),
    Lint(
        id="client.root",
        severity=Severity.WARNING,
        title="Checks that the client takes the root of the schema",
        means="Arguments are named: clients want a plain object, and say so by refusing the tool.",
        fix="Make the root a plain object; move alternatives into a property.",
        check_client=clients.client_root,
        example={"input_schema": {"type": "object"} | _EITHER},
        near_miss=_field({"type": "object"} | _EITHER),
    ),
    Lint(
        id="client.keyword",
        severity=Severity.WARNING,
        title="Checks that the client knows every keyword",
        means="A keyword that a client does not know makes it refuse the tool.",
        fix="Write the referenced schema out in place.",
        check_client=clients.client_keywords,
        example={
            "input_schema": {
                "type": "object",
                "properties": {"invoice_id": {"$ref": "#/$defs/id"}},
                "$defs": {"id": {"type": "string"}},
            }
        },
        near_miss=_field({"type": "string"}),
    ),
    Lint(
        id="client.type-list",
        severity=Severity.WARNING,
        title="Checks that the client takes lists of types",
        means="A client that knows one type for each place refuses the tool.",
        fix="Use anyOf with one type in each branch.",
        check_client=clients.client_type_list,
        example=_field({"type": ["string", "null"]}),
        near_miss=_field({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ),
    Lint(
        id="client.bare-array",
        severity=Severity.WARNING,
        title="Checks that every array says what it holds",
        means="Some clients refuse an array without items.",
        fix="Add items.",
        check_client=clients.client_bare_array,
        example=_field({"type": "array"}),
        near_miss=_field({"type": "array", "items": {"type": "string"}}),
    ),
    Lint(
        id="client.property-name",
        severity=Severity.WARNING,
        title="Checks that the client takes every field name",
        means="One refused field name makes the client refuse the tool.",
        fix="Use letters, digits, underscores, dots and hyphens, at most 64 of them.",
        check_client=clients.client_property,
        example=_field({"type": "string"}, "invoice id"),
        near_miss=_field({"type": "string"}, "invoice-id"),
    ),
)

COMMENT_RULES: Final = (
    Lint(
        id="ignore.invalid",
        severity=Severity.ERROR,
        title="Checks that a comment which silences lints can be heard",
        means="Somebody believes a lint to be silenced that is not.",
        fix="Write `govctl: ignore[id] reason` with the id of a warning; `govctl explain` lists them.",
        check_comment=ignoring.misspelt,
        example="# govctl: ignore[owner.missing]",
        near_miss="# govctl: ignore[owner.missing] one team owns this repository",
    ),
    Lint(
        id="ignore.unused",
        severity=Severity.WARNING,
        title="Checks that a comment which silences lints is needed",
        means="It would silence the next one that comes, which nobody has looked at.",
        fix="Take the id out of the comment, or the comment away.",
        check_comment=ignoring.idle,
        example="# govctl: ignore[name.vague] the old name",
        near_miss="# govctl: ignore[owner.missing] one team owns this repository",
    ),
)
