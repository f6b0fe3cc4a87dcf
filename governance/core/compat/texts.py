"""What the texts of a new version introduce, wherever in the contract they stand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from governance.core.compat.annotations import declared_names, schema_texts
from governance.core.compat.codes import CODES
from governance.core.compat.model import JSON, Evidence, Finding, Side
from governance.core.compat.wording import TextKind, TextRisk, introduced
from governance.core.skill import SkillManifest

_CODE_OF: Final = {
    TextKind.ORDER: "contract.text-orders-model",
    TextKind.SECRECY: "contract.text-demands-secrecy",
    TextKind.URL: "contract.text-new-url",
    TextKind.TOOL: "contract.text-names-tool",
    TextKind.INVISIBLE: "contract.text-invisible",
}


def text_risks(old: SkillManifest, new: SkillManifest, *, other_tools: Collection[str] = ()) -> list[Finding]:
    """One finding for each kind of thing that the new texts introduce, with the first place and all fragments.

    Whatever stood anywhere in the old version is not new.
    """
    own = {new.name, new.name.rpartition(".")[2], new.external_name or ""}
    for manifest in (old, new):
        own |= declared_names(manifest.input_schema) | declared_names(manifest.output_schema)
    places: dict[str, str] = {}
    for pointer, text in _texts(new):
        places.setdefault(text, pointer)
    risks = introduced((text for _, text in _texts(old)), places, other_tools=other_tools, own_names=own)
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


def _texts(manifest: SkillManifest) -> Iterator[tuple[str, str]]:
    """(pointer, text) of everything in a contract that a model may read."""
    for field in ("description", "title", "effect_scope", "rollback"):
        text = getattr(manifest, field)
        if text:
            yield f"/{field}", text
    for field in ("input_schema", "output_schema"):
        for pointer, text in schema_texts(getattr(manifest, field)):
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
