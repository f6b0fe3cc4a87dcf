"""What the texts of a new version introduce, wherever in the contract they stand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from governance.core.canonical import escape
from governance.core.compat.annotations import TEXTS
from governance.core.compat.codes import CODES
from governance.core.compat.model import JSON, Evidence, Finding, Reading, Side
from governance.core.compat.telling import left_open
from governance.core.compat.wording import TextKind, TextRisk, introduced
from governance.core.schema.budget import READING_STEPS, Budget, BudgetExceeded
from governance.core.skill import SkillManifest

_CODE_OF: Final = {
    TextKind.ORDER: "contract.text-orders-model",
    TextKind.SECRECY: "contract.text-demands-secrecy",
    TextKind.URL: "contract.text-new-url",
    TextKind.TOOL: "contract.text-names-tool",
    TextKind.INVISIBLE: "contract.text-invisible",
}


def text_risks(
    old: SkillManifest, new: SkillManifest, *, other_tools: Collection[str] = (), budget: Budget | None = None
) -> list[Finding]:
    """One finding for each kind of thing that the new texts introduce, with the first place and all fragments.

    Whatever stood anywhere in the old version is not new. Where the budget does not last, nothing is said of what the
    texts introduce but that it is undecided.
    """
    budget = budget or Budget(READING_STEPS)
    try:
        return _risks(old, new, other_tools, budget)
    except BudgetExceeded:
        return [left_open(Side.INPUT, Reading.DEFAULT, budget.reason, "what its texts tell a model")]


def _risks(old: SkillManifest, new: SkillManifest, other_tools: Collection[str], budget: Budget) -> list[Finding]:
    own = {new.name, new.name.rpartition(".")[2], new.external_name or ""}
    for manifest in (old, new):
        own |= declared_names(manifest.input_schema, budget) | declared_names(manifest.output_schema, budget)
    places: dict[str, str] = {}
    for pointer, text in _texts(new, budget):
        places.setdefault(text, pointer)
    before = [text for _, text in _texts(old, budget)]
    risks = introduced(before, places, other_tools=other_tools, own_names=own, budget=budget)
    found: dict[TextKind, dict[TextRisk, str]] = {}
    for risk, text in risks.items():
        found.setdefault(risk.kind, {})[risk] = places[text]
    return [_finding(kind, found[kind]) for kind in TextKind if kind in found]


def _finding(kind: TextKind, risks: dict[TextRisk, str]) -> Finding:
    row = CODES[_CODE_OF[kind]]
    fragments = sorted(risk.fragment for risk in risks)
    pointer = next(iter(risks.values()))
    shown = ", ".join(f"“{fragment}”" for fragment in fragments[:3])
    more = f" and {len(fragments) - 3} more" if len(fragments) > 3 else ""
    return Finding(
        code=row.id,
        side=Side.CONTRACT,
        level=row.level,
        message=f"{row.title}: {shown}{more}",
        fix=row.fix,
        new_pointer=pointer,
        new=fragments,
        evidence=Evidence(field=pointer, old=None, new=fragments),
    )


def _texts(manifest: SkillManifest, budget: Budget) -> Iterator[tuple[str, str]]:
    """(pointer, text) of everything in a contract that a model may read."""
    for field in ("description", "title", "effect_scope", "rollback"):
        text = getattr(manifest, field)
        if text:
            yield f"/{field}", text
    for field in ("input_schema", "output_schema"):
        for pointer, text in schema_texts(getattr(manifest, field), budget):
            yield f"/{field}{pointer}", text
    for rule in manifest.business_rules:
        yield f"/business_rules/{rule.id}", rule.text
    for error in manifest.errors:
        yield f"/errors/{error.code}", error.meaning
    for example in manifest.examples:
        if example.when:
            yield "/examples", example.when
    yield from _strings("/extensions", dict(manifest.extensions))


def _strings(pointer: str, value: JSON) -> Iterator[tuple[str, str]]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield pointer, node
        elif isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list | tuple):
            stack.extend(node)


def schema_texts(schema: JSON, budget: Budget) -> Iterator[tuple[str, str]]:
    """(pointer, text) of everything a model may read in a schema: texts, examples, defaults, enum values."""
    stack: list[tuple[str, JSON, bool]] = [("", schema, False)]
    while stack:
        budget.spend()
        pointer, node, read = stack.pop()
        if isinstance(node, str):
            if read:
                yield pointer, node
        elif isinstance(node, dict):
            for key, child in reversed(node.items()):
                inside = read or key in TEXTS or key in _READ_VALUES or key.startswith("x-")
                stack.append((f"{pointer}/{escape(key)}", child, inside and not _is_schema_map(key, child)))
        elif isinstance(node, list):
            stack.extend((f"{pointer}/{i}", child, read) for i, child in reversed(list(enumerate(node))))


_READ_VALUES: Final = frozenset({"markdownDescription", "examples", "example", "default", "const", "enum"})


def _is_schema_map(key: str, child: JSON) -> bool:
    """A field may itself be called ``description``; then a schema stands there and not a text."""
    return key in TEXTS and isinstance(child, dict)


def declared_names(schema: JSON, budget: Budget) -> set[str]:
    """Field names and enum values anywhere in a schema: words that are its own."""
    names: set[str] = set()
    stack: list[JSON] = [schema]
    while stack:
        budget.spend()
        node = stack.pop()
        if isinstance(node, dict):
            for keyword in ("properties", "$defs", "definitions"):
                if isinstance(inside := node.get(keyword), dict):
                    names |= inside.keys()
            if isinstance(values := node.get("enum"), list):
                names |= {value for value in values if isinstance(value, str)}
            if isinstance(value := node.get("const"), str):
                names.add(value)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return names
