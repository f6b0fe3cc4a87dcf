"""From decisions and comparisons to cases: what was judged, what is wrong with it, and where.

An error is what blocks. A break that the version's number announces passes the gate, so it is a warning: a
report never fails a build that the exit code lets through.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.cli.hit import hits
from governance.cli.linting import finding_place
from governance.cli.present import (
    JSONObject,
    exceptions_used,
    finding_change,
    reason_change,
    told_findings,
    told_reasons,
)
from governance.cli.report import Case, Change, Fact, Remark, Suppression, Weight
from governance.core.canonical import canonical_or_text
from governance.core.document import Locate, nowhere
from governance.core.gate import REASONS
from governance.core.lint import lint
from governance.errors import Fault, Place
from governance.importers import Imported, Refused

SIDES: Final = ("input", "output", "contract")
GATE: Final = "gate"

MAX_FAULTS: Final = 50
"""Of one unreadable skill; what is wrong fifty times is wrong in one way."""

_WEIGHTS: Final = {
    "block": Weight.ERROR,
    "breaking": Weight.ERROR,
    "undecided": Weight.ERROR,
    "error": Weight.ERROR,
    "warn": Weight.WARNING,
    "risky": Weight.WARNING,
    "warning": Weight.WARNING,
}
_SCHEMAS: Final = {"input": "/input_schema", "output": "/output_schema"}
_OF_FINDINGS: Final = frozenset(
    {
        "bump-too-small",
        "declared-too-mild",
        "splits-line",
        "version-taken",
        "unnumbered-break",
        "failed-on",
        "undecided",
    }
)
"""Reasons to block that rest on what broke against an earlier version."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The skill a remark is about, and the way from its pointers to lines."""

    skill: str
    locate: Locate = nowhere
    origin: Place | None = None
    bare: bool = False
    """The source is the schema itself, not a manifest that holds it."""

    @classmethod
    def of(cls, skill: str, source: Imported | None) -> Subject:
        if source is None:
            return cls(skill=skill)
        return cls(skill=skill, locate=source.locate, origin=source.origin)

    @classmethod
    def gone(cls, skill: str, source: Imported | None) -> Subject:
        """A skill that is no more: its file as it is now, since the lines are those of another time."""
        origin = Place(file=source.origin.file) if source is not None else None
        return cls(skill=skill, origin=origin)

    def place(self, pointer: str) -> Place | None:
        return self.locate(pointer) or self.origin

    def remark(
        self, change: Change, weight: Weight, *, fingerprint: str = "", pointer: str = "", payload: Any = None
    ) -> Remark:
        """``fingerprint``: of the finding, if it is one; else one is made of code and pointer."""
        return Remark(
            skill=self.skill,
            weight=weight,
            change=change,
            fingerprint=fingerprint or fingerprint_of(self.skill, change.code, pointer, change.place),
            pointer=pointer,
            place=self.place(pointer),
            payload=payload,
        )

    def finding(
        self, finding: JSONObject, weight: Weight, *, change: Change | None = None, newer: bool = True
    ) -> Remark:
        """``newer``: the subject is the new side of the comparison."""
        new, old = finding.get("new_pointer"), finding.get("old_pointer")
        inside = (new if newer and new is not None else old if old is not None else new) or ""
        return self.remark(
            change or finding_change(finding),
            weight,
            fingerprint=finding["fingerprint"],
            pointer=inside if self.bare else _SCHEMAS.get(finding["side"], "") + inside,
            payload=finding.get("witness"),
        )

    def case(self, part: str, remarks: Iterable[Remark]) -> Case:
        return Case(skill=self.skill, part=part, remarks=tuple(remarks), place=self.origin)


def sources_by_skill(sources: Sequence[Imported]) -> Callable[[str, str], Imported | None]:
    """``find(skill, version)``: where that skill was read from, if it was read from anywhere."""
    exact = {(one.manifest.name, one.manifest.version): one for one in sources}
    named = {one.manifest.name: one for one in sources}
    return lambda skill, version: exact.get((skill, version)) or named.get(skill)


def decision_cases(decision: JSONObject, source: Imported | None) -> tuple[Case, ...]:
    """Input, output, contract and gate of one skill."""
    subject = Subject.of(decision["skill"], source)
    parts: dict[str, list[Remark]] = {part: [] for part in (*SIDES, GATE)}
    blocking = [reason for reason in decision["reasons"] if reason["outcome"] == "block"]
    named = {reason.get("fingerprint") for reason in blocking} - {None}
    excepted = exceptions_used(decision)
    whole = any(reason["code"] in _OF_FINDINGS for reason in blocking)
    for compared, finding, change in told_findings(decision):
        onward = compared["role"] == "next"
        exception = excepted.get(finding["fingerprint"])
        blocks = finding["fingerprint"] in named or (whole and not onward and _weight(finding) is Weight.ERROR)
        weight = Weight.ERROR if blocks else _at_most_warning(_weight(finding))
        remark = subject.finding(finding, weight, change=change, newer=not onward)
        if exception is not None:
            why = Suppression(reason=f"{exception['id']}: {exception['reason']}", in_source=False)
            remark = replace(remark, weight=_at_most_warning(weight), suppression=why)
        parts[finding["side"]].append(remark)
    for reason in told_reasons(decision):
        weight = _WEIGHTS.get(reason["outcome"], Weight.NOTE)
        row = REASONS.get(reason["code"])
        pointer = reason.get("pointer") or (row.field if row else "")
        fingerprint = fingerprint_of(subject.skill, reason["code"], pointer, reason.get("fingerprint") or "")
        remark = subject.remark(reason_change(reason), weight, fingerprint=fingerprint, pointer=pointer)
        parts[GATE].append(_moved(remark, _linted_place(reason, source)))
    parts[GATE] += _hit_remarks(subject, decision)
    return tuple(subject.case(part, remarks) for part, remarks in parts.items())


