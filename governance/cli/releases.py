"""A release before the gate, as a report: one verdict, the list of skills, then every reason and change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from governance.cli.cases import GATE, Subject, comparison_cases, decision_cases, refused_case, sources_by_skill
from governance.cli.checking import Release
from governance.cli.present import TONES, JSONObject, comparison_changes, decision_blocks, decision_sentence
from governance.cli.report import Block, Bullets, Case, Change, Fact, Heading, Paragraph, Report, Table, Verdict, Weight
from governance.cli.unchecked import in_order, unchecked_sentences
from governance.importers import Refused


def release_report(release: Release, *, word: str = "", exit_code: int | None = None, unchecked: bool = True) -> Report:
    """``word`` replaces the outcome in the first line, where more was done than checking.

    ``unchecked`` False leaves out what was not checked, where that comes too late; but for tools that went.
    """
    document = release_document(release)
    records = [
        *release.decisions,
        *document["removed"],
        *document["renamed"],
        *({"decision": "block", "verdict": "invalid", **one} for one in document["refused"]),
    ]
    return Report(
        document=document,
        blocks=tuple(_blocks(release, word or release.outcome, unchecked=unchecked)),
        records=records,
        exit_code=release.exit_code if exit_code is None else exit_code,
        cases=release_cases(release),
    )


def untouched_report() -> Report:
    """Nothing that changed holds a skill: there is nothing to judge, so nothing blocks."""
    sentence = "no changed file holds a skill."
    document = release_document(Release(against="", decisions=())) | {"decision": "allow"}
    blocks = (Verdict(word="allow", sentence=sentence, tone=TONES["allow"]),)
    return Report(document=document, blocks=blocks, records=[], cases=())


def release_cases(release: Release) -> tuple[Case, ...]:
    """Everything that was judged: each candidate, what is gone, what could not be read."""
    find, before = sources_by_skill(release.sources), sources_by_skill(release.baseline_sources)
    decided = {decision["skill"] for decision in release.decisions}
    cases: list[Case] = []
    for decision in release.decisions:
        cases += decision_cases(decision, find(decision["skill"], decision["version"]))
    cases += (Subject.of(name, find(name, "")).case(GATE, ()) for name in release.unchanged if name not in decided)
    for gone in release.gone:
        subject = Subject.gone(gone.member.name, before(gone.member.name, gone.version))
        fails = ("breaking", "undecided", "risky") if gone.blocks else ()
        cases += comparison_cases(gone.member.comparison.to_document(), subject, fails=fails)
    cases += map(refused_case, release.refused)
    cases += (refused_case(one, weight=Weight.WARNING) for one in release.baseline_refused)
    return tuple(cases)


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
        "removed": [one.to_document() for one in release.gone if not one.renamed],
        "renamed": [one.to_document() for one in release.gone if one.renamed],
        "refused": [refusal(one) for one in release.refused],
        "baseline_refused": [refusal(one) for one in release.baseline_refused],
        "not_checked": list(in_order(release.not_checked)),
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


def _blocks(release: Release, word: str, *, unchecked: bool) -> Iterator[Block]:
    yield Verdict(word=word, sentence=_sentence(release), tone=TONES[release.outcome])
    rows = tuple(_rows(release))
    if rows:
        yield Table(columns=("skill", "version", "decision", "verdict", "bump"), rows=rows)
    for decision in sorted(release.decisions, key=_worst_first):
        blocks = tuple(decision_blocks(decision))
        if blocks:
            yield Heading(text=decision_sentence(decision))
            yield from blocks
    for gone in release.gone:
        now = f"renamed to {gone.member.successor}" if gone.renamed else "removed"
        said = ", as --allow-removed says" if gone.allowed else ""
        yield Heading(text=f"{gone.member.name} was {now}{said}.")
        if gone.blocks:
            yield Paragraph(text=f"If it is meant: --allow-removed {gone.member.name}, or the number of a new major.")
        yield from comparison_changes(gone.member.comparison.to_document())
    if release.refused:
        yield Heading(text="Not readable")
        yield from map(refusal_change, release.refused)
    if release.baseline_refused:
        yield Heading(text=f"Not readable in {release.against}")
        yield from map(refusal_change, release.baseline_refused)
    words = [word for word in release.not_checked if unchecked or word == "removed skills"]
    left_out = unchecked_sentences(words, by_registry=release.by_registry)
    if left_out and (rows or release.gone):
        yield Heading(text="Not checked")
        yield Bullets(items=left_out)


def _sentence(release: Release) -> str:
    counts = (
        ("added", len(release.added)),
        ("changed", len(release.changed)),
        ("removed", sum(not one.renamed for one in release.gone)),
        ("renamed", sum(one.renamed for one in release.gone)),
        ("unchanged", len(release.unchanged)),
        ("not readable", len(release.refused)),
    )
    told = ", ".join(f"{count} {kind}" for kind, count in counts if count) or "no skills"
    if release.compared_with_nothing:
        return f"{told}; nothing to compare with at {release.against}."
    sentence = f"{told} against {release.against}"
    if release.let_in:
        return f"{sentence}; {release.let_in}."
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
            number = "-" if one.get("assumed") else one["version"]
            yield one["skill"], number, one["decision"], one["verdict"], one["bump"]
    for gone in release.gone:
        outcome = "block" if gone.blocks else "warn"
        yield gone.member.name, gone.version or "-", outcome, gone.member.change.value, "major"
    for refused in release.refused:
        yield refused.name or str(refused.origin), "-", "block", "invalid", "-"
