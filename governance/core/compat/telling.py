"""A keyword that refuses what is sent, told as a finding; and a place that stayed open, with the reason."""

from __future__ import annotations

from typing import Any, Final

from governance.core.canonical import canonical_or_text
from governance.core.compat.codes import CODES
from governance.core.compat.model import ABSENT, Finding, FindingLevel, Reading, Side
from governance.core.compat.question import Question
from governance.core.schema.answers import Answer

CODE_OF: Final = {
    "type": ("type-narrowed", "type-widened"),
    "enum": ("enum-narrowed", "enum-widened"),
    "const": ("const-narrowed", "const-widened"),
    "required-added": ("required-added", "field-unpromised"),
    "became-required": ("became-required", "became-optional"),
    "field": ("field-removed", "field-ruled-out"),
    "additionalProperties": ("additional-narrowed", "additional-widened"),
    "patternProperties": ("additional-narrowed", "additional-widened"),
    "minimum": ("minimum-raised", "minimum-lowered"),
    "maximum": ("maximum-lowered", "maximum-raised"),
    "exclusiveMinimum": ("exclusive-minimum-raised", "exclusive-minimum-lowered"),
    "exclusiveMaximum": ("exclusive-maximum-lowered", "exclusive-maximum-raised"),
    "multipleOf": ("multiple-of-narrowed", "multiple-of-widened"),
    "minLength": ("min-length-raised", "min-length-lowered"),
    "maxLength": ("max-length-lowered", "max-length-raised"),
    "pattern": ("pattern-narrowed", "pattern-widened"),
    "format": ("format-narrowed", "format-widened"),
    "items": ("items-narrowed", "items-widened"),
    "minItems": ("min-items-raised", "min-items-lowered"),
    "maxItems": ("max-items-lowered", "max-items-raised"),
    "uniqueItems": ("unique-items-added", "unique-items-dropped"),
    "contains": ("contains-narrowed", "contains-widened"),
    "minProperties": ("min-properties-raised", "min-properties-lowered"),
    "maxProperties": ("max-properties-lowered", "max-properties-raised"),
    "propertyNames": ("property-names-narrowed", "property-names-widened"),
    "anyOf": ("union-narrowed", "union-widened"),
    "oneOf": ("union-narrowed", "union-widened"),
    "overlap": ("one-of-overlap", "one-of-overlap-returned"),
    "not": ("exclusion-added", "exclusion-dropped"),
    "if": ("condition-narrowed", "condition-widened"),
    "dependent": ("dependency-added", "dependency-dropped"),
    "unevaluated": ("unevaluated-closed", "unevaluated-opened"),
    "false": ("forbidden", "forbidden-returned"),
    "schema": ("narrowed", "widened"),
}
"""Keyword to the code of an input and of an output, without the side."""


def tell(
    question: Question,
    answer: Answer,
    kind: str,
    *,
    ours: tuple[str | None, Any],
    theirs: tuple[str, Any],
    field: str,
    named: bool,
) -> Finding:
    """The finding for one keyword that refuses what is sent, or where that could not be decided.

    ``ours`` and ``theirs`` are (pointer, fragment) in the sender's and the receiver's document.
    """
    side = question.side
    old, new = (ours, theirs) if side is Side.INPUT else (theirs, ours)
    where = f"`{field}`" if field else "the root"
    if answer.found:
        witness = question.witness(answer.value)
        if witness is not None:
            code = CODES[f"{side.value}.{CODE_OF[kind][0 if side is Side.INPUT else 1]}"]
            shown = "" if named else _shown(old[1], new[1])
            return Finding(
                code=code.id, side=side, level=FindingLevel.BREAKING, message=f"{where}: {code.title}{shown}",
                fix=code.fix, reading=question.reading, old_pointer=old[0], new_pointer=new[0],
                old=old[1], new=new[1], witness=witness,
            )  # fmt: skip
    return undecided(
        question,
        answer.reason or "unverified-witness",
        where,
        old_pointer=old[0],
        new_pointer=new[0],
        old=old[1],
        new=new[1],
    )


REASONS: Final = {
    "budget": "the question took more steps than the budget allows",
    "time": "the question took longer than the ceiling allows",
    "depth": "the schemas nest too deep",
    "union-width": "a union has too many overlapping alternatives",
    "unevaluated-width": "too many ways to pass decide what counts as unevaluated",
    "dynamic-reference": "a dynamic reference depends on the path that led to it",
    "unresolved-reference": "a reference leads nowhere",
    "reference-loop": "a reference leads back to itself without passing a field or an item",
    "number-too-large": "a number is too large to reason about exactly",
    "number-too-rare": "the numbers left are too rare to find",
    "payload-too-large": "the smallest payload would be too large to show",
    "property-names": "the rule on property names cannot be decided",
    "format": "an asserted format cannot be reasoned about",
    "unverified-witness": "a payload was found, but the independent validator does not confirm it",
    "disagreement": "the engine and the second opinion disagree",
}


def undecided(question: Question, reason: str, where: str, **places: Any) -> Finding:
    """The finding for a place that could be neither proved nor refuted."""
    return left_open(question.side, question.reading, reason, where, **places)


def left_open(side: Side, reading: Reading, reason: str, where: str, **places: Any) -> Finding:
    """The same of a side that no question could be put about."""
    code = CODES[f"{side.value}.undecided"]
    told = REASONS.get(reason) or f"the pattern uses what is not decided here ({reason.removeprefix('regex-')})"
    return Finding(
        code=code.id,
        side=side,
        level=FindingLevel.UNDECIDED,
        message=f"{where}: neither proved nor refuted ({reason}): {told}",
        fix=code.fix,
        reading=reading,
        **places,
    )


def _shown(old: Any, new: Any) -> str:
    parts = [_brief(fragment) if fragment is not ABSENT else "nothing" for fragment in (old, new)]
    return f" ({parts[0]} → {parts[1]})"


def _brief(fragment: Any) -> str:
    text = canonical_or_text(fragment)
    return text if len(text) <= 80 else text[:79] + "…"
