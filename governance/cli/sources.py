"""Where contracts come from: a path, a git revision, a version of the registry. A path that exists wins."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, Final

from governance.cli.bare import is_bare_schema
from governance.cli.config import require_connection
from governance.cli.gitsource import Repository, repository_of
from governance.cli.run import Call
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.document import Document
from governance.errors import Place, UsageError
from governance.importers import Imported, ImportResult, import_files, import_paths
from governance.importers.draft import Source
from governance.importers.opening import read_bytes

GIT: Final = "git:"
_MAX_BYTES: Final = 16 * 1024 * 1024


_Sides = tuple[ImportResult, ImportResult]


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads what the words of a command line name, with the naming rules that were asked for."""

    arguments: argparse.Namespace
    environment: Mapping[str, str]
    namespace: str | None = None

    @classmethod
    def of(cls, call: Call) -> Reader:
        namespace = getattr(call.arguments, "namespace", None)
        return cls(arguments=call.arguments, environment=call.environment, namespace=namespace)

    def skills(self, reference: str, *, version: str | None = None, beside: Sequence[str] = ()) -> ImportResult:
        """Everything ``reference`` names.

        ``git:REF`` alone means the paths among ``beside`` as they stood at that revision; they may be missing
        there. Without any it means the whole repository.

        Raises:
            UsageError: there is no such path, revision or notation.
            NotFound, AuthError, ServerUnreachable: from the registry.
        """
        if reference and Path(reference).exists():
            return import_paths([Path(reference)], namespace=self.namespace, version=version)
        if reference.startswith(GIT):
            return self._at_revision(reference.removeprefix(GIT), version, beside)
        name, at, wanted = reference.partition("@")
        if at and name and wanted:
            manifest = self.published(name, wanted)
            return ImportResult(
                imported=(Imported(manifest=manifest, importer="registry", origin=Place(file=reference)),)
            )
        raise UsageError(
            f"There is no {reference!r}.",
            fix="Give a path that exists, git:REF, git:REF:PATH, or NAME@VERSION of the registry.",
        )

    def both(self, old: str, new: str, *, old_version: str | None, version: str | None) -> _Sides:
        """What two words name, and at least one of them a skill.

        Raises:
            UsageError: there is no skill on either side; else as :meth:`skills`.
        """
        sides = (
            self.skills(old, version=old_version, beside=[new]),
            self.skills(new, version=version, beside=[old]),
        )
        _not_bare_schemas(sides)
        if not any(side.imported or side.refused for side in sides):
            raise UsageError(
                f"There is no skill in {old}, nor in {new}.",
                fix="`govctl import PATH` says what a path holds and what is looked for.",
            )
        return sides

    def published(self, name: str, version: str) -> SkillManifest:
        """One version of the registry."""
        with require_connection(self.arguments, self.environment).open() as plane:
            return manifest_from_document(plane.get_version(name, version).manifest, native=False)

    def _at_revision(self, text: str, version: str | None, beside: Sequence[str]) -> ImportResult:
        ref, _, inside = text.partition(":")
        here = [path for path in map(Path, beside) if path.exists()]
        repository = repository_of((here or [Path()])[0].resolve())
        if repository is None:
            raise UsageError(
                f"{here[0] if here else 'This folder'} is in no git repository.", fix="Compare with a path."
            )
        commit = repository.commit(ref)
        if inside:
            paths = [_held(repository, commit, PurePosixPath(inside), ref)]
        else:
            paths = [_relative(path, repository.root) for path in here] or [PurePosixPath()]
        result = ImportResult()
        for path in paths:
            files = repository.read(commit, path)
            named = [name for name, _ in files] == [str(path)]
            labelled = [(f"{GIT}{ref}:{name}", content) for name, content in files]
            part = import_files(labelled, namespace=self.namespace, version=version, named=named)
            result = joined(result, part)
        return result


def _not_bare_schemas(sides: _Sides) -> None:
    """Raises UsageError where what no importer knows is a JSON Schema by itself: that has a flag of its own."""
    refused = (one for side in sides for one in side.refused)
    for one in refused:
        file = Path(one.origin.file or "")
        unknown = any(fault.code == "no-skill" for fault in one.error.faults)
        if unknown and file.is_file() and is_bare_schema(read_value(str(file))):
            raise UsageError(
                f"{file} is a JSON Schema by itself, not a skill.",
                fix="Say which side it is: --side input or --side output.",
            )


def joined(one: ImportResult, other: ImportResult) -> ImportResult:
    """Both, in order."""
    return ImportResult(
        imported=one.imported + other.imported,
        refused=one.refused + other.refused,
        warnings=one.warnings + other.warnings,
        ignores=one.ignores + other.ignores,
    )


def read_value(path: str) -> Any:
    """The value alone of :func:`read_document`."""
    return read_document(path).value


def read_document(path: str) -> Document:
    """The one JSON, YAML or TOML value of a file, with the way back to it; ``-`` is standard input.

    Raises:
        UsageError: it cannot be opened.
        MalformedDocument, DocumentTooLarge: it cannot be read.
    """
    try:
        data = sys.stdin.buffer.read(_MAX_BYTES + 1) if path == "-" else read_bytes(Path(path), _MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}.", fix="Give a readable file.") from None
    return Source.of(data, file="<stdin>" if path == "-" else path).document


def existing(paths: Iterable[str]) -> list[Path]:
    """Raises UsageError for the first that is not there."""
    words = list(paths)
    if "" in words:
        raise UsageError("A path is empty.", fix="Give files or folders that exist; `.` is this folder.")
    found = [Path(path) for path in words]
    for path in found:
        if not path.exists():
            raise UsageError(f"There is no {str(path)!r}.", fix="Give files or folders that exist.")
    return found


def _held(repository: Repository, commit: str, path: PurePosixPath, ref: str) -> PurePosixPath:
    if repository.holds(commit, path):
        return path
    near = get_close_matches(str(path), repository.names(commit), n=3, cutoff=0.5)
    raise UsageError(
        f"There is no {str(path)!r} at {ref}.",
        fix=f"Did you mean {', '.join(f'{GIT}{ref}:{name}' for name in near)}?"
        if near
        else "Paths after the revision begin at the root of the repository.",
    )


def _relative(path: Path, root: Path) -> PurePosixPath:
    try:
        return PurePosixPath(path.resolve().relative_to(root.resolve()).as_posix())
    except ValueError:
        raise UsageError(f"{path} lies outside the repository {root}.", fix="Compare with a path.") from None
