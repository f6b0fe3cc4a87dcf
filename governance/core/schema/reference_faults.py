"""Every reference that leads nowhere and every pattern that is none, found without lowering anything."""

from __future__ import annotations

from typing import Any

from governance.core.canonical import escape
from governance.core.schema.dialects import Dialect
from governance.core.schema.references import References, Scope, UnresolvedReference
from governance.core.schema.subschemas import subschemas
from governance.errors import Fault


def reference_faults(document: Any, dialect: Dialect) -> list[Fault]:
    """Every reference that leads nowhere and every pattern that is none, each with its pointer."""
    from governance.core.schema.regex_syntax import parse
    from governance.core.schema.regex_tree import UnsupportedPattern

    faults: list[Fault] = []
    references = References(document, dialect)
    stack: list[tuple[Any, Scope, str]] = [(document, references.root, "")]
    while stack:
        node, scope, pointer = stack.pop()
        if not isinstance(node, dict):
            continue
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
            try:
                parse(pattern)
            except UnsupportedPattern as error:
                if error.reason == "syntax":
                    message = f"{pattern[:120]!r} is no ECMA-262 pattern"
                    faults.append(Fault(pointer=pointer + place, message=message, code="schema-pattern"))
        if "$ref" in node and dialect.ref_hides_siblings:
            keep = ("/definitions", "/$defs")
            children = [(p, c) for p, c in subschemas(node, dialect) if p.startswith(keep)]
        else:
            children = subschemas(node, dialect)
        stack.extend((child, inner, pointer + place) for place, child in children)
    return faults
