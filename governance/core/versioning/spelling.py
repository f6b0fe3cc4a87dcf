"""Real-world spellings of versions, brought to SemVer where that loses neither order nor identity."""

from __future__ import annotations

import re
from typing import Final

from governance.core.versioning.version import MAX_LENGTH, Version, shown
from governance.errors import InvalidVersion

_PHASES: Final = {"a": "alpha", "alpha": "alpha", "b": "beta", "beta": "beta"} | dict.fromkeys(
    ("c", "rc", "pre", "preview"), "rc"
)
_SPELLING: Final = re.compile(
    r"[vV]?"
    r"(?P<numbers>[0-9]+(?:\.[0-9]+)*)"
    r"(?:[-_.]?(?P<phase>alpha|a|beta|b|preview|pre|rc|c)[-_.]?(?P<count>[0-9]*))?"
    r"(?:[-_.]?post[-_.]?(?P<post>[0-9]*))?"
    r"(?:[-_.]?dev[-_.]?(?P<dev>[0-9]*))?"
    r"(?:\+(?P<local>[0-9a-z]+(?:[-_.][0-9a-z]+)*))?",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def normalise_version(text: str) -> tuple[str, str | None]:
    """``(version, external)``: strict SemVer, and the source's own spelling where it differs, else None.

    Taken: a leading ``v``; one or two numbers (``1.2`` is 1.2.0); leading zeros and dates (``2025.08.21``,
    ``2025-08-21``); trailing zeros past the third number; PEP 440 phases (``1.2rc1`` is 1.2.0-rc.1) and
    ``.devN``, which PEP 440 sorts before every other phase, as ``-0.dev.N``; post releases and local labels
    as build metadata, so that 1.0.post1 and 1.0 are one version and the second to come is told so.

    Raises:
        InvalidVersion: epochs, a fourth number other than 0, a dev release of a prerelease, words: whatever
            has no place in SemVer's order.
    """
    bare = text.strip()
    if len(bare) <= MAX_LENGTH:
        for spelling in (bare, bare[1:] if bare[:1] in ("v", "V") else bare):
            try:
                version = Version.parse(spelling)
            except InvalidVersion:
                continue
            return str(version), None if str(version) == text else text
        translated = _translate(bare)
        if translated is not None and len(str(translated)) <= MAX_LENGTH:
            return str(translated), text
    raise InvalidVersion(
        f"{shown(text)} cannot be brought to a semantic version without inventing something.",
        fix="Give the version yourself: --version MAJOR.MINOR.PATCH.",
    )


def _translate(text: str) -> Version | None:
    date = _DATE.fullmatch(text)
    if date is not None:
        year, month, day = (int(part) for part in date.groups())
        return Version(major=year, minor=month, patch=day)
    match = _SPELLING.fullmatch(text)
    if match is None:
        return None
    numbers = [int(part) for part in match["numbers"].split(".")]
    if any(numbers[3:]) or (match["phase"] and (match["dev"] is not None or match["post"] is not None)):
        return None
    if match["post"] is not None and match["dev"] is not None:
        return None
    major, minor, patch = [*numbers, 0, 0][:3]
    prerelease: tuple[int | str, ...] = ()
    if match["phase"]:
        prerelease = (_PHASES[match["phase"].lower()], int(match["count"] or 0))
    elif match["dev"] is not None:
        prerelease = (0, "dev", int(match["dev"] or 0))
    build: tuple[str, ...] = ()
    if match["post"] is not None:
        build = ("post", str(int(match["post"] or 0)))
    if match["local"]:
        build += tuple(re.split(r"[-_.]", match["local"]))
    return Version(major=major, minor=minor, patch=patch, prerelease=prerelease, build=build)
