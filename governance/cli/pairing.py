"""Two sets of skills side by side: what was added, removed, changed, and what each change means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from governance.cli.present import TONES, comparison_changes, comparison_verdict
from governance.cli.report import Block, Heading, Report, Table, Verdict
from governance.core.compat.model import Bump, Comparison, Level
from governance.core.compat.model import Verdict as Word
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, required_bump
from governance.errors import GovernanceError
from governance.importers import ImportResult

Compare = Callable[[SkillManifest | None, SkillManifest | None], Comparison]

_WORST: Final = (Word.INVALID, Word.BREAKING, Word.UNDECIDED, Word.RISKY, Word.COMPATIBLE)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One skill on both sides. ``change`` is added, removed, changed, unchanged or invalid."""

    name: str
    change: str
    comparison: Comparison
    bump: Bump
    """What the change needs above the old version, if that is known."""

    def to_document(self) -> dict[str, Any]:
        comparison = {**self.comparison.to_document(), "bump": self.bump.value}
        return {"skill": self.name, "change": self.change, **comparison}


def pair_up(old: ImportResult, new: ImportResult, *, compare: Compare) -> list[Pair]:
    """Compare skills of one name; one skill on each side is a pair whatever the names.

    A skill that could not be read is a pair with the verdict ``invalid`` that says which side. While a whole
    source of one side is unreadable, nothing counts as added or removed: it may be in there.
    """
    before, after = by_name(old.accepted), by_name(new.accepted)
    if len(before) == len(after) == 1 and not old.refused and not new.refused:
        (one,), (other,) = before.values(), after.values()
        return [_compared(other.name, one, other, compare)]
    pairs = [*_invalid(old, "old"), *_invalid(new, "new")]
    unreadable = {pair.name for pair in pairs}
    whole = {"old": any(not one.name for one in old.refused), "new": any(not one.name for one in new.refused)}
    for name in [*after, *(name for name in before if name not in after)]:
        hidden = (name not in before and whole["old"]) or (name not in after and whole["new"])
        if name not in unreadable and not hidden:
            pairs.append(_compared(name, before.get(name), after.get(name), compare))
    return pairs


def by_name(manifests: Iterable[SkillManifest]) -> dict[str, SkillManifest]:
    """One manifest a name: of several versions the last, which is the highest where they are numbered."""
    return {one.name: one for one in sorted(manifests, key=_precedence)}


def _precedence(manifest: SkillManifest) -> Any:
    return Version.parse(manifest.version).key if manifest.version else Version.parse("0.0.0-0").key


def _compared(name: str, old: SkillManifest | None, new: SkillManifest | None, compare: Compare) -> Pair:
    comparison = compare(old, new).named(name)
    bump = comparison.bump
    if old is not None and old.version:
        bump = required_bump(comparison, Version.parse(old.version))
    if old is None:
        change = "added"
    elif new is None:
        change = "removed"
    else:
        change = "unchanged" if comparison.identical else "changed"
    return Pair(name=name, change=change, comparison=comparison, bump=bump)


def _invalid(result: ImportResult, side: str) -> Iterator[Pair]:
    for refused in result.refused:
        name = refused.name or str(refused.origin)
        yield Pair(name=name, change="invalid", comparison=invalid(refused.error, side), bump=Bump.NONE)


def invalid(error: GovernanceError, side: str) -> Comparison:
    """The comparison that cannot be made because ``side`` is no contract."""
    return Comparison(
        verdict=Word.INVALID,
        level=Level.UNDECIDED,
        reason=error.message.removesuffix("."),
        faults=error.faults,
        invalid_side=side,
    )


def pairs_report(pairs: Sequence[Pair], *, exit_code: int) -> Report:
    """One comparison as itself; several with a summary first."""
    if len(pairs) == 1:
        (pair,) = pairs
        document = pair.to_document()
        blocks: list[Block] = [comparison_verdict(document, pair.name), *comparison_changes(document)]
        return Report(document=document, blocks=tuple(blocks), exit_code=exit_code)
    verdict = next((word for word in _WORST if any(p.comparison.verdict is word for p in pairs)), Word.COMPATIBLE)
    bump = max((pair.bump for pair in pairs), key=lambda one: one.rank, default=Bump.NONE)
    documents = [pair.to_document() for pair in pairs]
    changes = {kind: [p.name for p in pairs if p.change == kind] for kind in KINDS}
    document = {"verdict": verdict.value, "bump": bump.value, **changes, "skills": documents}
    return Report(
        document=document,
        blocks=tuple(_set_blocks(pairs, documents, verdict, bump)),
        records=documents,
        exit_code=exit_code,
    )


KINDS: Final = ("added", "removed", "changed", "unchanged", "invalid")


def _set_blocks(
    pairs: Sequence[Pair], documents: Sequence[dict[str, Any]], verdict: Word, bump: Bump
) -> Iterator[Block]:
    counts = [(kind, sum(pair.change == kind for pair in pairs)) for kind in KINDS]
    told = ", ".join(f"{count} {kind}" for kind, count in counts if count) or "no skills on either side"
    yield Verdict(word=verdict.value, sentence=f"{told}; the whole needs {bump.value}.", tone=TONES[verdict.value])
    moved = [pair for pair in pairs if pair.change != "unchanged"]
    if moved:
        rows = tuple((p.name, p.change, p.comparison.verdict.value, p.bump.value) for p in moved)
        yield Table(columns=("skill", "change", "verdict", "bump"), rows=rows)
    for pair, document in zip(pairs, documents, strict=True):
        if document["findings"] or document.get("faults"):
            yield Heading(text=pair.name)
            yield from comparison_changes(document)
