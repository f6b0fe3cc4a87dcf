"""Ranges: npm's grammar and npm's prerelease rule, on versions of any size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from governance.core.versioning.version import MAX_LENGTH, Version, shown
from governance.errors import InvalidRange, InvalidVersion

MAX_RANGE_LENGTH: Final = 4096
"""Characters of a whole range; a range is written by hand and fits on a few lines."""

_NUMBER = r"0|[1-9][0-9]*"
_X = rf"{_NUMBER}|[xX*]"
_PRERELEASE = r"-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_BUILD = r"\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_PATCH = rf"(?P<patch>{_X})(?P<pre>{_PRERELEASE})?(?:{_BUILD})?"
_PARTIAL = rf"(?P<sign>[v=]*)(?P<major>{_X})(?:\.(?P<minor>{_X})(?:\.{_PATCH})?)?"
_TERM: Final = re.compile(rf"(?P<op>~>?|\^|[<>]=?|=)?{_PARTIAL}")
_END: Final = re.compile(_PARTIAL)
_LOOSE_OPERATOR: Final = re.compile(r"(~ ?>?|\^|[<>]=?|(?<![<>=v])=) +(?=[v=]*[0-9xX*])")


@dataclass(frozen=True, kw_only=True)
class Comparator:
    """One bound: ``op`` is ``<``, ``<=``, ``>``, ``>=`` or ``=``."""

    op: str
    version: Version

    def admits(self, version: Version) -> bool:
        match self.op:
            case "<":
                return version < self.version
            case "<=":
                return version <= self.version
            case ">":
                return version > self.version
            case ">=":
                return version >= self.version
            case _:
                return version == self.version

    def __str__(self) -> str:
        return f"{'' if self.op == '=' else self.op}{self.version}"


Bounds = tuple[Comparator, ...]

_LOWEST = Version(major=0, minor=0, patch=0)
_LOWEST_PRERELEASE = Version(major=0, minor=0, patch=0, prerelease=(0,))
_NOTHING: Final[Bounds] = (Comparator(op="<", version=_LOWEST_PRERELEASE),)


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """What stands between two ``||``: bounds that must all hold; no bound at all admits every version.

    npm desugars a range differently when prereleases are included, so both forms are kept.
    """

    bounds: Bounds
    bounds_with_prereleases: Bounds

    def admits(self, version: Version, *, include_prerelease: bool = False) -> bool:
        """npm's rule: a prerelease is left out unless included, or a bound names one of its release."""
        bounds = self.bounds_with_prereleases if include_prerelease else self.bounds
        if not all(bound.admits(version) for bound in bounds):
            return False
        if include_prerelease or not version.is_prerelease:
            return True
        return any(bound.version.is_prerelease and bound.version.triple == version.triple for bound in bounds)

    @property
    def anchored(self) -> bool:
        """Does it name a place to start from: a floor, or one minor line of 0.0?

        What lies in one major (from 1 on) or in one minor below 1.0.0 has a floor, save 0.0.x, whose floor is
        the bottom of all versions.
        """
        if self.bounds == _NOTHING:
            return False
        first_minor = Version(major=0, minor=1, patch=0)
        return any(
            bound.op in (">", ">=", "=") or (bound.op == "<" and bound.version <= first_minor) for bound in self.bounds
        )

    def __str__(self) -> str:
        return " ".join(str(bound) for bound in self.bounds) or "*"


