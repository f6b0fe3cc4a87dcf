"""From sources to checked manifests: files, folders or bytes in; what was accepted, what was refused and why.

A new source is one file with an :class:`Importer` and one line in IMPORTERS.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from governance.core.contract import SkillManifest
from governance.core.document import DEFAULT_LIMITS, Locate, nowhere
from governance.core.lint.model import Ignore
from governance.core.names import check_name
from governance.core.versioning import normalise_version
from governance.errors import Fault, GovernanceError, MalformedDocument, NotFound, Place
from governance.importers.a2a import AGENT_CARDS
from governance.importers.anthropic import ANTHROPIC_TOOLS
from governance.importers.catalogue import colliding, collision, manifest_of
from governance.importers.comments import ignores_in
from governance.importers.draft import Importer, Source
from governance.importers.mcp import MCP
from governance.importers.native import NATIVE
from governance.importers.openai import OPENAI_FUNCTIONS
from governance.importers.openapi import OPENAPI
from governance.importers.opening import read_bytes
from governance.importers.skill_md import SKILL_MD
from governance.importers.subjects import SUBJECTS
from governance.importers.walk import candidates, is_candidate

__all__ = [
    "IMPORTERS",
    "ImportResult",
    "Imported",
    "Importer",
    "Refused",
    "import_files",
    "import_paths",
    "import_text",
]

IMPORTERS: Final[tuple[Importer, ...]] = (
    SKILL_MD,
    NATIVE,
    AGENT_CARDS,
    OPENAPI,
    SUBJECTS,
    OPENAI_FUNCTIONS,
    ANTHROPIC_TOOLS,
    MCP,
)
"""In the order they are asked; the first that recognises a source reads it."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """One accepted skill and the way back to its source."""

    manifest: SkillManifest
    importer: str
    """The importer's id."""
    origin: Place
    """Where the skill begins."""
    locate: Locate = field(default=nowhere, compare=False)
    """From a pointer into the manifest to a place."""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """One skill, or one whole source, that could not be taken."""

    origin: Place
    name: str
    """What the source calls it; empty if nothing could be read."""
    error: GovernanceError


@dataclass(frozen=True, kw_only=True)
class ImportResult:
    """Everything one import found. One bad tool never hides the others."""

    imported: tuple[Imported, ...] = ()
    refused: tuple[Refused, ...] = ()
    warnings: tuple[Fault, ...] = ()
    ignores: tuple[Ignore, ...] = ()
    """Comments that would silence lints, in sources that could be read."""

    @property
    def accepted(self) -> tuple[SkillManifest, ...]:
        """Manifests in the order of their sources; ``version`` is UNVERSIONED where no source had one."""
        return tuple(item.manifest for item in self.imported)

    def owned(self, owner: str) -> ImportResult:
        """The same, with ``owner`` for every skill whose source names none; no tool list can."""
        return replace(self, imported=tuple(replace(one, manifest=one.manifest.owned(owner)) for one in self.imported))


def import_paths(
    paths: Sequence[Path | str], *, namespace: str | None = None, version: str | None = None
) -> ImportResult:
    """Import files and folders.

    A file that is named must hold a skill; in a folder, files that hold none are passed over with a warning.

    Args:
        paths: files, or folders to walk.
        namespace: prefix for names from foreign sources; None takes what each catalogue calls itself.
        version: for skills of foreign sources; None takes the source's own, if it has one.

    Raises:
        NotFound: a path does not exist, or cannot be read.
        InvalidName: ``namespace`` is none.
        InvalidVersion: ``version`` cannot be brought to a semantic version.
    """
    result = ImportResult()
    for path in map(Path, paths):
        if path.is_dir():
            found, passed_over = candidates(path)
            part = import_files(
                ((str(file), _bytes(file)) for file in found), namespace=namespace, version=version, named=False
            )
            part = replace(part, warnings=(*passed_over, *part.warnings))
        else:
            part = import_files([(str(path), _bytes(path))], namespace=namespace, version=version)
        result = _joined(result, part)
    return _without_collisions(result)


