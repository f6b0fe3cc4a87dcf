"""The values a comparison speaks in: side, reading, level, verdict, finding, witness.

They are plain frozen values; ``to_document`` gives the JSON form that the CLI, the API, stored checks and
audit entries all share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, TypeAlias

from governance.core.canonical import canonical_or_text
from governance.errors import Fault

JSON: TypeAlias = Any
"""A JSON value as :func:`governance.core.document.read_json` gives it: numbers are int, float or Decimal."""


class Absent:
    """The one value that says "the keyword is not there", which null does not say."""

    _instance: Absent | None = None

    def __new__(cls) -> Absent:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class Side(StrEnum):
    INPUT = "input"
    OUTPUT = "output"
    CONTRACT = "contract"
    """What stands beside the two schemas: permissions, side effects, texts, limits."""


class Reading(StrEnum):
    DEFAULT = "default"
    """Senders send declared fields, readers ignore unknown ones (docs/compatibility.md)."""
    STRICT = "strict"
    """Both schemas exactly as written."""


class Level(StrEnum):
    """What a version promises to callers of the one before it; ordered from best to worst."""

    BACKWARD_COMPATIBLE = "backward_compatible"
    INPUT_COMPATIBLE = "input_compatible"
    BREAKING_CHANGE = "breaking_change"
    UNDECIDED = "undecided"

    @property
    def rank(self) -> int:
        """Undecided ranks as breaking: what is not proved is not promised."""
        return {"backward_compatible": 0, "input_compatible": 1}.get(self.value, 2)


class Verdict(StrEnum):
    COMPATIBLE = "compatible"
    RISKY = "risky"
    BREAKING = "breaking"
    UNDECIDED = "undecided"
    INVALID = "invalid"


class FindingLevel(StrEnum):
    NOTE = "note"
    RISKY = "risky"
    UNDECIDED = "undecided"
    BREAKING = "breaking"


class Bump(StrEnum):
    NONE = "none"
    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def rank(self) -> int:
        return list(Bump).index(self)


@dataclass(frozen=True, kw_only=True)
class WitnessError:
    """One complaint of the refusing contract about the payload."""

    pointer: str
    keyword: str
    message: str

    def to_document(self) -> dict[str, JSON]:
        return {"pointer": self.pointer, "keyword": self.keyword, "message": self.message}


@dataclass(frozen=True, kw_only=True)
class Witness:
    """A payload that one version's schema accepts and the other's refuses, as the validator confirmed."""

    side: Side
    payload: JSON
    accepted_by: str
    """``"old"`` or ``"new"``; the other one refuses."""
    errors: tuple[WitnessError, ...]

    @property
    def refused_by(self) -> str:
        return "new" if self.accepted_by == "old" else "old"

    def to_document(self) -> dict[str, JSON]:
        return {
            "side": self.side.value,
            "payload": self.payload,
            "accepted_by": self.accepted_by,
            "refused_by": self.refused_by,
            "errors": [error.to_document() for error in self.errors],
        }


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Old fact, new fact: the proof of a change that no payload can show."""

    field: str
    old: JSON
    new: JSON

    def to_document(self) -> dict[str, JSON]:
        return {"field": self.field, "old": self.old, "new": self.new}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One independent change, said once. ``code`` is permanent; ``fix`` says how to change safely."""

    code: str
    side: Side
    level: FindingLevel
    message: str
    fix: str
    reading: Reading = Reading.DEFAULT
    old_pointer: str | None = None
    new_pointer: str | None = None
    old: JSON = ABSENT
    new: JSON = ABSENT
    witness: Witness | None = None
    evidence: Evidence | None = None
    skill: str = ""
    hidden: str = ""
    """A digest of the fragments as they were, where sensitive values in them are hidden."""

    @cached_property
    def fingerprint(self) -> str:
        """A name that survives rewording: 16 hex digits over what changed and where, never the prose."""
        place = self.old_pointer if self.old_pointer is not None else self.new_pointer
        fragments: list[JSON] = [
            None if fragment is ABSENT else [canonical_or_text(fragment)] for fragment in (self.old, self.new)
        ]
        if self.hidden:
            fragments = [self.hidden]
        parts = [self.skill, self.side.value, self.code, place, *fragments]
        return hashlib.sha256(canonical_or_text(parts).encode()).hexdigest()[:16]

    def to_document(self) -> dict[str, JSON]:
        document: dict[str, JSON] = {
            "code": self.code,
            "side": self.side.value,
            "level": self.level.value,
            "message": self.message,
            "old_pointer": self.old_pointer,
            "new_pointer": self.new_pointer,
        }
        if self.old is not ABSENT:
            document["old"] = self.old
        if self.new is not ABSENT:
            document["new"] = self.new
        if self.witness is not None:
            document["witness"] = self.witness.to_document()
        if self.evidence is not None:
            document["evidence"] = self.evidence.to_document()
        return document | {"fix": self.fix, "fingerprint": self.fingerprint, "reading": self.reading.value}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The answer to one comparison. Findings come worst first; ``faults`` are there for ``invalid`` only."""

    verdict: Verdict
    level: Level
    findings: tuple[Finding, ...] = ()
    identical: bool = False
    """Nothing at all changed in the contract (equal contract digests, or equal bare schemas)."""
    reason: str | None = None
    """Why undecided (a permanent reason code and a sentence), or why invalid."""
    faults: tuple[Fault, ...] = ()
    invalid_side: str | None = None
    """``"old"`` or ``"new"`` when the verdict is ``invalid``."""
    second_opinion: tuple[Side, ...] = ()
    """Sides that the engine left open and the second opinion proved."""
    disagreement: tuple[Side, ...] = ()
    """Sides that the engine proved and the second opinion denies; they count as undecided."""
    interrupted: bool = False
    """Time ran out on the way: another run may find more."""

    @property
    def witness(self) -> Witness | None:
        """The first payload that shows a break, if there is one."""
        breaking = (f.witness for f in self.findings if f.level is FindingLevel.BREAKING)
        return next((witness for witness in breaking if witness is not None), None)

    @property
    def bump(self) -> Bump:
        """The smallest honest bump from 1.0.0 on (``core.versioning.required_bump`` knows the rule below it)."""
        if self.identical:
            return Bump.NONE
        if self.level.rank >= 2:
            return Bump.MAJOR
        risky = self.verdict is Verdict.RISKY
        return Bump.MINOR if risky or self.level is Level.INPUT_COMPATIBLE else Bump.PATCH

    def named(self, skill: str) -> Comparison:
        """The same comparison with every finding's fingerprint bound to ``skill``."""
        return replace(self, findings=tuple(replace(f, skill=skill) for f in self.findings))

    def to_document(self) -> dict[str, JSON]:
        document: dict[str, JSON] = {
            "verdict": self.verdict.value,
            "level": self.level.value,
            "bump": self.bump.value,
            "findings": [finding.to_document() for finding in self.findings],
        }
        if self.witness is not None:
            document["witness"] = self.witness.to_document()
        if self.reason is not None:
            document["reason"] = self.reason
        if self.invalid_side is not None:
            document["invalid_side"] = self.invalid_side
        if self.second_opinion:
            document["second_opinion"] = [side.value for side in self.second_opinion]
        if self.disagreement:
            document["disagreement"] = [side.value for side in self.disagreement]
        if self.interrupted:
            document["interrupted"] = True
        if self.faults:
            document["faults"] = [fault.to_document() for fault in self.faults]
        return document


_ORDER = [FindingLevel.BREAKING, FindingLevel.UNDECIDED, FindingLevel.RISKY, FindingLevel.NOTE]


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings ordered by level, then side, then place: the order every report shows."""
    sides = list(Side)

    def key(finding: Finding) -> tuple[int, int, str, str]:
        place = finding.old_pointer or finding.new_pointer or ""
        return (_ORDER.index(finding.level), sides.index(finding.side), place, finding.code)

    return tuple(sorted(findings, key=key))


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """The worst over the findings; notes never move it."""
    levels = {finding.level for finding in findings}
    if FindingLevel.BREAKING in levels:
        return Verdict.BREAKING
    if FindingLevel.UNDECIDED in levels:
        return Verdict.UNDECIDED
    return Verdict.RISKY if FindingLevel.RISKY in levels else Verdict.COMPATIBLE
