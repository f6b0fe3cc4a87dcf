"""One version: SemVer 2.0.0, strict, with parts of any size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, total_ordering
from typing import Final

from governance.errors import InvalidVersion

MAX_LENGTH: Final = 256
"""Characters; the same cap as npm. It also bounds the digits of a part."""

_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})"
    rf"(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    r"(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)

Key = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


@total_ordering
@dataclass(frozen=True, kw_only=True, eq=False)
class Version:
    """A semantic version. Equal, hashed and ordered by precedence: build metadata does not count.

    ``prerelease`` holds numeric identifiers as int and all others as str; ``build`` is kept for ``str``.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read strict SemVer 2.0.0 of at most 256 characters.

        Raises:
            InvalidVersion: it is something else; the message says what is wrong with it.
        """
        match = _SEMVER.fullmatch(text) if len(text) <= MAX_LENGTH else None
        if match is None:
            raise InvalidVersion(
                f"{shown(text)} is not a semantic version: {_complaint(text)}.",
                fix="Write MAJOR.MINOR.PATCH, for example 1.4.0 or 2.0.0-rc.1.",
            )
        major, minor, patch, prerelease, build = match.groups()
        return cls(
            major=int(major),
            minor=int(minor),
            patch=int(patch),
            prerelease=tuple(int(part) if part.isdigit() else part for part in (prerelease or "").split("."))
            if prerelease
            else (),
            build=tuple(build.split(".")) if build else (),
        )

    @property
    def is_prerelease(self) -> bool:
        return bool(self.prerelease)

    @property
    def release(self) -> Version:
        """The stable version this one is, or leads to."""
        return Version(major=self.major, minor=self.minor, patch=self.patch)

    @property
    def triple(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.patch)

    @cached_property
    def key(self) -> Key:
        """Sorts as SemVer precedence does: a release after its prereleases, numbers before words."""
        parts = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.prerelease)
        return (*self.triple, 0 if parts else 1, parts)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(str(part) for part in self.prerelease)
        return text + ("+" + ".".join(self.build) if self.build else "")


def shown(text: str) -> str:
    """``text`` quoted for a message, shortened when it is long."""
    return repr(text) if len(text) <= 60 else f"{text[:40]!r}… ({len(text)} characters)"


def _complaint(text: str) -> str:
    if len(text) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH} characters"
    if not text.strip():
        return "it is empty"
    if text != text.strip():
        return "there is white space around it"
    if re.match(r"[vV=][0-9]", text):
        return f"it starts with {text[0]!r}"
    core, _, _ = text.partition("+")
    numbers, dash, prerelease = core.partition("-")
    parts = numbers.split(".")
    if not all(re.fullmatch(r"[0-9]+", part) for part in parts):
        return "the part before any '-' or '+' must be three numbers"
    if len(parts) != 3:
        return (
            f"it has {len(parts)} of the three numbers" if len(parts) < 3 else f"it has {len(parts)} numbers, not three"
        )
    zero = next((part for part in parts if len(part) > 1 and part[0] == "0"), None)
    if zero is not None:
        return f"the number {zero} has a leading zero"
    if dash:
        for part in prerelease.split("."):
            if re.fullmatch(r"0[0-9]+", part):
                return f"the prerelease number {part} has a leading zero"
            if not re.fullmatch(r"[0-9A-Za-z-]+", part):
                return "a prerelease identifier is empty or holds other than letters, digits and '-'"
    return "a build identifier is empty or holds other than letters, digits and '-'"