def judgement_case(judged: JSONObject) -> Case:
    """What ``can-i-deploy`` or ``can-i-retire`` answers, as the gate part of the skill."""
    subject = Subject(skill=judged["skill"])
    remarks = [
        subject.remark(reason_change(reason), _WEIGHTS.get(reason["outcome"], Weight.NOTE))
        for reason in judged["reasons"]
    ]
    return subject.case(GATE, [*remarks, *_hit_remarks(subject, judged)])


def _hit_remarks(subject: Subject, judged: JSONObject) -> Iterator[Remark]:
    """A remark for each consumer that is hit; one that passes by an exception is suppressed by it."""
    for hit in hits(judged):
        change = replace(hit.change, code=hit.reason)
        name = fingerprint_of(subject.skill, hit.reason, *hit.need)
        remark = subject.remark(change, _WEIGHTS.get(hit.outcome, Weight.NOTE), fingerprint=name, payload=hit.payload)
        yield replace(remark, suppression=hit.suppression)


def _linted_place(reason: Mapping[str, Any], source: Imported | None) -> Place | None:
    """A decision names the text that a lint blocks; the line inside it is found again."""
    if source is None or reason["code"] != "lint":
        return None
    said = (one for one in lint(source.manifest) if reason["message"] == f"{one.id} at {one.pointer}: {one.message}")
    return next((finding_place(source, one) for one in said), None)


def comparison_cases(comparison: JSONObject, subject: Subject, *, fails: Collection[str]) -> tuple[Case, ...]:
    """Input, output and contract of one comparison.

    ``fails``: the levels of findings that fail the run; ``invalid`` among them if a side that is no contract does.
    """
    parts: dict[str, list[Remark]] = {part: [] for part in SIDES}
    for finding in comparison.get("findings", ()):
        weight = Weight.ERROR if finding["level"] in fails else _at_most_warning(_weight(finding))
        parts[finding["side"]].append(subject.finding(finding, weight))
    verdict, faults = comparison["verdict"], comparison.get("faults", ())
    weight = Weight.ERROR if verdict in fails else Weight.WARNING
    parts["contract"] += (_fault_remark(subject, fault, weight) for fault in faults[:MAX_FAULTS])
    told = faults or any(finding["level"] == verdict for finding in comparison.get("findings", ()))
    if verdict in ("invalid", "undecided") and not told:
        code = "invalid-contract" if verdict == "invalid" else verdict
        change = Change(code=code, place="", tone="bad", message=comparison.get("reason") or "No reason is given")
        parts["contract"].append(subject.remark(change, weight))
    return tuple(subject.case(part, remarks) for part, remarks in parts.items())


def refused_case(refused: Refused, *, weight: Weight = Weight.ERROR) -> Case:
    """A skill that could not be read: each fault at its place."""
    name = refused.name or str(refused.origin)
    subject = Subject(skill=name, origin=refused.origin)
    error = refused.error
    faults = error.faults[:MAX_FAULTS] or (Fault(pointer="", message=error.message, place=refused.origin),)
    remarks = []
    for fault in faults:
        told = Change(
            code=error.code,
            place=fault.pointer or "/",
            tone="bad",
            message=fault.message,
            facts=(Fact(label="do", value=error.fix),) if error.fix else (),
        )
        remark = subject.remark(told, weight, pointer=fault.pointer)
        remarks.append(_moved(remark, fault.place))
    return subject.case("contract", remarks)


def _fault_remark(subject: Subject, fault: Mapping[str, Any], weight: Weight) -> Remark:
    change = Change(code=fault["code"], place=fault["pointer"] or "/", tone="bad", message=fault["message"])
    return _moved(subject.remark(change, weight, pointer=fault["pointer"]), _place(fault))


def _place(document: Mapping[str, Any]) -> Place | None:
    if not document.get("file"):
        return None
    return Place(file=document["file"], line=document.get("line"), column=document.get("column"))


def _moved(remark: Remark, place: Place | None) -> Remark:
    return remark if place is None else replace(remark, place=place)


def _weight(finding: JSONObject) -> Weight:
    return _WEIGHTS.get(finding["level"], Weight.NOTE)


def _at_most_warning(weight: Weight) -> Weight:
    return Weight.WARNING if weight is Weight.ERROR else weight


def fingerprint_of(*parts: str) -> str:
    """The same for the same parts, in every run."""
    return hashlib.sha256(canonical_or_text(list(parts)).encode()).hexdigest()[:16]