def import_files(
    files: Iterable[tuple[str, bytes | str]],
    *,
    namespace: str | None = None,
    version: str | None = None,
    named: bool = True,
) -> ImportResult:
    """Import texts that come from anywhere (a git tree, a request), each with the name places shall give.

    Args:
        files: (name, content) pairs.
        namespace: as for :func:`import_paths`.
        version: as for :func:`import_paths`.
        named: every file must hold a skill; otherwise those whose name cannot be one's are passed over, and
            those that hold none with a warning.

    Raises:
        InvalidName: ``namespace`` is none.
        InvalidVersion: ``version`` cannot be brought to a semantic version.
    """
    if namespace:
        check_name(namespace)
    if version is not None:
        version = normalise_version(version)[0]
    result = ImportResult()
    for file, data in files:
        if not named and not is_candidate(file):
            continue
        result = _joined(result, _one(file, data, namespace, version, named=named))
    return _without_collisions(result)


def import_text(
    data: bytes | str, *, file: str | None = None, namespace: str | None = None, version: str | None = None
) -> ImportResult:
    """Import one text; it must hold a skill. Raises as :func:`import_files`."""
    return import_files([(file or "<input>", data)], namespace=namespace, version=version)


def _one(file: str, data: bytes | str, namespace: str | None, version: str | None, *, named: bool) -> ImportResult:
    whole = Place(file=file)
    try:
        source = Source.of(data, file=file)
        importer = next((importer for importer in IMPORTERS if importer.recognises(source)), None)
        if importer is None:
            return _unrecognised(source, named=named)
        drafts = list(importer.drafts(source))
    except GovernanceError as error:
        place = next((fault.place for fault in error.faults if fault.place), whole)
        return ImportResult(refused=(Refused(origin=place, name="", error=error),))
    if not drafts:
        message = f"{importer.title} without a single skill"
        return ImportResult(warnings=(Fault(pointer="", message=message, code="empty", place=whole),))
    refusals = colliding(drafts, namespace)
    imported: list[Imported] = []
    refused: list[Refused] = []
    warnings: list[Fault] = []
    for index, draft in enumerate(drafts):
        origin = draft.locate("") or whole
        warnings += draft.warnings
        try:
            if index in refusals:
                raise refusals[index]
            manifest = manifest_of(draft, namespace, version, warnings)
        except GovernanceError as error:
            refused.append(Refused(origin=origin, name=draft.external_name, error=error))
        else:
            imported.append(Imported(manifest=manifest, importer=importer.id, origin=origin, locate=draft.locate))
    return ImportResult(
        imported=tuple(imported),
        refused=tuple(refused),
        warnings=tuple(warnings),
        ignores=ignores_in(source, markdown=importer is SKILL_MD),
    )


def _without_collisions(result: ImportResult) -> ImportResult:
    """Refuse skills of different files that fall on one name and version."""
    groups: dict[tuple[str, str], list[Imported]] = defaultdict(list)
    for item in result.imported:
        groups[item.manifest.name, item.manifest.version].append(item)
    refused = list(result.refused)
    for (name, _), group in groups.items():
        if len(group) > 1:
            called = [item.manifest.external_name or item.manifest.name for item in group]
            members = list(zip(called, (item.origin for item in group), strict=True))
            error = collision(name, members)
            refused += [Refused(origin=origin, name=external, error=error) for external, origin in members]
    kept = tuple(i for i in result.imported if len(groups[i.manifest.name, i.manifest.version]) == 1)
    return replace(result, imported=kept, refused=tuple(refused))


def _unrecognised(source: Source, *, named: bool) -> ImportResult:
    place = Place(file=source.file)
    fault = Fault(pointer="", message="no skill here", code="no-skill", place=place)
    if not named:
        return ImportResult(warnings=(fault,))
    titles = ", ".join(importer.title for importer in IMPORTERS)
    error = MalformedDocument(f"{source.file}: no skill here.", fix=f"Give one of: {titles}.", faults=[fault])
    return ImportResult(refused=(Refused(origin=place, name="", error=error),))


def _joined(one: ImportResult, other: ImportResult) -> ImportResult:
    return ImportResult(
        imported=one.imported + other.imported,
        refused=one.refused + other.refused,
        warnings=one.warnings + other.warnings,
        ignores=one.ignores + other.ignores,
    )


def _bytes(path: Path) -> bytes:
    """Raises NotFound."""
    try:
        return read_bytes(path, DEFAULT_LIMITS.size + 1)
    except OSError as error:
        raise NotFound(
            f"{path}: {(error.strerror or 'it cannot be read').lower()}.", fix="Check the path and its permissions."
        ) from None
