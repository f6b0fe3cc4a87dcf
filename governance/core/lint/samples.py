"""Examples, tried against the schemas they illustrate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from governance.core.canonical import canonical_or_text, escape
from governance.core.compat.model import JSON
from governance.core.document import read_json
from governance.core.lint.model import Spot
from governance.core.lint.reading import both_schemas
from governance.core.schema.dialects import DEFAULT_DIALECT, dialect_of
from governance.core.schema.marks import marks_sensitive
from governance.core.skill import Category, SkillManifest


def no_example(manifest: SkillManifest) -> Iterator[Spot]:
    if not manifest.examples and manifest.category is not Category.KNOWLEDGE:
        yield Spot("/examples", "there is no example call")


def no_failing_example(manifest: SkillManifest) -> Iterator[Spot]:
    if manifest.category is Category.KNOWLEDGE:  # it is read, not called
        return
    if manifest.examples and not any(example.error for example in manifest.examples):
        yield Spot("/examples", "no example shows a call that fails")


def broken_example(manifest: SkillManifest) -> Iterator[Spot]:
    """Inputs must be accepted, outputs too; a failing example must fail: by a declared business error, or
    because the input schema refuses it."""
    codes = {error.code for error in manifest.errors}
    for index, example in enumerate(manifest.examples):
        pointer = f"/examples/{index}"
        refused = _refusal(manifest.input_schema, example.input)
        if example.error is None:
            if refused:
                yield Spot(f"{pointer}/input{refused[0]}", f"the input schema refuses this example: {refused[1]}")
        elif example.error not in codes and not refused:
            yield Spot(
                f"{pointer}/error",
                f'this example must fail with "{example.error}", but the input schema accepts it and no such '
                "business error is declared",
            )
        if example.has_output and (wrong := _refusal(manifest.output_schema, example.output)):
            yield Spot(f"{pointer}/output{wrong[0]}", f"the output schema refuses this example: {wrong[1]}")


def broken_sample(manifest: SkillManifest) -> Iterator[Spot]:
    """``x-example`` values that their own schema refuses; only where the schema refers to nothing else."""
    for pointer, node in both_schemas(manifest):
        if "x-example" not in node or "$ref" in str(node.keys()):
            continue
        alone = {key: value for key, value in node.items() if key != "x-example"}
        if refused := _refusal(alone, node["x-example"]):
            yield Spot(f"{pointer}/x-example", f"its own schema refuses this sample: {refused[1]}")


def _refusal(schema: JSON, value: JSON) -> tuple[str, str] | None:
    """Pointer and message of the first complaint, or None if the value is accepted (or the schema unusable)."""
    if schema is None:
        return None
    validator = _validator(canonical_or_text(schema))
    if validator is None:
        return None
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except ValueError:  # a value too deep for the validator
        return None
    if error is None:
        return None
    path = "".join(f"/{escape(str(token))}" for token in error.instance_path)
    if marks_sensitive(schema):
        return path, f"`{error.kind.name}` refuses it (a value may be sensitive)"
    return path, str(error.message)[:200]


@lru_cache(maxsize=64)
def _validator(text: str) -> Any:
    schema = read_json(text)
    dialect = dialect_of(schema) or DEFAULT_DIALECT
    try:
        return dialect.validator(schema, validate_formats=False)
    except ValueError:  # not a valid schema, or a reference that leads nowhere: another lint says so
        return None