@dataclass(frozen=True, kw_only=True)
class Range:
    """A set of versions: what at least one alternative admits. ``str`` gives it as it was written."""

    text: str
    alternatives: tuple[Alternative, ...]

    @classmethod
    def parse(cls, text: str) -> Range:
        """Read npm's range grammar; the empty string is ``*``.

        Raises:
            InvalidRange: something in it is no range, or it is longer than 4096 characters.
        """
        if len(text) > MAX_RANGE_LENGTH:
            raise _refusal(text, f"it is longer than {MAX_RANGE_LENGTH} characters")
        pieces = [" ".join(piece.split()) for piece in text.split("||")]
        alternatives = [_alternative(piece, text) for piece in pieces]
        some = [one for one in alternatives if one.bounds_with_prereleases != _NOTHING] or alternatives[:1]
        if any(not one.bounds for one in some):
            # beside * every alternative is *, so that none of them admits a prerelease by naming it
            some = [Alternative(bounds=(), bounds_with_prereleases=one.bounds_with_prereleases) for one in some]
        return cls(text=text, alternatives=tuple(dict.fromkeys(some)))

    def admits(self, version: Version, *, include_prerelease: bool = False) -> bool:
        return any(one.admits(version, include_prerelease=include_prerelease) for one in self.alternatives)

    def matches(self, versions: Iterable[Version], *, include_prerelease: bool = False) -> list[Version]:
        """The versions it admits, ascending."""
        return sorted(v for v in versions if self.admits(v, include_prerelease=include_prerelease))

    def best(self, versions: Iterable[Version], *, include_prerelease: bool = False) -> Version | None:
        """The highest version it admits."""
        return max(self.matches(versions, include_prerelease=include_prerelease), default=None)

    @cached_property
    def exact(self) -> Version | None:
        """The version, when the range is an exact pin."""
        if len(self.alternatives) == 1 and len(self.alternatives[0].bounds) == 1:
            bound = self.alternatives[0].bounds[0]
            return bound.version if bound.op == "=" else None
        return None

    def desugared(self, *, include_prerelease: bool = False) -> str:
        """The bounds it stands for, as npm prints them; ``*`` for every version."""
        forms = [one.bounds_with_prereleases if include_prerelease else one.bounds for one in self.alternatives]
        texts = [" ".join(str(bound) for bound in bounds) or "*" for bounds in forms]
        return "*" if "*" in texts else " || ".join(texts)

    def __str__(self) -> str:
        return self.text


def _refusal(text: str, complaint: str) -> InvalidRange:
    return InvalidRange(
        f"{shown(text)} is not a version range: {complaint}.",
        fix="Write an npm range, for example ^1.4, ~2.0.3, '>=1.2 <3', 1.x, 1.0.0 - 2.3 or 1.4.2.",
    )


def _alternative(piece: str, text: str) -> Alternative:
    return Alternative(bounds=_bounds(piece, text, zero=()), bounds_with_prereleases=_bounds(piece, text, zero=(0,)))


def _bounds(piece: str, text: str, *, zero: tuple[int, ...]) -> Bounds:
    """``zero`` is the prerelease that floors get: nothing, or 0 when prereleases are included."""
    terms = _hyphen(piece, text, zero=zero)
    if terms is None:
        terms = []
        for word in _LOOSE_OPERATOR.sub(lambda match: match[1].replace(" ", ""), piece).split():
            terms += _term(word, text, zero=zero)
    if any(term == _NOTHING[0] for term in terms):
        return _NOTHING
    bottom = Comparator(op=">=", version=_LOWEST_PRERELEASE if zero else _LOWEST)
    return tuple(dict.fromkeys(term for term in terms if term != bottom))


def _hyphen(piece: str, text: str, *, zero: tuple[int, ...]) -> list[Comparator] | None:
    """``A - B``: from A on, up to and including everything that B names."""
    ends = piece.split(" - ")
    if len(ends) != 2:
        return None
    low, high = (_END.fullmatch(end) for end in ends)
    if low is None or high is None:
        return None
    terms: list[Comparator] = []
    if not _is_x(low["major"]):
        floor = _full(low, text) if _complete(low) else _partial(low)
        terms.append(Comparator(op=">=", version=floor if floor.is_prerelease else _with(floor, zero)))
    if _is_x(high["major"]):
        return terms
    if not _complete(high):
        ceiling = _after(high)
        return [*terms, Comparator(op="<", version=_with(ceiling, (0,)))]
    top = _full(high, text)
    if top.is_prerelease or not zero:
        return [*terms, Comparator(op="<=", version=top)]
    above = Version(major=top.major, minor=top.minor, patch=top.patch + 1, prerelease=(0,))
    return [*terms, Comparator(op="<", version=above)]


