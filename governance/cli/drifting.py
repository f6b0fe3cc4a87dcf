"""Drift as a report: what was registered, what is offered, and every difference by its verdict and its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.cli.pairing import KINDS, Pair, pair_cases
from governance.cli.present import TONES, comparison_changes
from governance.cli.report import Block, Heading, Paragraph, Report, Table, Verdict
from governance.cli.terminal import counted
from governance.core.compat.model import Verdict as Word
from governance.core.contract import SkillManifest
from governance.core.names import snake_name
from governance.importers import ImportResult

WORDING: Final[dict[str, str]] = {
    "contract.text-orders-model": "order",
    "contract.text-demands-secrecy": "secrecy",
    "contract.text-new-url": "url",
    "contract.text-names-tool": "tool",
    "contract.text-invisible": "invisible",
    "contract.instructions-changed": "instructions",
    "contract.description-changed": "wording",
    "contract.title-changed": "wording",
}
"""What each finding about a text says of the change: the class of its words."""

FAILING: Final[dict[str, Collection[str]]] = {
    "any": {"invalid", "breaking", "undecided", "risky", "compatible"},
    "risky": {"invalid", "breaking", "undecided", "risky"},
    "undecided": {"invalid", "breaking", "undecided"},
    "breaking": {"invalid", "breaking"},
    "never": (),
}
"""By the mildest verdict that fails, all that do; ``compatible`` is a difference that harms nobody."""

_WORST: Final = (Word.INVALID, Word.BREAKING, Word.UNDECIDED, Word.RISKY, Word.COMPATIBLE)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What is offered now: by a server, or in a file that says what one offered."""

    label: str
    version: str | None
    """What it calls itself."""


@dataclass(frozen=True, kw_only=True)
class Before:
    """What it is held against. ``kind`` is ``catalogue``, ``skill``, ``namespace`` or ``file``."""

    kind: str
    name: str
    version: str | None
    at: str
    """The registry's address, or the file."""
    said: str | None = None
    """The version the server says it is, where it is another and nobody registered that."""

    @property
    def told(self) -> str:
        number = f" {self.version}" if self.version else ""
        return f"{self.name}{number}" if self.kind == "file" else f"{self.kind} {self.name}{number} at {self.at}"


def prefix_of(manifest: SkillManifest) -> str:
    """The namespace that an import put before the tool's own name; empty for none."""
    local = snake_name(manifest.external_name) if manifest.external_name else manifest.name.rpartition(".")[2]
    if manifest.name.endswith(f".{local}"):
        return manifest.name.removesuffix(f".{local}")
    return manifest.namespace if manifest.name != local else ""


def under_registered_names(new: ImportResult, old: ImportResult) -> ImportResult:
    """``new``, with what cannot be read under the name it was registered by: it is unreadable, not gone."""
    names = {manifest.external_name or manifest.name: manifest.name for manifest in old.accepted}
    return replace(new, refused=tuple(replace(one, name=names.get(one.name, one.name)) for one in new.refused))


def drift_report(
    pairs: Sequence[Pair], before: Before, offer: Offer, old: ImportResult, new: ImportResult, *, fail_on: str
) -> Report:
    """Exit code 0, 1 when a difference as bad as ``fail_on`` was found, 3 when undecided ones are all that fails."""
    moved = [pair for pair in pairs if pair.change != "unchanged"]
    documents = {pair.name: pair.to_document() for pair in pairs}
    verdict = next((word.value for word in _WORST if any(p.comparison.verdict is word for p in moved)), "none")
    texts = _texts(moved, documents)
    changes = {kind: [pair.name for pair in pairs if pair.change == kind] for kind in KINDS}
    return Report(
        document={
            "drift": bool(moved),
            "verdict": verdict,
            "registered": {"kind": before.kind, "name": before.name, "version": before.version, "at": before.at},
            "offered": {"by": offer.label, "version": offer.version},
            **changes,
            "texts": texts,
            "skills": list(documents.values()),
        },
        blocks=tuple(_blocks(pairs, moved, documents, texts, before, offer, verdict)),
        records=list(documents.values()),
        exit_code=_exit_code(moved, fail_on),
        cases=pair_cases(pairs, old, new, fails=FAILING[fail_on]),
    )


def _exit_code(moved: Sequence[Pair], fail_on: str) -> int:
    failing = {pair.comparison.verdict.value for pair in moved} & set(FAILING[fail_on])
    if not failing:
        return 0
    return 3 if failing == {"undecided"} else 1


def _texts(moved: Sequence[Pair], documents: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """By class of words, the skills whose texts changed that way."""
    found: dict[str, list[str]] = {kind: [] for kind in dict.fromkeys(WORDING.values())}
    for pair in moved:
        kinds = {WORDING[f["code"]] for f in documents[pair.name]["findings"] if f["code"] in WORDING}
        for kind in kinds:
            found[kind].append(pair.name)
    return found


def _blocks(
    pairs: Sequence[Pair],
    moved: Sequence[Pair],
    documents: Mapping[str, dict[str, Any]],
    texts: Mapping[str, list[str]],
    before: Before,
    offer: Offer,
    verdict: str,
) -> Iterator[Block]:
    if not moved:
        sentence = f"{offer.label} offers what was registered: {counted(len(pairs), 'tool')} of {before.told}."
        yield Verdict(word="no drift", sentence=sentence, tone="good")
    else:
        counts = ((kind, sum(pair.change == kind for pair in pairs)) for kind in KINDS)
        told = ", ".join(f"{count} {kind}" for kind, count in counts if count)
        yield Verdict(word=verdict, sentence=f"{offer.label}: {told} against {before.told}.", tone=TONES[verdict])
    if before.said is not None:
        told = "" if before.kind == "file" else ", which is not registered"
        yield Paragraph(text=f"It calls itself {before.said}{told}.")
    if not moved:
        return
    rows = tuple((p.name, p.change, p.comparison.verdict.value, p.successor or "") for p in moved)
    yield Table(columns=("skill", "drift", "verdict", "successor"), rows=rows)
    worded = tuple((kind, ", ".join(names)) for kind, names in texts.items() if names)
    if worded:
        yield Table(columns=("texts", "of"), rows=worded)
    for pair in moved:
        document = documents[pair.name]
        if document["findings"] or document.get("faults"):
            yield Heading(text=f"{pair.name} is {document['verdict']}.")
            yield from comparison_changes(document)
