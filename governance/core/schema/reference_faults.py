"""Every reference that leads nowhere and every pattern that is none, found without lowering anything."""

from __future__ import annotations

from typing import Any, Final

from governance.core.canonical import escape
from governance.core.schema.budget import Budget
from governance.core.schema.dialects import Dialect
from governance.core.schema.references import References, Scope, UnresolvedReference
from governance.core.schema.subschemas import subschemas
from governance.errors import Fault

_STEPS_A_SCHEMA: Final = 3
_CHARACTERS_A_STEP: Final = 8


def reference_faults(document: Any, dialect: Dialect, budget: Budget) -> list[Fault]:
    """Every reference that leads nowhere and every pattern that is none, each with its pointer.

    Raises:
        BudgetExceeded: the budget did not last.
    """
    from governance.core.schema.regex_syntax import parse
    from governance.core.schema.regex_tree import UnsupportedPattern

    faults: list[Fault] = []
    references = References(document, dialect, budget)
    parsed: set[str] = set()
    stack: list[tuple[Any, Scope, str]] = [(document, references.root, "")]
    while stack:
        node, scope, pointer = stack.pop()
        if not isinstance(node, dict):
            continue
        budget.spend(_STEPS_A_SCHEMA)
        inner = references.enter(node, scope)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = node.get(keyword)
            if isinstance(reference, str):
                try:
                    references.follow(reference, inner)
                except UnresolvedReference:
                    message = f"the reference {reference[:120]!r} leads nowhere in this document; nothing is fetched"
                    faults.append(Fault(pointer=f"{pointer}/{keyword}", message=message, code="schema-reference"))
        patterns = [("/pattern", node["pattern"])] if isinstance(node.get("pattern"), str) else []
        if isinstance(node.get("patternProperties"), dict):
            patterns += [(f"/patternProperties/{escape(p)}", p) for p in node["patternProperties"]]
        for place, pattern in patterns:
            if pattern in parsed:
                continue
            budget.spend(_STEPS_A_SCHEMA + len(pattern) // _CHARACTERS_A_STEP)
            try:
                parse(pattern)
            except UnsupportedPattern as error:
                if error.reason == "syntax":
                    message = f"{pattern[:120]!r} is no ECMA-262 pattern"
                    faults.append(Fault(pointer=pointer + place, message=message, code="schema-pattern"))
                    continue
            parsed.add(pattern)
        if "$ref" in node and dialect.ref_hides_siblings:
            keep = ("/definitions", "/$defs")
            children = [(p, c) for p, c in subschemas(node, dialect) if p.startswith(keep)]
        else:
            children = subschemas(node, dialect)
        stack.extend((child, inner, pointer + place) for place, child in children)
    return faults
