"""Which files of a folder may hold skills; bounded, and never outside the folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from governance.errors import DocumentTooLarge, Fault, Place

MAX_FILES: Final = 20_000
MAX_DEPTH: Final = 32
_MARKS: Final = re.compile(r"[/\\:]")
"""What stands before a file's own name: folders, and the revision of a git tree."""
_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml", ".toml"})
_PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "venv", "dist", "build", "target"})


def is_candidate(name: str) -> bool:
    """May a file of this name hold a skill? Hidden files and lock files do not."""
    own = _MARKS.split(name)[-1]
    if own.startswith(".") or own.endswith("-lock.json"):
        return False
    return own == "SKILL.md" or Path(own).suffix.lower() in _SUFFIXES


def candidates(root: Path) -> tuple[list[Path], list[Fault]]:
    """Files under ``root`` that may hold skills, sorted; and a warning for each link that leads outside.

    Raises:
        DocumentTooLarge: more than MAX_FILES files lie there.
    """
    found: list[Path] = []
    warnings: list[Fault] = []
    inside = root.resolve()
    for folder, folders, files in os.walk(root, followlinks=False):
        here = Path(folder)
        deep = len(here.relative_to(root).parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(n for n in folders if not n.startswith(".") and n not in _PASSED_OVER)
        for name in sorted(filter(is_candidate, files)):
            path = here / name
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                message = "a link that leads outside the folder is not followed"
                warnings.append(Fault(pointer="", message=message, code="link", place=Place(file=str(path))))
            elif path.is_file():
                found.append(path)
            if len(found) > MAX_FILES:
                raise DocumentTooLarge(
                    f"{root} holds more than {MAX_FILES:,} files that may be skills.", fix="Name a smaller folder."
                )
    return found, warnings
