"""What the metaschema cannot see: references that lead nowhere, patterns that are none, schemas in odd places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.core.canonical import escape
from governance.core.schema.budget import Budget
from governance.core.schema.dialects import Dialect, dialect_of
from governance.core.schema.metaschema import metaschema_faults
from governance.core.schema.references import References, Scope, UnresolvedReference, reference_keywords
from governance.core.schema.subschemas import subschemas
from governance.errors import Fault

_STEPS_A_SCHEMA: Final = 3
_STEPS_A_CHECK: Final = 30
_CHARACTERS_A_STEP: Final = 8
_DEFINITIONS: Final = ("/definitions/", "/$defs/")


def reference_faults(document: Any, dialect: Dialect, budget: Budget) -> list[Fault]:
    """Every reference that leads nowhere and every pattern that is none, each with its pointer.

    Expects a document that its metaschema accepts. What a reference finds elsewhere than where schemas stand, and
    what names a dialect of its own, no metaschema has seen yet: it is checked here.

    Raises:
        BudgetExceeded: the budget did not last.
    """
    return _Walk(document, dialect, budget).faults()


class _Walk:
    def __init__(self, document: Any, dialect: Dialect, budget: Budget) -> None:
        self.document = document
        self.dialect = dialect
        self.budget = budget
        self.references = References(document, dialect, budget)
        self.found: list[Fault] = []
        self.seen: set[int] = set()
        self.targets: list[tuple[Any, Scope, str]] = []
        """What references lead to, with the place to blame."""
        self._parsed: set[str] = set()

    def faults(self) -> list[Fault]:
        self._below(self.document, self.references.root, "")
        while self.targets:
            target, scope, pointer = self.targets.pop()
            if isinstance(target, dict) and id(target) not in self.seen and self._is_schema(target, pointer):
                self._below(target, scope, pointer)
        return self.found

    def _below(self, schema: Any, scope: Scope, pointer: str) -> None:
        stack = [(schema, scope, pointer)]
        while stack:
            node, around, place = stack.pop()
            if not isinstance(node, dict) or id(node) in self.seen:
                continue
            self.budget.spend(_STEPS_A_SCHEMA)
            self.seen.add(id(node))
            embedded = dialect_of(node, self.dialect)
            if embedded not in (None, self.dialect) and node is not schema and not self._is_schema(node, place):
                continue
            inner = self.references.enter(node, around)
            self._followed(node, inner, place)
            self._patterns(node, place)
            stack.extend((child, inner, place + step) for step, child in self._children(node))

    def _children(self, node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        hides = "$ref" in node and self.dialect.ref_hides_siblings
        for step, child in subschemas(node, self.dialect):
            # ``$defs`` is no keyword before 2019-09: what nobody refers to there may be anything.
            if step.startswith("/$defs/") and self.dialect.draft < 2019:
                continue
            if not hides or step.startswith(_DEFINITIONS):
                yield step, child

    def _is_schema(self, node: dict[str, Any], pointer: str) -> bool:
        self.budget.spend(_STEPS_A_CHECK)
        faults = metaschema_faults(node, dialect_of(node, self.dialect) or self.dialect)
        self.found.extend(
            Fault(pointer=pointer + fault.pointer, message=fault.message, code=fault.code) for fault in faults[:1]
        )
        return not faults

    def _followed(self, node: dict[str, Any], scope: Scope, pointer: str) -> None:
        for keyword in reference_keywords(self.dialect.draft):
            reference = node.get(keyword)
            if not isinstance(reference, str):
                continue
            try:
                target, there = self.references.follow(reference, scope)
            except UnresolvedReference:
                message = f"the reference {reference[:120]!r} leads nowhere in this document; nothing is fetched"
                self.found.append(Fault(pointer=f"{pointer}/{keyword}", message=message, code="schema-reference"))
                continue
            local = scope is None and reference.startswith("#/") and "%" not in reference
            self.targets.append((target, there, reference[1:] if local else f"{pointer}/{keyword}"))

    def _patterns(self, node: dict[str, Any], pointer: str) -> None:
        from governance.core.schema.regex_syntax import parse
        from governance.core.schema.regex_tree import UnsupportedPattern

        patterns = [("/pattern", node["pattern"])] if isinstance(node.get("pattern"), str) else []
        if isinstance(node.get("patternProperties"), dict):
            patterns += [(f"/patternProperties/{escape(p)}", p) for p in node["patternProperties"]]
        for place, pattern in patterns:
            if pattern in self._parsed:
                continue
            self.budget.spend(_STEPS_A_SCHEMA + len(pattern) // _CHARACTERS_A_STEP)
            try:
                parse(pattern)
            except UnsupportedPattern as error:
                if error.reason == "syntax":
                    message = f"{pattern[:120]!r} is no ECMA-262 pattern"
                    self.found.append(Fault(pointer=pointer + place, message=message, code="schema-pattern"))
                    continue
            self._parsed.add(pattern)
