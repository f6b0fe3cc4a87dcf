"""What a host calls a file: its path from the root of the checkout, wherever govctl was started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from governance.errors import Place

_ROOTS: Final = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Where hosts say that their checkout lies."""
_GIT: Final = "git:"


def checkout_root(environment: Mapping[str, str] | None = None, *, here: Path | None = None) -> Path:
    """The folder that paths in reports start from.

    What the host says, if govctl runs below it; else the work tree around the working directory; else that
    directory itself.
    """
    variables = os.environ if environment is None else environment
    folder = (here or Path()).resolve()
    for name in _ROOTS:
        said = variables.get(name)
        if said and folder.is_relative_to(Path(said).resolve()):
            return Path(said).resolve()
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def host_path(place: Place | None, root: Path) -> str | None:
    """The file of a place as a host names it: relative to ``root`` where it lies below it, with slashes.

    None for what is no file: standard input, a version of a registry.
    """
    file = place.file if place else None
    if not file:
        return None
    path = Path(file)
    if not path.exists():
        ref, colon, inside = file.removeprefix(_GIT).partition(":")
        return inside if file.startswith(_GIT) and ref and colon and inside else None
    # not resolved: a link is reported under the name it has in the checkout
    full = Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links
    for candidate in (full, path.resolve()):
        if candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return full.as_posix()
