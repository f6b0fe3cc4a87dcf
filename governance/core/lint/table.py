"""LINTS: every lint, one row each. Ids are permanent; ``govctl explain`` and the documentation derive from here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from governance.core.contract import manifest_from_document
from governance.core.lint import clients, hidden, ignoring, quality, samples, together
from governance.core.lint.model import Lint, Severity, Spot
from governance.core.skill import SkillManifest
from governance.errors import InvalidContract


def _invalid(manifest: SkillManifest) -> Iterator[Spot]:
    if manifest.checked:
        return
    try:
        manifest_from_document(manifest.to_document(), native=False)
    except InvalidContract as error:
        for fault in error.faults:
            yield Spot(fault.pointer, fault.message)


_ROWS: Final = (
    Lint(
        id="contract.invalid",
        severity=Severity.ERROR,
        title="Checks that the manifest is a valid contract",
        fix="Correct the field named.",
        check=_invalid,
    ),
    Lint(
        id="text.invisible",
        severity=Severity.ERROR,
        title="Checks that no text holds characters nobody sees",
        fix="Remove the characters; write what you mean in plain sight.",
        check=hidden.invisible,
    ),
    Lint(
        id="text.lookalike",
        severity=Severity.ERROR,
        title="Checks that no letter of another script passes for a Latin one",
        fix="Type the word again with Latin letters.",
        check=hidden.lookalike,
    ),
    Lint(
        id="text.order",
        severity=Severity.ERROR,
        title="Checks that no text orders the model to drop its instructions or to carry data away",
        fix="Say what the skill does and when it fits; leave the model's other instructions alone.",
        check=hidden.order,
    ),
    Lint(
        id="text.secrecy",
        severity=Severity.ERROR,
        title="Checks that no text asks the model to keep something from its user",
        fix="Take the sentence out; a skill has no secrets from the user it serves.",
        check=hidden.secrecy,
    ),
    Lint(
        id="text.url",
        severity=Severity.WARNING,
        title="Checks that texts send nobody to a web address",
        fix="Move the address to migration_guide or the documentation, unless callers need it.",
        check=together.urls,
    ),
    Lint(
        id="text.other-tool",
        severity=Severity.WARNING,
        title="Checks that texts do not speak of other tools by name",
        fix="Describe this skill alone, or declare the other one in allowed_tools.",
        check_catalogue=together.other_tools,
    ),
    Lint(
        id="name.vague",
        severity=Severity.WARNING,
        title="Checks that the name says what the skill does",
        fix="Name it by verb and object, for example extract_invoice.",
        check=quality.vague_name,
    ),
    Lint(
        id="name.version",
        severity=Severity.WARNING,
        title="Checks that the name carries no version",
        fix="Drop it from the name; publish a new version instead.",
        check=quality.versioned_name,
    ),
    Lint(
        id="name.near-duplicate",
        severity=Severity.WARNING,
        title="Checks that no two names of a namespace are nearly one",
        fix="Rename one of them, or make them one skill.",
        check_catalogue=together.near_duplicates,
    ),
    Lint(
        id="field.vague",
        severity=Severity.WARNING,
        title="Checks that field names say what they hold",
        fix="Name the field by what it holds.",
        check=quality.vague_field,
    ),
    Lint(
        id="field.optional-unexplained",
        severity=Severity.WARNING,
        title="Checks that every optional input says what happens without it",
        fix="Give it a default, or say in its description what its absence means.",
        check=quality.unexplained_optional,
    ),
    Lint(
        id="field.sensitive",
        severity=Severity.WARNING,
        title="Checks that fields that look like secrets or personal data are marked",
        fix='Write "x-sensitive": true (or false, if it is none) in its schema.',
        check=quality.unmarked_sensitive,
    ),
    Lint(
        id="field.sensitive-mark",
        severity=Severity.WARNING,
        title="Checks that x-sensitive is a boolean",
        fix='Write "x-sensitive": true.',
        check=quality.bare_marks,
    ),
    Lint(
        id="description.empty",
        severity=Severity.WARNING,
        title="Checks that there is a description",
        fix="Say when to use the skill, and when not.",
        check=quality.empty_description,
    ),
    Lint(
        id="description.broad",
        severity=Severity.WARNING,
        title="Checks that the description tells this skill from others",
        fix="Name the tasks it is for, its limits, and what it returns.",
        check=quality.broad_description,
    ),
    Lint(
        id="output.missing",
        severity=Severity.WARNING,
        title="Checks that there is an output schema",
        fix="Declare what the skill returns.",
        check=quality.missing_output,
    ),
    Lint(
        id="output.unstructured",
        severity=Severity.WARNING,
        title="Checks that the output has structure",
        fix="Return an object with named fields.",
        check=quality.unstructured_output,
    ),
    Lint(
        id="effects.undeclared",
        severity=Severity.WARNING,
        title="Checks that side effects are declared",
        fix="Declare side_effects; for MCP give readOnlyHint and destructiveHint.",
        check=quality.undeclared_effects,
    ),
    Lint(
        id="owner.missing",
        severity=Severity.WARNING,
        title="Checks that somebody owns the skill",
        fix="Name a team in owner.",
        check=quality.no_owner,
    ),
    Lint(
        id="example.missing",
        severity=Severity.WARNING,
        title="Checks that there is an example call",
        fix="Add one to examples.",
        check=samples.no_example,
    ),
    Lint(
        id="example.no-failing",
        severity=Severity.WARNING,
        title="Checks that an example shows a call that fails",
        fix="Add an example with the error it ends with.",
        check=samples.no_failing_example,
    ),
    Lint(
        id="example.broken",
        severity=Severity.WARNING,
        title="Checks that examples keep to the schemas, and that failing ones fail",
        fix="Correct the example or the schema.",
        check=samples.broken_example,
    ),
    Lint(
        id="example.broken-sample",
        severity=Severity.WARNING,
        title="Checks that x-example values keep to their schema",
        fix="Correct the sample value.",
        check=samples.broken_sample,
    ),
    Lint(
        id="client.name",
        severity=Severity.WARNING,
        title="Checks that the client takes the name, with the prefix it puts before it",
        fix="Choose a shorter name of letters, digits and underscores.",
        check_client=clients.client_name,
    ),
    Lint(
        id="client.description",
        severity=Severity.WARNING,
        title="Checks that the client takes a description of this length",
        fix="Shorten it to what decides when to use the skill.",
        check_client=clients.client_description,
    ),
    Lint(
        id="client.root",
        severity=Severity.WARNING,
        title="Checks that the client takes the root of the schema",
        fix="Make the root a plain object; move alternatives into a property.",
        check_client=clients.client_root,
    ),
    Lint(
        id="client.keyword",
        severity=Severity.WARNING,
        title="Checks that the client knows every keyword",
        fix="Write the referenced schema out in place.",
        check_client=clients.client_keywords,
    ),
    Lint(
        id="client.type-list",
        severity=Severity.WARNING,
        title="Checks that the client takes lists of types",
        fix="Use anyOf with one type in each branch.",
        check_client=clients.client_type_list,
    ),
    Lint(
        id="client.bare-array",
        severity=Severity.WARNING,
        title="Checks that every array says what it holds",
        fix="Add items.",
        check_client=clients.client_bare_array,
    ),
    Lint(
        id="client.property-name",
        severity=Severity.WARNING,
        title="Checks that the client takes every field name",
        fix="Use letters, digits, underscores, dots and hyphens, at most 64 of them.",
        check_client=clients.client_property,
    ),
    Lint(
        id="ignore.invalid",
        severity=Severity.ERROR,
        title="Checks that a comment which silences lints can be heard",
        fix="Write `govctl: ignore[id] reason` with the id of a warning; `govctl explain` lists them.",
        check_comment=ignoring.misspelt,
    ),
    Lint(
        id="ignore.unused",
        severity=Severity.WARNING,
        title="Checks that a comment which silences lints is needed",
        fix="Take the id out of the comment, or the comment away.",
        check_comment=ignoring.idle,
    ),
)


def _table(rows: Iterable[Lint]) -> dict[str, Lint]:
    table: dict[str, Lint] = {}
    for row in rows:
        if row.id in table:
            raise ValueError(f"lint id {row.id} is taken")
        table[row.id] = row
    return table


LINTS: Final[dict[str, Lint]] = _table(_ROWS)
