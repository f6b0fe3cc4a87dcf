"""``unevaluatedProperties`` and ``unevaluatedItems``: enumerate which branches pass, and close what they leave.

A *case* is one way in which a schema's in-place applicators can pass, with what that way evaluates. A larger
evaluated set only loosens the restriction, so cases need not exclude each other: their union is exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from governance.core.schema.kinds import Kind, Mode
from governance.core.schema.nodes import Forest, Node
from governance.core.schema.references import DynamicReference, Scope, UnresolvedReference

if TYPE_CHECKING:
    from governance.core.schema.lower import Lowering

MAX_CASES: Final = 64
_STEPS_A_CASE: Final = 12
_CHARACTERS_A_STEP: Final = 20


class TooWide(Exception):
    """More ways to pass than are worth enumerating, or a reference cycle among them."""


@dataclass(frozen=True)
class Case:
    """One way to pass: its condition, and the properties and items that it evaluates."""

    node: Node
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    all_properties: bool = False
    prefix: int = 0
    all_items: bool = False
    contained: tuple[Node, ...] = ()

    @property
    def evaluates(self) -> bool:
        return bool(
            self.names or self.patterns or self.all_properties or self.prefix or self.all_items or self.contained
        )

    def joined(self, other: Case, forest: Forest) -> Case:
        return Case(
            node=forest.conjunction([self.node, other.node]),
            names=self.names | other.names,
            patterns=self.patterns | other.patterns,
            all_properties=self.all_properties or other.all_properties,
            prefix=max(self.prefix, other.prefix),
            all_items=self.all_items or other.all_items,
            contained=tuple(dict.fromkeys((*self.contained, *other.contained))),
        )


def lower_unevaluated(
    lowering: Lowering, schema: dict[str, Any], scope: Scope, lifted: bool, keywords: tuple[str, ...]
) -> Node:
    """The schema with its ``unevaluated*`` keywords; opaque where the ways to pass are too many."""
    try:
        cases = _Cases(lowering, lifted).of(schema, scope, own_unevaluated=False)
    except TooWide:
        return lowering.forest.opaque("unevaluated-width", _identity(lowering, schema, lifted))
    lowering.forest.budget.spend(_STEPS_A_CASE * len(cases))
    closed = [_closed(lowering, schema, scope, lifted, keywords, case).node for case in cases]
    return lowering.forest.disjunction(closed)


def _identity(lowering: Lowering, schema: dict[str, Any], lifted: bool) -> tuple[Any, ...]:
    """Equal schemas are equally opaque, in whichever document; one with references is what its document makes it."""
    text = _spelled(lowering, schema)
    refers = any(f'"{keyword}"' in text for keyword in ("$ref", "$dynamicRef", "$recursiveRef"))
    return text, _spelled(lowering, lowering.document) if refers else "", lowering.dialect.draft, lifted


def _spelled(lowering: Lowering, schema: Any) -> str:
    """A text that equal schemas alone share."""
    text = json.dumps(schema, sort_keys=True, default=_decimal)
    lowering.forest.budget.spend(len(text) // _CHARACTERS_A_STEP)
    return text


def _decimal(value: Decimal) -> dict[str, str]:
    return {"\ud800": str(value)}  # no schema holds half of a surrogate pair


def _closed(
    lowering: Lowering,
    schema: dict[str, Any],
    scope: Scope,
    lifted: bool,
    keywords: Iterable[str],
    case: Case,
) -> Case:
    forest = lowering.forest
    parts = [case.node]
    if "unevaluatedProperties" in keywords and not case.all_properties:
        rest = lowering.lower(schema["unevaluatedProperties"], scope, lifted=lifted)
        mode = Mode.SILENT if rest is forest.false else Mode.DECLARES
        parts.append(
            forest.props(
                [(name, forest.true) for name in case.names],
                [(pattern, forest.true) for pattern in case.patterns],
                rest,
                mode,
            )
        )
    if "unevaluatedItems" in keywords and not case.all_items:
        rest = lowering.lower(schema["unevaluatedItems"], scope, lifted=lifted)
        parts.append(forest.items((forest.true,) * case.prefix, forest.disjunction([*case.contained, rest])))
    return replace(case, node=forest.conjunction(parts))


class _Cases:
    def __init__(self, lowering: Lowering, lifted: bool) -> None:
        self.lowering = lowering
        self.forest = lowering.forest
        self.lifted = lifted
        self.under_way: set[int] = set()

    def of(self, schema: Any, scope: Scope, *, own_unevaluated: bool = True) -> list[Case]:
        if isinstance(schema, bool):
            return [Case(self.forest.true if schema else self.forest.false)]
        if id(schema) in self.under_way:
            raise TooWide
        self.under_way.add(id(schema))
        try:
            return self._of(schema, self.lowering.references.enter(schema, scope), own_unevaluated)
        finally:
            self.under_way.discard(id(schema))

    def _of(self, schema: dict[str, Any], scope: Scope, own_unevaluated: bool) -> list[Case]:
        lowering, lifted, forest = self.lowering, self.lifted, self.forest
        cases = [self._own(schema, scope)]
        for keyword, follow in (
            ("$ref", lowering.references.follow),
            ("$dynamicRef", lowering.references.follow_dynamic),
            ("$recursiveRef", lowering.references.follow_recursive),
        ):
            if keyword in schema:
                try:
                    target, target_scope = follow(schema[keyword], scope)
                except (DynamicReference, UnresolvedReference):
                    raise TooWide from None
                cases = self._product(cases, self.of(target, target_scope))
        for child in schema.get("allOf", ()):
            cases = self._product(cases, self.of(child, scope))
        if "anyOf" in schema:
            cases = self._product(cases, self._any_of([self.of(child, scope) for child in schema["anyOf"]]))
        if "oneOf" in schema:
            cases = self._product(cases, self._one_of(schema["oneOf"], scope))
        if "not" in schema:
            cases = self._product(cases, [Case(forest.negate(lowering.lower(schema["not"], scope, lifted=False)))])
        if "if" in schema:
            cases = self._product(cases, self._conditional(schema, scope))
        cases = self._dependent(cases, schema, scope)
        if own_unevaluated and (keywords := lowering._unevaluated_keywords(schema, lifted)):
            cases = [_closed(lowering, schema, scope, lifted, keywords, case) for case in cases]
        if "unevaluatedProperties" in schema and own_unevaluated:
            cases = [replace(case, all_properties=True) for case in cases]
        if "unevaluatedItems" in schema and own_unevaluated:
            cases = [replace(case, all_items=True) for case in cases]
        return cases

    def _own(self, schema: dict[str, Any], scope: Scope) -> Case:
        lowering = self.lowering
        prefix, _ = lowering.item_schemas(schema)
        tuple_form = isinstance(schema.get("items"), list)
        contained: tuple[Node, ...] = ()
        if "contains" in schema and lowering.dialect.draft >= 2020:
            contained = (lowering.lower(schema["contains"], scope, lifted=False),)
        return Case(
            node=self.forest.conjunction(lowering.own_parts(schema, scope, self.lifted)),
            names=frozenset(schema.get("properties", {})),
            patterns=frozenset(schema.get("patternProperties", {})),
            all_properties="additionalProperties" in schema,
            prefix=len(prefix),
            all_items="additionalItems" in schema if tuple_form else "items" in schema,
            contained=contained,
        )

    def _product(self, left: list[Case], right: list[Case]) -> list[Case]:
        if len(left) * len(right) > MAX_CASES:
            raise TooWide
        self.forest.budget.spend(_STEPS_A_CASE * len(left) * len(right))
        joined = [one.joined(other, self.forest) for one in left for other in right]
        return [case for case in joined if case.node is not self.forest.false] or joined[:1]

    def _any_of(self, branches: list[list[Case]]) -> list[Case]:
        flat = [case for branch in branches for case in branch]
        if not any(case.evaluates for case in flat):
            return [Case(self.forest.disjunction(case.node for case in flat))]
        if 2 ** len(branches) > MAX_CASES:
            raise TooWide
        cases: list[Case] = []
        for size in range(1, len(branches) + 1):
            for chosen in combinations(branches, size):
                product = chosen[0]
                for branch in chosen[1:]:
                    product = self._product(product, branch)
                cases.extend(product)
        return cases

    def _one_of(self, schemas: list[Any], scope: Scope) -> list[Case]:
        lowering, forest = self.lowering, self.forest
        if self.lifted and any(lowering._lifts_anything(schema, scope) for schema in schemas):
            return self._any_of([self.of(schema, scope) for schema in schemas])
        as_written = [lowering.lower(schema, scope, lifted=False) for schema in schemas]
        cases: list[Case] = []
        for index, schema in enumerate(schemas):
            others = [forest.negate(node) for other, node in enumerate(as_written) if other != index]
            alone = Case(forest.conjunction(others))
            cases.extend(self._product([alone], self.of(schema, scope)))
        return cases

    def _conditional(self, schema: dict[str, Any], scope: Scope) -> list[Case]:
        lowering, forest = self.lowering, self.forest
        condition = lowering.lower(schema["if"], scope, lifted=False)
        met = [replace(case, node=forest.conjunction([case.node, condition])) for case in self.of(schema["if"], scope)]
        unmet = [Case(forest.negate(condition))]
        return [
            *self._product(met, self.of(schema.get("then", True), scope)),
            *self._product(unmet, self.of(schema.get("else", True), scope)),
        ]

    def _dependent(self, cases: list[Case], schema: dict[str, Any], scope: Scope) -> list[Case]:
        lowering, forest = self.lowering, self.forest
        lists, schemas = lowering.dependencies(schema)
        required = [
            forest.disjunction(
                [forest.negate(forest.literal(Kind.REQUIRED, name)), forest.literal(Kind.REQUIRED, needed)]
            )
            for name, names in lists
            for needed in names
        ]
        if required:
            cases = self._product(cases, [Case(forest.conjunction(required))])
        for name, child in schemas:
            absent = forest.lacking(name)
            present = Case(forest.negate(absent))
            cases = self._product(cases, [Case(absent), *self._product([present], self.of(child, scope))])
        return cases
