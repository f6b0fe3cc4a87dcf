"""What a lint is and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from governance.core.compat.model import JSON
from governance.core.skill import SkillManifest
from governance.errors import Place


class Severity(StrEnum):
    ERROR = "error"
    """Blocks a publish. Nothing silences it, neither a comment nor a baseline."""
    WARNING = "warning"


class Spot(NamedTuple):
    """Where in a manifest (a JSON Pointer) something is wrong, and what."""

    pointer: str
    message: str
    found: str = ""
    """What was found there, where a place can hold several: an address, a name, a phrase."""
    line: int = 0
    """Lines into the text at the pointer, for texts of many lines."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """What one kind of client refuses in the tools it is given. Lengths are characters."""

    id: str
    title: str
    name_length: int
    name_pattern: str
    prefixed: bool
    """Does the client put ``mcp__server__`` before the names of an MCP server's tools?"""
    root_keywords: frozenset[str] = frozenset()
    """Keywords refused at the root of an input schema."""
    keywords: frozenset[str] = frozenset()
    """Keywords refused anywhere in a schema."""
    type_lists: bool = True
    bare_arrays: bool = True
    """Are arrays without ``items`` taken?"""
    property_pattern: str = ""
    root_type: bool = True
    """Must ``type: object`` stand at the root of an input literally?"""
    output_root_type: bool = False
    """And at the root of an output?"""
    description_length: int = 0
    """0: no limit known."""


Position = tuple[int, int]
"""Line and column, from 1."""
EVERYWHERE: Final[tuple[Position, Position]] = ((0, 0), (2**31, 0))


@dataclass(frozen=True, kw_only=True)
class Ignore:
    """A comment that would silence lints: ``govctl: ignore[id, …] reason``; where it stands, what it speaks of."""

    place: Place
    ids: tuple[str, ...] = ()
    reason: str = ""
    complaint: str = ""
    """Why it counts for nothing, if it does."""
    begins: Position = EVERYWHERE[0]
    ends: Position = EVERYWHERE[1]
    """The part of the source it speaks of, without its end."""
    idle: tuple[str, ...] = ()
    """The ids it was not needed for; known once it was honoured."""

    def covers(self, place: Place) -> bool:
        """Does it speak of what stands there? What has no line belongs to the source as a whole."""
        at = (place.line or 1, place.column or 1)
        whole = (self.begins, self.ends) == EVERYWHERE
        return place.file == self.place.file and (whole or (place.line is not None and self.begins <= at < self.ends))


@dataclass(frozen=True, kw_only=True)
class Lint:
    """One rule: a permanent id, how much it weighs, what it checks and what to do. Exactly one of the four
    checks is set: over one manifest, over one manifest for one client, over a whole catalogue, or over a
    comment that would silence another lint, given all lints."""

    id: str
    severity: Severity
    title: str
    """Begins with "Checks that"."""
    means: str
    """Why it matters."""
    fix: str
    example: JSON
    """What it finds: fields of a manifest, a list of manifests for a catalogue, or a comment."""
    near_miss: JSON
    """What looks like it, and is left alone."""
    check: Callable[[SkillManifest], Iterable[Spot]] | None = None
    check_client: Callable[[SkillManifest, Client], Iterable[Spot]] | None = None
    check_catalogue: Callable[[Sequence[SkillManifest]], Iterable[tuple[SkillManifest, Spot]]] | None = None
    check_comment: Callable[[Ignore, Mapping[str, Lint]], Iterable[Spot]] | None = None


@dataclass(frozen=True, kw_only=True)
class LintFinding:
    """One thing a lint found in one skill."""

    id: str
    severity: Severity
    pointer: str
    """Into the skill's native manifest."""
    message: str
    fix: str
    skill: str = ""
    version: str = ""
    client: str | None = None
    """The client that refuses it, for findings of a profile."""
    found: str = ""
    """What was found there, folded: with lint, client and pointer it tells the findings of a skill apart, from
    run to run, whatever the sentences say."""
    line: int = 0
    """Lines into the text at the pointer."""

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "id": self.id,
            "severity": self.severity.value,
            "skill": self.skill,
            "pointer": self.pointer,
            "message": self.message,
            "fix": self.fix,
        }
        given = {"client": self.client, "found": self.found}
        return document | {name: value for name, value in given.items() if value}


@dataclass(frozen=True, kw_only=True)
class Located:
    """A finding in a source that was read."""

    finding: LintFinding
    skill: str = ""
    """As the source spells it."""
    place: Place | None = None
