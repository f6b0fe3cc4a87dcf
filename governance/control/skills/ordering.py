"""SemVer precedence as bytes, so that the database orders versions as the specification does."""

from __future__ import annotations

from governance.core.versioning import Version

_RELEASE = b"\xff"
_PRERELEASE = b"\x01"
_NUMBER = b"\x01"
_WORD = b"\x02"
_END = b"\x00"


def sort_key(version: Version) -> bytes:
    """Bytes that compare as the versions do; equal for versions that differ in build metadata only.

    A number is its count of digits (two bytes) and its digits, so length decides first; a release sorts after
    its prereleases; numbers before words; a shorter list of identifiers before a longer one.
    """
    key = b"".join(_number(part) for part in version.triple)
    if not version.prerelease:
        return key + _RELEASE
    identifiers = b"".join(
        _NUMBER + _number(part) if isinstance(part, int) else _WORD + part.encode("ascii") + _END
        for part in version.prerelease
    )
    return key + _PRERELEASE + identifiers + _END


def _number(value: int) -> bytes:
    digits = str(value).encode("ascii")
    return len(digits).to_bytes(2) + digits