def _term(word: str, text: str, *, zero: tuple[int, ...]) -> list[Comparator]:
    match = _TERM.fullmatch(word) if len(word) <= MAX_LENGTH + 4 else None
    if match is None:
        raise _refusal(text, f"{shown(word)} is no comparator")
    op = (match["op"] or "").replace("~>", "~")
    if op in ("~", "^"):
        return _sugar(op, match, text, zero=zero)
    if _complete(match):
        version = _full(match, text)
        return [Comparator(op=op or "=", version=version)]
    if _is_x(match["major"]):
        return [*_NOTHING] if op in ("<", ">") else []
    floor = _partial(match)
    match op:
        case ">":
            return [Comparator(op=">=", version=_with(_after(match), zero))]
        case ">=":
            return [Comparator(op=">=", version=_with(floor, zero))]
        case "<":
            return [Comparator(op="<", version=_with(floor, (0,)))]
        case "<=":
            return [Comparator(op="<", version=_with(_after(match), (0,)))]
        case _:
            return _between(_with(floor, zero), _after(match))


def _sugar(op: str, match: re.Match[str], text: str, *, zero: tuple[int, ...]) -> list[Comparator]:
    if _is_x(match["major"]):
        return []
    complete = _complete(match)
    floor = _full(match, text, signs=True) if complete else _partial(match)
    major, minor, patch = floor.triple
    if op == "~":
        # npm lets a tilde's floor keep prereleases out even when they are included
        return _between(floor, _after(match) if not complete else Version(major=major, minor=minor + 1, patch=0))
    if major > 0 or _is_x(match["minor"]):
        ceiling = Version(major=major + 1, minor=0, patch=0)
    elif minor > 0 or _is_x(match["patch"]):
        ceiling = Version(major=0, minor=minor + 1, patch=0)
    else:
        ceiling = Version(major=0, minor=0, patch=patch + 1)
    widened = not floor.is_prerelease and (major == 0 or not complete)
    return _between(_with(floor, zero) if widened else floor, ceiling)


def _between(floor: Version, ceiling: Version) -> list[Comparator]:
    return [Comparator(op=">=", version=floor), Comparator(op="<", version=_with(ceiling, (0,)))]


def _with(version: Version, prerelease: tuple[int, ...]) -> Version:
    return Version(major=version.major, minor=version.minor, patch=version.patch, prerelease=prerelease)


def _is_x(part: str | None) -> bool:
    return part is None or part in "xX*"


def _complete(match: re.Match[str]) -> bool:
    return not any(_is_x(match[part]) for part in ("major", "minor", "patch"))


def _partial(match: re.Match[str]) -> Version:
    minor = 0 if _is_x(match["minor"]) else int(match["minor"])
    return Version(major=int(match["major"]), minor=minor, patch=0)


def _after(match: re.Match[str]) -> Version:
    """The first release past everything a partial version names."""
    if _is_x(match["minor"]):
        return Version(major=int(match["major"]) + 1, minor=0, patch=0)
    return Version(major=int(match["major"]), minor=int(match["minor"]) + 1, patch=0)


def _full(match: re.Match[str], text: str, *, signs: bool = False) -> Version:
    """A complete version. npm skips one ``v`` before it, beside ``~`` and ``^`` any ``v`` and ``=``."""
    sign = match["sign"]
    if not signs and sign not in ("", "v"):
        raise _refusal(text, f"{shown(sign + match['major'])}… is no comparator")
    prerelease = match["pre"] or ""
    try:
        version = Version.parse(f"{match['major']}.{match['minor']}.{match['patch']}{prerelease}")
    except InvalidVersion as error:
        raise _refusal(text, error.message.rstrip(".")) from None
    return version
