"""Values that a schema marks ``x-sensitive``, kept out of everything a comparison says.

A finding leaves the process in many ways: reports, logs, audit entries, stored decisions. So they are hidden
once, where findings are made: what stands under ``enum``, ``const``, ``default`` or an example of a sensitive
position is shown as ``‹sensitive›`` in fragments, payloads and evidence, and no sentence quotes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.core.canonical import canonical_or_text
from governance.core.compat.codes import CODES
from governance.core.compat.model import ABSENT, JSON, Evidence, Finding, Witness, WitnessError
from governance.core.compat.places import field_of
from governance.core.schema.budget import Budget
from governance.core.schema.marks import HIDDEN, VALUE_KEYWORDS, marks_sensitive, target_of

_QUOTED_FROM: Final = 4
"""A shorter text is hidden where it stands alone; inside other texts it would be found by chance."""
_STEPS_A_NODE: Final = 2
_SEARCHED: Final = 1_000
"""Of more values than that none is looked for in a sentence: no sentence is kept."""
_PLAIN_KEYWORDS: Final = frozenset(
    {
        "type", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
        "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "pattern", "format",
        "additionalProperties", "unevaluatedProperties", "falseSchema",
    }
)  # fmt: skip
"""Keywords whose complaints quote the payload and never a value of the schema."""
_HOLD_PAYLOADS: Final = frozenset({"contract.examples-changed", "contract.fallback-changed"})


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What may not be shown of some schemas."""

    values: frozenset[str]
    """Texts and numbers under the value keywords of sensitive positions, as canonical JSON."""
    scalars: tuple[JSON, ...]
    """The same, as they are."""
    texts: tuple[str, ...]
    """Those that are long enough to be found inside other texts."""
    fields: frozenset[str]
    """Names of fields that are sensitive."""

    @classmethod
    def of(cls, schemas: Iterable[JSON], budget: Budget) -> Secrets | None:
        """The secrets of ``schemas``; None where nothing in them is marked.

        Raises:
            BudgetExceeded: the budget did not last.
        """
        marked = [schema for schema in schemas if marks_sensitive(schema, budget)]
        if not marked:
            return None
        values: dict[str, JSON] = {}
        fields: set[str] = set()
        for document in marked:
            _gather(document, values, fields, budget)
        texts = tuple(value for value in values.values() if isinstance(value, str) and len(value) >= _QUOTED_FROM)
        return cls(values=frozenset(values), scalars=tuple(values.values()), texts=texts, fields=frozenset(fields))

    def conceal(self, finding: Finding) -> Finding:
        """The finding with these values hidden in everything it says."""
        by_name = finding.code in _HOLD_PAYLOADS
        old, new = (self._cover(fragment, by_name) for fragment in (finding.old, finding.new))
        evidence = finding.evidence
        if evidence is not None:
            covered = [self._cover(fragment, by_name) for fragment in (evidence.old, evidence.new)]
            evidence = Evidence(field=evidence.field, old=covered[0], new=covered[1])
        changed = not (_same(old, finding.old) and _same(new, finding.new))
        quotes = changed or evidence != finding.evidence or self._quoted_in(finding.message)
        return replace(
            finding,
            old=old,
            new=new,
            evidence=evidence,
            message=_plainly(finding) if quotes else finding.message,
            witness=None if finding.witness is None else self._witness(finding.witness),
            hidden=_digest(finding) if changed else "",
        )

    def _witness(self, witness: Witness) -> Witness:
        return replace(
            witness,
            payload=self._cover(witness.payload, by_name=False),
            errors=tuple(self._complaint(error) for error in witness.errors),
        )

    def _complaint(self, error: WitnessError) -> WitnessError:
        if error.keyword in _PLAIN_KEYWORDS and not self._quoted_in(error.message):
            return error
        return replace(error, message=f"`{error.keyword}` refuses it (a value is {HIDDEN})")

    def _quoted_in(self, text: str) -> bool:
        if len(self.values) > _SEARCHED:
            return True
        # A canonical text carries its quotation marks, a number is looked for as it stands.
        return any(value in text for value in self.values) or any(value in text for value in self.texts)

    def _cover(self, value: JSON, by_name: bool) -> JSON:
        if value is ABSENT or value is None or isinstance(value, bool):
            return value
        if isinstance(value, dict):
            return {
                key: HIDDEN if by_name and key in self.fields else self._cover(child, by_name)
                for key, child in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._cover(child, by_name) for child in value]
        if canonical_or_text(value) in self.values:
            return HIDDEN
        return HIDDEN if isinstance(value, str) and any(text in value for text in self.texts) else value


def _gather(document: JSON, values: dict[str, JSON], fields: set[str], budget: Budget) -> None:
    """Walk every schema of the document, following references out of sensitive positions."""
    seen: set[tuple[int, bool]] = set()
    stack: list[tuple[Any, bool]] = [(document, False)]
    while stack:
        node, inside = stack.pop()
        budget.spend(_STEPS_A_NODE)
        if isinstance(node, list):
            stack.extend((child, inside) for child in node)
        if not isinstance(node, dict) or (id(node), inside) in seen:
            continue
        seen.add((id(node), inside))
        inside = inside or node.get("x-sensitive") is True
        if inside:
            stack.extend((target, True) for target in target_of(document, node))
        if isinstance(declared := node.get("properties"), dict):
            fields.update(name for name, child in declared.items() if inside or _is_sensitive(document, child))
        for keyword, child in node.items():
            if inside and keyword in VALUE_KEYWORDS:
                _take(child, values, budget)
            elif keyword not in VALUE_KEYWORDS or isinstance(child, dict):  # a field may be called ``default``
                stack.append((child, inside))


def _is_sensitive(document: JSON, schema: JSON) -> bool:
    if not isinstance(schema, dict):
        return False
    if schema.get("x-sensitive") is True:
        return True
    return any(isinstance(one, dict) and one.get("x-sensitive") is True for one in target_of(document, schema))


def _take(value: JSON, values: dict[str, JSON], budget: Budget) -> None:
    stack = [value]
    while stack:
        node = stack.pop()
        budget.spend()
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif node is not None and not isinstance(node, bool) and node != "":
            values[canonical_or_text(node)] = node


def _plainly(finding: Finding) -> str:
    pointer = finding.new_pointer if finding.new_pointer is not None else finding.old_pointer
    named = field_of(pointer or "")
    title = CODES[finding.code].title
    return f"`{named}`: {title} (values are {HIDDEN})" if named else f"{title} (values are {HIDDEN})"


def _digest(finding: Finding) -> str:
    parts = [None if one is ABSENT else [canonical_or_text(one)] for one in (finding.old, finding.new)]
    return hashlib.sha256(canonical_or_text(parts).encode()).hexdigest()


def _same(one: JSON, other: JSON) -> bool:
    if one is ABSENT or other is ABSENT:
        return one is other
    return canonical_or_text(one) == canonical_or_text(other)
