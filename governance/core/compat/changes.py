"""Changes beside the schemas (docs/compatibility.md): two manifests in, findings with the old and the new fact out.

What a version does not declare promises nothing. So an undeclared side effect ranks with the worst and an
undeclared idempotence with none: to declare something is never a break, to withdraw a declaration may be one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from governance.core.canonical import canonical_or_text
from governance.core.compat.annotations import annotation_changes
from governance.core.compat.codes import CODES
from governance.core.compat.model import ABSENT, JSON, Evidence, Finding, Side
from governance.core.compat.texts import text_risks
from governance.core.schema.budget import Budget
from governance.core.skill import Category, SideEffects, SkillManifest


def contract_changes(
    old: SkillManifest, new: SkillManifest, *, other_tools: Collection[str] = (), budget: Budget | None = None
) -> list[Finding]:
    """Every change that the two schemas cannot show, and what changed in them beside their rules.

    Names, versions, levels and lifecycle are no part of the contract and are not compared. ``other_tools``
    are the names of the tools that stand beside this one, so that texts which begin to name them are seen. What a
    ``budget`` does not last for is said to be undecided.
    """
    found = [finding for rule in _RULES for finding in rule(old, new)]
    found += annotation_changes(old.input_schema, new.input_schema, Side.INPUT, budget)
    found += annotation_changes(old.output_schema, new.output_schema, Side.OUTPUT, budget)
    return found + text_risks(old, new, other_tools=other_tools, budget=budget)


def _change(
    code: str, field: str, old: JSON, new: JSON, *, detail: str = "", item: JSON = ABSENT, place: str = ""
) -> Finding:
    """``item`` is the one element of a list that came or went; it and ``place`` name the finding."""
    row = CODES[f"contract.{code}"]
    pointer = f"/{field}" + (f"/{place}" if place else "")
    return Finding(
        code=row.id,
        side=Side.CONTRACT,
        level=row.level,
        message=f"{row.title}: {detail}" if detail else row.title,
        fix=row.fix,
        old_pointer=pointer if old is not None or item is not ABSENT else None,
        new_pointer=pointer,
        old=old if item is ABSENT else ABSENT,
        new=new if item is ABSENT else item,
        evidence=Evidence(field=field, old=old, new=new),
    )


def _from_to(old: JSON, new: JSON) -> str:
    shown = ["undeclared" if value is None else str(value) for value in (old, new)]
    return " → ".join(text if len(text) <= 80 else f"{text[:77]}…" for text in shown)


def _set_changes(
    field: str, old: Collection[str], new: Collection[str], *, added: str, dropped: str
) -> Iterator[Finding]:
    for code, items in ((added, set(new) - set(old)), (dropped, set(old) - set(new))):
        for item in sorted(items):
            yield _change(code, field, sorted(old), sorted(new), detail=item, item=item)


def _permissions(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    yield from _set_changes(
        "required_permissions",
        old.required_permissions,
        new.required_permissions,
        added="permission-added",
        dropped="permission-removed",
    )
    yield from _set_changes(
        "allowed_tools",
        old.allowed_tools,
        new.allowed_tools,
        added="allowed-tools-widened",
        dropped="allowed-tools-narrowed",
    )


def _switches(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    for field, on, off in (
        ("requires_approval", "approval-added", "approval-dropped"),
        ("dangerous", "danger-added", "danger-dropped"),
    ):
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            yield _change(on if after else off, field, before, after)


def _effects(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before, after = _effect_rank(old), _effect_rank(new)
    if old.side_effects is not new.side_effects:
        code = "side-effect-raised" if after > before else "side-effect-lowered"
        one, other = (m.side_effects.value if m.side_effects else None for m in (old, new))
        yield _change(code, "side_effects", one, other, detail=_from_to(one, other))
    if old.idempotent is True and new.idempotent is not True:
        yield _change("idempotence-withdrawn", "idempotent", True, new.idempotent)
    elif new.idempotent is True and old.idempotent is not True:
        yield _change("idempotence-added", "idempotent", old.idempotent, True)
    for field, code in (("effect_scope", "effect-scope-changed"), ("rollback", "rollback-changed")):
        one, other = getattr(old, field), getattr(new, field)
        if one is not None and one != other:
            yield _change(code, field, one, other, detail=_from_to(one, other))


def _effect_rank(manifest: SkillManifest) -> int:
    return (manifest.side_effects or SideEffects.DESTRUCTIVE).rank


def _runtime(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before, after = old.runtime_requirements, new.runtime_requirements
    for part in ("network", "environment"):
        yield from _set_changes(
            f"runtime_requirements/{part}",
            getattr(before, part),
            getattr(after, part),
            added="runtime-need-added",
            dropped="runtime-need-dropped",
        )
    disk, needed = before.disk_mb or 0, after.disk_mb or 0
    if disk != needed:
        code = "runtime-need-added" if needed > disk else "runtime-need-dropped"
        yield _change(
            code, "runtime_requirements/disk_mb", before.disk_mb, after.disk_mb, detail=f"{disk} → {needed} MB"
        )


def _timeout(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before, after = old.timeout_sec, new.timeout_sec
    if before == after:
        return
    # a default that the importer filled in was never told to anybody
    lowered = after < before and "timeout_sec" not in old.defaulted
    code = "timeout-lowered" if lowered else "timeout-raised"
    if after < before and not lowered:
        return
    yield _change(code, "timeout_sec", before, after, detail=f"{before:g} s → {after:g} s")


def _errors(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before = {error.code: error for error in old.errors}
    after = {error.code: error for error in new.errors}
    for code in sorted(before.keys() | after.keys()):
        one, other = before.get(code), after.get(code)
        documents = one.to_document() if one else None, other.to_document() if other else None
        if one is None or other is None:
            kind = "error-added" if one is None else "error-dropped"
            yield _change(kind, "errors", *documents, detail=code, place=code)
            continue
        if one.retryable != other.retryable:
            kind = "error-retryable" if other.retryable else "error-not-retryable"
            yield _change(kind, "errors", *documents, detail=code, place=code)
        if one.meaning != other.meaning:
            detail = f"{code}: {_from_to(one.meaning, other.meaning)}"
            yield _change("error-changed", "errors", *documents, detail=detail, place=code)


def _rules(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before = {rule.id: rule.to_document() for rule in old.business_rules}
    after = {rule.id: rule.to_document() for rule in new.business_rules}
    for id_ in sorted(before.keys() | after.keys()):
        one, other = before.get(id_), after.get(id_)
        if one == other:
            continue
        kind = "added" if one is None else "dropped" if other is None else "changed"
        yield _change(f"business-rule-{kind}", "business_rules", one, other, detail=id_, place=id_)


def _plan(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before, after = ([step.to_document() for step in manifest.fallback] for manifest in (old, new))
    if not _same(before, after):
        yield _change("fallback-changed", "fallback", before, after)


def _texts(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    if old.description != new.description:
        yield _change("description-changed", "description", old.description, new.description)
    if old.title != new.title:
        yield _change("title-changed", "title", old.title, new.title, detail=_from_to(old.title, new.title))
    before, after = _leaves(old.extensions), _leaves(new.extensions)
    if not _same(before, after):
        knowledge = new.category is Category.KNOWLEDGE
        kind = "instructions-changed" if knowledge else "extensions-changed"
        changed = sorted(
            key
            for key in before.keys() | after.keys()
            if key not in before or key not in after or not _same(before[key], after[key])
        )
        yield _change(
            kind,
            "extensions",
            {key: before[key] for key in changed if key in before},
            {key: after[key] for key in changed if key in after},
            detail=", ".join(changed),
        )


def _leaves(extensions: Mapping[str, JSON]) -> dict[str, JSON]:
    """``{"mcp": {"annotations": …}}`` as ``{"mcp.annotations": …}``: what changed is told key by key."""
    found: dict[str, JSON] = {}
    for source, value in extensions.items():
        inside = value.items() if isinstance(value, dict) and value else (("", value),)
        found |= {f"{source}.{key}".rstrip("."): child for key, child in inside}
    return found


def _rest(old: SkillManifest, new: SkillManifest) -> Iterator[Finding]:
    before, after = ([example.to_document() for example in m.examples] for m in (old, new))
    if not _same(before, after):
        yield _change("examples-changed", "examples", before, after)
    if set(old.tags) != set(new.tags):
        yield _change("tags-changed", "tags", sorted(old.tags), sorted(new.tags))
    slos = [manifest.slo.to_document() if manifest.slo else None for manifest in (old, new)]
    if slos[0] != slos[1]:
        yield _change("slo-changed", "slo", *slos)
    for field in ("category", "entrypoint", "owner"):
        one, other = getattr(old, field), getattr(new, field)
        if one != other:
            shown = [None if value is None else str(value) for value in (one, other)]
            yield _change(f"{field}-changed", field, *shown, detail=_from_to(*shown))


_RULES: Final[tuple[Callable[[SkillManifest, SkillManifest], Iterator[Finding]], ...]] = (
    _permissions, _switches, _effects, _runtime, _timeout, _errors, _rules, _plan, _texts, _rest,
)  # fmt: skip


def _same(one: JSON, other: JSON) -> bool:
    return canonical_or_text(one) == canonical_or_text(other)
