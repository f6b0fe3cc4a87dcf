"""A catalogue's release as a report: one verdict, what changed, every reason; and lists of catalogues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from governance.cli.cards import document
from governance.cli.cases import GATE, Subject, comparison_cases, decision_cases, sources_by_skill
from governance.cli.present import (
    TONES,
    JSONObject,
    comparison_changes,
    decision_blocks,
    decision_sentence,
    reason_change,
)
from governance.cli.report import Block, Case, Heading, Report, Table, Verdict, Weight
from governance.errors import Conflict
from governance.importers import Imported

if TYPE_CHECKING:
    from governance.wire import Catalogue, ReleaseSummary

_TOLD_BY_MEMBERS: Final = frozenset({"member-refused", "first-version"})
"""Reasons of a release that its members' own decisions tell better, or that need no telling."""
_WEIGHTS: Final = {"block": Weight.ERROR, "warn": Weight.WARNING, "allow": Weight.NOTE}


def judged_report(
    release: JSONObject,
    decisions: Sequence[JSONObject],
    *,
    sources: Sequence[Imported] = (),
    done: str = "",
) -> Report:
    """A release before the gate. ``done``: what became of it, in place of the outcome; then it ends with 0."""
    told = release["decision"]
    return Report(
        document={**told, "members": release["members"], "withdrawn": release["withdrawn"], "decisions": decisions}
        | ({"result": done} if done else {}),
        blocks=tuple(_blocks(release, decisions, done)),
        records=[*release["members"], *release["withdrawn"]],
        exit_code=0 if done else _exit_code(told, decisions),
        cases=_cases(release, decisions, sources),
    )


def _exit_code(told: JSONObject, decisions: Sequence[JSONObject]) -> int:
    """0 when nothing blocks, 6 when the number is taken, 3 when undecided findings are all that blocks, else 1."""
    own = {reason["code"] for reason in told["reasons"] if reason["outcome"] == "block"}
    theirs = {r["code"] for one in decisions for r in one["reasons"] if r["outcome"] == "block"}
    if not own:
        return 0
    if (own | theirs) <= {"version-taken", "member-refused"}:
        return Conflict.exit_code
    return 3 if own == {"member-refused"} and theirs == {"undecided"} else 1


def _blocks(release: JSONObject, decisions: Sequence[JSONObject], done: str) -> Iterator[Block]:
    told = release["decision"]
    yield Verdict(word=done or told["decision"], sentence=_sentence(told), tone=TONES[told["decision"]])
    by_name = {one["skill"]: one for one in decisions}
    rows = [
        (one["name"], one["version"], one["change"], one["decision"], _bump(by_name.get(one["name"])))
        for one in release["members"]
        if one["change"] != "unchanged" or one["decision"] != "allow"
    ]
    rows += [(one["name"], "-", one["change"], "warn", "major") for one in release["withdrawn"]]
    if rows:
        yield Table(columns=("skill", "version", "change", "decision", "bump"), rows=tuple(rows))
    yield from map(reason_change, _told(told))
    for decision in decisions:
        blocks = tuple(decision_blocks(decision, notes=False))
        if blocks:
            yield Heading(text=decision_sentence(decision))
            yield from blocks
    for gone in release["withdrawn"]:
        now = f"renamed to {gone['successor']}" if gone["change"] == "renamed" else "withdrawn"
        yield Heading(text=f"{gone['name']} was {now}.")
        yield from comparison_changes(gone)


def _told(told: JSONObject) -> list[JSONObject]:
    return [one for one in told["reasons"] if one["code"] not in _TOLD_BY_MEMBERS]


def _sentence(told: JSONObject) -> str:
    counts = ", ".join(f"{count} {change}" for change, count in told["counts"].items() if count)
    sentence = f"{told['catalogue']} {told['version']}: {counts or 'no tools'}"
    sentence += f" against {told['baseline']}" if told["baseline"] else ", the first release"
    if told["bump"] != "none":
        sentence += f"; needs a {told['bump']} ({told['smallest_version']} or higher)"
    return sentence + "."


