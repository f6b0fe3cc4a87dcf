"""Two sets of skills side by side: what was added, removed, changed, and what each change means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from governance.cli.cases import Subject, comparison_cases, sources_by_skill
from governance.cli.present import TONES, comparison_changes, comparison_verdict
from governance.cli.report import Block, Case, Heading, Report, Table, Verdict
from governance.core.catalogues import MemberChange, compare_catalogues
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
    """One skill on both sides. ``change`` is added, removed, renamed, changed, unchanged or invalid."""

    name: str
    change: str
    comparison: Comparison
    bump: Bump
    """What the change needs above the old version, if that is known."""
    successor: str | None = None
    """What answers instead of a skill that was removed or renamed."""

    def to_document(self) -> dict[str, Any]:
        successor = {"successor": self.successor} if self.successor else {}
        comparison = {**self.comparison.to_document(), "bump": self.bump.value}
        return {"skill": self.name, "change": self.change, **successor, **comparison}


def pair_up(old: ImportResult, new: ImportResult, *, compare: Compare) -> list[Pair]:
    """Compare skills of one name; one skill on each side is a pair whatever the names.

    A skill that could not be read is a pair with the verdict ``invalid`` that says which side. While a whole
    source of one side is unreadable, nothing counts as added or removed: it may be in there.
    """
    before, after = by_name(old.accepted), by_name(new.accepted)
    if len(before) == len(after) == 1 and not old.refused and not new.refused:
        (one,), (other,) = before.values(), after.values()
        comparison = compare(one, other).named(other.name)
        if any(finding.code == "contract.tool-renamed" for finding in comparison.findings):
            return [_pair(one.name, one, comparison.named(one.name), "renamed", successor=other.name)]
        return [_pair(other.name, one, comparison, "unchanged" if comparison.identical else "changed")]
    pairs = [*_invalid(old, "old"), *_invalid(new, "new")]
    unreadable = {pair.name for pair in pairs}
    hidden = {side: any(not one.name for one in found.refused) for side, found in (("old", old), ("new", new))}
    for member in compare_catalogues(list(before.values()), list(after.values()), compare=compare).members:
        missing = (member.change is MemberChange.ADDED and hidden["old"]) or (
            member.change in (MemberChange.REMOVED, MemberChange.RENAMED) and hidden["new"]
        )
        if member.name not in unreadable and not missing:
            pairs.append(
                _pair(
                    member.name,
                    before.get(member.name),
                    member.comparison,
                    member.change.value,
                    successor=member.successor,
                )
            )
    return pairs


def by_name(manifests: Iterable[SkillManifest]) -> dict[str, SkillManifest]:
    """One manifest a name: of several versions the last, which is the highest where they are numbered."""
    return {one.name: one for one in sorted(manifests, key=_precedence)}


def _precedence(manifest: SkillManifest) -> Any:
    return Version.parse(manifest.version).key if manifest.version else Version.parse("0.0.0-0").key


def _pair(
    name: str, old: SkillManifest | None, comparison: Comparison, change: str, successor: str | None = None
) -> Pair:
    bump = comparison.bump
    if old is not None and old.version:
        bump = required_bump(comparison, Version.parse(old.version))
    return Pair(name=name, change=change, comparison=comparison, bump=bump, successor=successor)


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


def pairs_report(pairs: Sequence[Pair], *, exit_code: int, cases: tuple[Case, ...] = ()) -> Report:
    """One comparison as itself; several with a summary first."""
    if len(pairs) == 1:
        (pair,) = pairs
        document = pair.to_document()
        blocks: list[Block] = [comparison_verdict(document, pair.name), *comparison_changes(document)]
        return Report(document=document, blocks=tuple(blocks), exit_code=exit_code, cases=cases)
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
        cases=cases,
    )


def pair_cases(
    pairs: Iterable[Pair], old: ImportResult, new: ImportResult, *, fails: Collection[str]
) -> tuple[Case, ...]:
    """The sides of every pair, each remark at its place in the new source. ``fails``: as for comparisons."""
    find, before = sources_by_skill(new.imported), sources_by_skill(old.imported)
    cases: list[Case] = []
    for pair in pairs:
        source = find(pair.name, "")
        subject = Subject.of(pair.name, source) if source else Subject.gone(pair.name, before(pair.name, ""))
        cases += comparison_cases(pair.comparison.to_document(), subject, fails=fails)
    return tuple(cases)


KINDS: Final = ("added", "removed", "renamed", "changed", "unchanged", "invalid")


def _set_blocks(
    pairs: Sequence[Pair], documents: Sequence[dict[str, Any]], verdict: Word, bump: Bump
) -> Iterator[Block]:
    counts = [(kind, sum(pair.change == kind for pair in pairs)) for kind in KINDS]
    told = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    yield Verdict(word=verdict.value, sentence=f"{told}; the whole needs {bump.value}.", tone=TONES[verdict.value])
    moved = [pair for pair in pairs if pair.change != "unchanged"]
    if moved:
        rows = tuple((p.name, p.change, p.comparison.verdict.value, p.bump.value) for p in moved)
        yield Table(columns=("skill", "change", "verdict", "bump"), rows=rows)
    for pair, document in zip(pairs, documents, strict=True):
        if document["findings"] or document.get("faults"):
            yield Heading(text=pair.name)
            yield from comparison_changes(document)
