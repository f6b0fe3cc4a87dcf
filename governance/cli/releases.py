"""A release before the gate, as a report: one verdict, the list of skills, then every reason and change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from governance.cli.checking import Release, Removed
from governance.cli.present import TONES, JSONObject, comparison_changes, decision_blocks, decision_sentence
from governance.cli.report import Block, Change, Fact, Heading, Paragraph, Report, Table, Verdict
from governance.importers import Refused


def release_report(release: Release, *, word: str = "", exit_code: int | None = None) -> Report:
    """``word`` replaces the outcome in the first line, where more was done than checking."""
    document = release_document(release)
    records = [
        *release.decisions,
        *document["removed"],
        *({"decision": "block", "verdict": "invalid", **one} for one in document["refused"]),
    ]
    return Report(
        document=document,
        blocks=tuple(_blocks(release, word or release.outcome)),
        records=records,
        exit_code=release.exit_code if exit_code is None else exit_code,
    )


def release_document(release: Release) -> dict[str, Any]:
    """The JSON form: the outcome first, the whole decisions last."""
    return {
        "decision": release.outcome,
        "against": release.against,
        "bump": release.bump.value,
        "smallest_version": release.smallest_version,
        "added": list(release.added),
        "changed": list(release.changed),
        "unchanged": list(release.unchanged),
        "removed": [removed.to_document() for removed in release.removed],
        "renamed": [
            {"from": one.manifest.name, "to": one.successor} for one in release.removed if one.successor is not None
        ],
        "refused": [refusal(one) for one in release.refused],
        "baseline_refused": [refusal(one) for one in release.baseline_refused],
        "not_checked": list(release.not_checked),
        "decisions": list(release.decisions),
    }


def refusal(refused: Refused) -> dict[str, Any]:
    """One skill that could not be read."""
    return {
        "name": refused.name,
        "origin": str(refused.origin),
        "code": refused.error.code,
        "error": refused.error.message,
        "fix": refused.error.fix,
        "errors": [fault.to_document() for fault in refused.error.faults],
    }


def refusal_change(refused: Refused) -> Change:
    """The same for people."""
    facts = [Fact(label="where", value=str(fault)) for fault in refused.error.faults[:10]]
    return Change(
        code=refused.error.code,
        place=refused.name or str(refused.origin),
        tone="bad",
        message=refused.error.message,
        facts=(*facts, Fact(label="do", value=refused.error.fix)),
    )


def _blocks(release: Release, word: str) -> Iterator[Block]:
    yield Verdict(word=word, sentence=_sentence(release), tone=TONES[release.outcome])
    rows = tuple(_rows(release))
    if rows:
        yield Table(columns=("skill", "version", "decision", "verdict", "bump"), rows=rows)
    for decision in sorted(release.decisions, key=_worst_first):
        blocks = tuple(decision_blocks(decision))
        if blocks:
            yield Heading(text=decision_sentence(decision))
            yield from blocks
    for removed in release.removed:
        yield Heading(text=f"{removed.manifest.name} is gone.")
        yield from _gone(removed)
    if release.refused:
        yield Heading(text="Not readable")
        yield from map(refusal_change, release.refused)
    if release.baseline_refused:
        yield Heading(text=f"Not readable in {release.against}")
        yield from map(refusal_change, release.baseline_refused)
    if release.not_checked:
        yield Heading(text="Not checked")
        yield Paragraph(text=f"{', '.join(release.not_checked)}.")


def _sentence(release: Release) -> str:
    counts = (
        ("added", len(release.added)),
        ("changed", len(release.changed)),
        ("removed", len(release.removed)),
        ("unchanged", len(release.unchanged)),
        ("not readable", len(release.refused)),
    )
    told = ", ".join(f"{count} {kind}" for kind, count in counts if count) or "no skills"
    sentence = f"{told} against {release.against}"
    if release.bump.value != "none":
        sentence += f"; the release needs a {release.bump.value}"
        sentence += f" ({release.smallest_version} or higher)" if release.smallest_version else ""
    return sentence + "."


def _worst_first(decision: JSONObject) -> int:
    return ("block", "warn", "allow").index(decision["decision"])


def _rows(release: Release) -> Iterator[tuple[str, ...]]:
    quiet = set(release.unchanged)
    for one in sorted(release.decisions, key=_worst_first):
        if one["skill"] not in quiet or one["decision"] != "allow":
            yield one["skill"], one["version"], one["decision"], one["verdict"], one["bump"]
    for removed in release.removed:
        outcome = "block" if removed.blocks else "warn"
        yield removed.manifest.name, removed.manifest.version or "-", outcome, "removed", "major"
    for refused in release.refused:
        yield refused.name or str(refused.origin), "-", "block", "invalid", "-"


def _gone(removed: Removed) -> Iterator[Change]:
    for change in comparison_changes(removed.comparison.to_document()):
        successor = removed.successor
        facts = (Fact(label="now", value=f"{successor} looks like it"),) if successor else ()
        yield Change(
            code=change.code,
            place=change.place,
            tone=change.tone,
            message=change.message,
            facts=(*facts, *change.facts),
        )
