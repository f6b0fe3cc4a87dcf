"""What a list of changed files touches: the skills in those files, as they are and as they were."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from governance.cli.reports.files import checkout_root
from governance.cli.sources import GIT
from governance.errors import DocumentTooLarge, Place, UsageError
from governance.importers import ImportResult
from governance.importers.opening import read_bytes

_MAX_BYTES: Final = 16 * 1024 * 1024
_QUOTED: Final = re.compile(rb'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_ESCAPES: Final = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, kw_only=True)
class ChangedFiles:
    """Files by what they are called on this machine, and from the root of the checkout."""

    here: frozenset[str]
    in_checkout: frozenset[str]

    @classmethod
    def read(cls, path: str) -> ChangedFiles:
        """The list in a file, or on standard input (``-``): paths a line each, or ended by NUL as ``git diff -z`` does.

        Each may be meant from the root of the checkout, where git starts, or from here. Raises UsageError and
        DocumentTooLarge.
        """
        try:
            data = sys.stdin.buffer.read(_MAX_BYTES + 1) if path == "-" else read_bytes(Path(path), _MAX_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"{path} cannot be read: {reason}.", fix="Give a file of paths, or -.") from None
        if len(data) > _MAX_BYTES:
            raise DocumentTooLarge(f"The list of changed files is larger than {_MAX_BYTES} bytes.", fix="Name fewer.")
        return cls.of(_paths(data), root=checkout_root(), here=Path.cwd())

    @classmethod
    def of(cls, paths: Iterable[str], *, root: Path, here: Path) -> ChangedFiles:
        names = {os.path.abspath(start / path) for path in paths for start in (root, here)}  # noqa: PTH100 - as written
        inside = (Path(name).relative_to(root) for name in names if Path(name).is_relative_to(root))
        return cls(here=frozenset(names), in_checkout=frozenset(one.as_posix() for one in inside))

    def hold(self, origin: Place) -> bool:
        """Does a skill from there come from one of them? One that comes from no file counts as changed."""
        file = origin.file
        if not file:
            return True
        if file.startswith(GIT):
            return file.removeprefix(GIT).partition(":")[2] in self.in_checkout
        path = Path(file)
        # a link is changed when it is, and when what it leads to is
        return os.path.abspath(path) in self.here or str(path.resolve()) in self.here  # noqa: PTH100

    def touched(self, *sides: ImportResult) -> frozenset[str]:
        """The names of the skills that these files hold on any side."""
        return frozenset(one.manifest.name for side in sides for one in side.imported if self.hold(one.origin))

    def only(self, side: ImportResult, touched: frozenset[str]) -> ImportResult:
        """What of a side is to be judged: the touched skills, and what could not be read in a changed file."""
        return replace(
            side,
            imported=tuple(one for one in side.imported if one.manifest.name in touched),
            refused=tuple(one for one in side.refused if self.hold(one.origin) or one.name in touched),
        )


def _paths(data: bytes) -> Iterator[str]:
    whole = b"\x00" in data
    for word in data.split(b"\x00") if whole else data.splitlines():
        path = word if whole else _unquoted(word)
        if path:
            yield os.fsdecode(path)


def _unquoted(line: bytes) -> bytes:
    """A line as git quotes unusual names (``"caf\\303\\251.yaml"``), or as it stands."""
    if len(line) < 2 or not (line.startswith(b'"') and line.endswith(b'"')):
        return line
    return _QUOTED.sub(
        lambda found: bytes([int(found[1], 8) & 255]) if found[1] else bytes([_ESCAPES[found[2][0]]]), line[1:-1]
    )
