"""Files as they stood at a git revision, read without running anything the repository brings along.

A repository under review is hostile: its configuration may name programs, its trees may hold paths that climb
out, symbolic links and enormous blobs. Only objects are read (``ls-tree``, ``cat-file``), never a work tree.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from governance.errors import DocumentTooLarge, NotFound, UsageError
from governance.importers.walk import is_candidate

MAX_FILES: Final = 20_000
MAX_FILE_BYTES: Final = 16 * 1024 * 1024
MAX_TOTAL_BYTES: Final = 256 * 1024 * 1024
_TIMEOUT_SEC: Final = 60
_REGULAR_MODES: Final = {"100644", "100755"}
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "LC_ALL": "C",
}
_SAFE_CONFIG: Final = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
)


@dataclass(frozen=True, kw_only=True)
class Repository:
    """The work tree that holds a path."""

    root: Path

    def commit(self, ref: str) -> str:
        """The full id of the commit that ``ref`` names.

        Raises:
            UsageError: no such revision, or one that could be read as a flag.
        """
        if not ref or ref.startswith("-") or not ref.isprintable() or any(c in ref for c in " :\\?*["):
            raise UsageError(f"{ref!r} is no git revision.", fix="Give a branch, a tag, a commit or HEAD.")
        found = _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if found.returncode != 0:
            raise UsageError(f"git knows no revision {ref!r} in {self.root}.", fix=self._how_to_get(ref))
        return found.stdout.decode("ascii").strip()

    def _how_to_get(self, ref: str) -> str:
        remotes = _git(self.root, "remote").stdout.decode("utf-8", "replace").split()
        if not remotes:
            return "Name another one: a branch, a tag, a commit or HEAD."
        remote = "origin" if "origin" in remotes else remotes[0]
        if ref.startswith(f"{remote}/"):
            branch = ref.removeprefix(f"{remote}/")
            return f"Fetch it: git fetch {remote} {branch}:refs/remotes/{ref}"
        shallow = _git(self.root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        if shallow and re.fullmatch(r"HEAD.+|[0-9a-f]{7,40}", ref):
            return "This clone is shallow. Fetch the rest of its history: git fetch --unshallow"
        return (
            f"Fetch it: git fetch --no-tags {'--depth=1 ' if shallow else ''}{remote} {ref} "
            f"and compare with git:FETCH_HEAD."
        )

    def holds(self, commit: str, path: PurePosixPath) -> bool:
        """Is there a file or folder of that name (relative to the root)?"""
        if str(path) == ".":
            return True
        listed = _git(self.root, "ls-tree", "-z", "--full-tree", commit, "--", str(path))
        return listed.returncode == 0 and bool(listed.stdout)

    def names(self, commit: str) -> list[str]:
        """The files and folders of that revision, relative to the root; of very many only the first."""
        listed = _git(self.root, "ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit)
        found = [os.fsdecode(name) for name in listed.stdout.split(b"\0")[:MAX_FILES] if name]
        return [name for name in found if name.isprintable()]

    def read(self, commit: str, path: PurePosixPath) -> list[tuple[str, bytes]]:
        """Name and content of the file ``path`` (relative to the root), or of the files below it that may hold
        skills, in git's order. What is recorded and cannot be read is never taken for not being there.

        Raises:
            UsageError: git lacks the content of one of them, or ``path`` is no file there.
            DocumentTooLarge: more or bigger files than a catalogue of skills ever has.
        """
        entries = list(self._entries(commit, path))
        if len(entries) > MAX_FILES or sum(entry.size for entry in entries) > MAX_TOTAL_BYTES:
            raise DocumentTooLarge(
                f"{path} at {commit[:12]} holds too much: {len(entries)} files.",
                fix=f"Name the skills' folder; {MAX_FILES} files, {MAX_TOTAL_BYTES >> 20} MiB are allowed.",
            )
        contents = self._contents(commit, entries)
        return [(entry.path, content) for entry, content in zip(entries, contents, strict=True)]

    def _entries(self, commit: str, path: PurePosixPath) -> Iterator[_Entry]:
        where = [] if str(path) == "." else [str(path)]
        listed = _git(self.root, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *where)
        if listed.returncode != 0:
            raise _failed(listed)
        for record in listed.stdout.split(b"\0"):
            if not record:
                continue
            found = re.fullmatch(rb"(\d+) (\w+) ([0-9a-f]+) +(\S+)\t(.+)", record, re.DOTALL)
            if found is None:
                raise UsageError(f"git lists what nobody understands below {path}.", fix="Try `git fsck`.")
            mode, _, blob, size = (part.decode() for part in found.groups()[:4])
            name = os.fsdecode(found[5])
            named = name == str(path)
            if not named and not (_stays_inside(name) and is_candidate(name)):
                continue
            if mode not in _REGULAR_MODES:
                if named:
                    raise UsageError(
                        f"{name} is no regular file at {commit[:12]}; links and submodules are not followed.",
                        fix="Name the file that it leads to.",
                    )
                continue
            if not size.isdecimal():
                raise _lacking(name, commit)
            if int(size) > MAX_FILE_BYTES:
                raise DocumentTooLarge(
                    f"{name} at {commit[:12]} is larger than {MAX_FILE_BYTES >> 20} MiB.",
                    fix="Name the skills' own files or their folder.",
                )
            yield _Entry(path=name, blob=blob, size=int(size))

    def _contents(self, commit: str, entries: Sequence[_Entry]) -> Iterator[bytes]:
        request = "".join(f"{entry.blob}\n" for entry in entries).encode()
        answered = _git(self.root, "cat-file", "--batch", stdin=request)
        if answered.returncode != 0:
            raise _failed(answered)
        position = 0
        for entry in entries:
            end = answered.stdout.find(b"\n", position)
            told = re.fullmatch(rb"[0-9a-f]+ blob (\d+)", answered.stdout[position : max(end, position)])
            if told is None:
                raise _lacking(entry.path, commit)
            size = int(told[1])
            yield answered.stdout[end + 1 : end + 1 + size]
            position = end + 1 + size + 1


@dataclass(frozen=True, kw_only=True)
class _Entry:
    path: str
    blob: str
    size: int


def repository_of(path: Path) -> Repository | None:
    """The repository whose work tree holds ``path``; None when there is none or git is not installed.

    Raises:
        UsageError: git refuses the repository because it belongs to somebody else.
    """
    folder = path if path.is_dir() else path.parent
    while not folder.is_dir():
        folder = folder.parent
    try:
        found = _git(folder, "rev-parse", "--show-toplevel")
    except NotFound:
        return None
    if b"dubious ownership" in found.stderr:
        raise UsageError(
            f"git does not trust the repository at {folder}: it belongs to another user.",
            fix=f"If you trust it: git config --global --add safe.directory {folder}",
        )
    root = os.fsdecode(found.stdout).rstrip("\n")
    return Repository(root=Path(root)) if found.returncode == 0 and root else None


def _stays_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and not any(part in ("..", ".git") for part in parts)


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", "--no-pager", *_SAFE_CONFIG, "-C", str(folder), *arguments],
            input=stdin,
            capture_output=True,
            env={**environment, **_ENVIRONMENT},
            timeout=_TIMEOUT_SEC,
            check=False,
        )
    except FileNotFoundError:
        raise NotFound("git is not installed.", fix="Install git, or compare with a path.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git did not answer within {_TIMEOUT_SEC} s.", fix="Compare with a path.") from None


def _lacking(name: str, commit: str) -> UsageError:
    return UsageError(
        f"git knows {name} at {commit[:12]} and lacks its content.",
        fix="Fetch it (`git fetch --refetch` in a partial clone), or see what `git fsck` says.",
    )


def _failed(done: subprocess.CompletedProcess[bytes]) -> UsageError:
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return UsageError(
        f"git could not read the revision: {said[-1] if said else 'no reason given'}.", fix="Try `git fsck`."
    )