def _bump(decision: JSONObject | None) -> str:
    return str(decision["bump"]) if decision is not None else "none"


def _cases(release: JSONObject, decisions: Sequence[JSONObject], sources: Sequence[Imported]) -> tuple[Case, ...]:
    find = sources_by_skill(sources)
    told = release["decision"]
    whole = Subject(skill=told["catalogue"])
    remarks = [
        whole.remark(reason_change(one), _WEIGHTS[one["outcome"]])
        for one in _told(told)
        if one["code"] != "member-withdrawn"
    ]
    cases = [whole.case(GATE, remarks)]
    judged = {one["skill"] for one in decisions}
    for decision in decisions:
        cases += decision_cases(decision, find(decision["skill"], decision["version"]))
    quiet = (one["name"] for one in release["members"] if one["name"] not in judged)
    cases += (Subject.of(name, find(name, "")).case(GATE, ()) for name in quiet)
    for gone in release["withdrawn"]:
        cases += comparison_cases(gone, Subject(skill=gone["name"]), fails=())
    return tuple(cases)


def diff_report(catalogue: str, old: str, new: str, comparison: JSONObject) -> Report:
    """What changed between two releases."""
    counts = ", ".join(f"{count} {change}" for change, count in comparison["counts"].items() if count)
    bump = comparison["bump"]
    sentence = f"{catalogue} {old} → {new}: {counts or 'no tools'}"
    sentence += f"; needs a {bump}" if bump != "none" else ""
    changed = [one for one in comparison["members"] if one["change"] != "unchanged"]
    worst = next((word for word in ("invalid", "breaking", "undecided", "risky") if _any(changed, word)), "compatible")
    blocks: list[Block] = [Verdict(word=worst, sentence=sentence + ".", tone=TONES[worst])]
    if changed:
        rows = tuple(
            (one["name"], one["change"], one["verdict"], one["bump"], one.get("successor", "")) for one in changed
        )
        blocks.append(Table(columns=("skill", "change", "verdict", "bump", "successor"), rows=rows))
    for one in changed:
        findings = tuple(comparison_changes(one))
        if findings:
            blocks += [Heading(text=f"{one['name']} is {one['verdict']}."), *findings]
    cases: list[Case] = []
    for one in comparison["members"]:
        cases += comparison_cases(one, Subject(skill=one["name"]), fails=())
    return Report(
        document={"catalogue": catalogue, "old": old, "new": new, **comparison},
        blocks=tuple(blocks),
        records=changed,
        cases=tuple(cases),
    )


def _row(member: JSONObject) -> tuple[str, ...]:
    return member["name"], member["change"], member["verdict"], member["bump"], member.get("successor", "")


def _any(members: Sequence[JSONObject], verdict: str) -> bool:
    return any(one["verdict"] == verdict for one in members)


def catalogues_report(found: Sequence[Catalogue]) -> Report:
    rows = tuple(
        (one.name, one.latest or "-", str(one.members), str(one.releases), f"{one.updated_at:%Y-%m-%d}")
        for one in found
    )
    columns = ("catalogue", "latest", "tools", "releases", "updated")
    return _list("catalogues", [document(one) for one in found], columns, rows)


def releases_report(found: Sequence[ReleaseSummary]) -> Report:
    rows = tuple(
        (
            one.version,
            str(one.members),
            one.version_by.value,
            one.baseline or "-",
            one.bump,
            f"{one.published_at:%Y-%m-%d}",
        )
        for one in found
    )
    columns = ("version", "tools", "numbered by", "against", "bump", "published")
    return _list("releases", [document(one) for one in found], columns, rows)


def _list(
    word: str, documents: Sequence[Mapping[str, Any]], columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]
) -> Report:
    blocks: list[Block] = [Verdict(word=word, sentence=f"{len(documents)}.")]
    if rows:
        blocks.append(Table(columns=columns, rows=tuple(rows)))
    return Report(document={word: documents}, blocks=tuple(blocks), records=documents)
