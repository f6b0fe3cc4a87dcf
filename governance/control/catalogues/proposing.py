"""A release as it is asked for: its members read and checked, and the digest that tells two requests apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from governance.control.settings import Settings
from governance.control.skills.service import check_sizes
from governance.core.canonical import digest
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.names import is_name
from governance.core.releases import VersionBy
from governance.core.skill import UNVERSIONED
from governance.core.versioning import Version
from governance.errors import DocumentTooLarge, Fault, GovernanceError, InvalidContract, InvalidRequest

_NUMBERED_LATER: Final = "0.0.0"
"""Stands where a member says no number, while it is read."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A release as it is asked for."""

    catalogue: str
    version: Version | None
    """None: the smallest honest one."""
    version_by: VersionBy
    members: Mapping[str, SkillManifest]
    """By name; UNVERSIONED where the member leaves its number to us."""
    renamed: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        return sorted(self.members)

    @property
    def digest(self) -> str:
        """Over what the release holds; equal for two requests that ask for the same."""
        return digest(
            {
                "version_by": self.version_by.value,
                "members": {name: [one.version, self._digest(one)] for name, one in self.members.items()},
                "renamed": dict(self.renamed),
            }
        )

    def _digest(self, manifest: SkillManifest) -> str:
        if self.version_by is VersionBy.CONTENT and not manifest.version:
            return manifest.contract_digest
        return manifest.manifest_digest


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """A member that is no contract."""

    index: int
    document: Mapping[str, Any]
    error: GovernanceError

    @property
    def name(self) -> str:
        """Empty where it says none."""
        name = self.document.get("name")
        return name if isinstance(name, str) and is_name(name) else ""


def propose(
    documents: Sequence[Mapping[str, Any]],
    *,
    catalogue: str,
    version: Version | None,
    version_by: VersionBy,
    renamed: Mapping[str, str],
    settings: Settings,
) -> tuple[Proposal, list[Unreadable]]:
    """The release that some member documents make, and the documents that are no member.

    Raises:
        DocumentTooLarge: too many of them.
        InvalidRequest: a rename leads to what is no member, or from what is one.
    """
    if len(documents) > settings.max_batch:
        raise DocumentTooLarge(
            f"{len(documents)} members are more than {settings.max_batch}.",
            fix="Release a smaller catalogue, or raise GOVCTL_MAX_BATCH.",
        )
    members: dict[str, SkillManifest] = {}
    unreadable: list[Unreadable] = []
    for index, document in enumerate(documents):
        try:
            manifest = _member(document, catalogue)
            if version_by is VersionBy.RELEASE:
                manifest = _carrying(manifest, version)
            check_sizes(manifest, settings)
            if manifest.name in members:
                raise _refused("/name", f"{manifest.name} stands in the release twice", "name-collision")
            members[manifest.name] = manifest
        except GovernanceError as error:
            unreadable.append(Unreadable(index=index, document=document, error=error))
    names = members.keys() | {one.name for one in unreadable}
    faults = [
        Fault(pointer=f"/renamed/{old}", message=message, code="renamed")
        for old, new in renamed.items()
        for wrong, message in (
            (old in names, f"{old} is a member itself"),
            (new not in names, f"{new} is no member of the release"),
        )
        if wrong
    ]
    if faults:
        raise InvalidRequest(
            f"The renames do not fit the release: {faults[0].message}.",
            fix="Map the name of a tool that is gone to the name of a member.",
            faults=faults,
        )
    proposal = Proposal(
        catalogue=catalogue, version=version, version_by=version_by, members=members, renamed=dict(renamed)
    )
    return proposal, unreadable


def all_readable(unreadable: Sequence[Unreadable]) -> None:
    """Raises InvalidContract with every fault of every member, pointers from the root of the request."""
    if not unreadable:
        return
    faults = [
        replace(fault, pointer=f"/members/{one.index}{fault.pointer}", place=None)
        for one in unreadable
        for fault in (one.error.faults or (Fault(pointer="", message=one.error.message),))
    ]
    count = len(unreadable)
    named = unreadable[0].name or f"member {unreadable[0].index}"
    more = f" (and {count - 1} more member{'s' * (count > 2)})" if count > 1 else ""
    raise InvalidContract(
        f"The release holds what is no contract: {named}: {unreadable[0].error.message.rstrip('.')}{more}.",
        fix="Correct every member; a release goes in whole or not at all.",
        faults=faults,
    )


def _member(document: Mapping[str, Any], catalogue: str) -> SkillManifest:
    given = document.get("version")
    manifest = manifest_from_document({**document, "version": _NUMBERED_LATER if given is None else given})
    if manifest.namespace != catalogue and not manifest.namespace.startswith(f"{catalogue}."):
        raise _refused("/name", f"{manifest.name} does not live in the namespace {catalogue}", "namespace")
    return manifest.numbered(UNVERSIONED) if given is None else manifest


def _carrying(manifest: SkillManifest, number: Version | None) -> SkillManifest:
    """The member under the release's number, which it may say and need not."""
    if manifest.version and (number is None or manifest.version != str(number)):
        theirs = f"the release's number {number}" if number else "the number that the release gets"
        raise _refused("/version", f"it is {manifest.version}, and members carry {theirs}", "path")
    return manifest.numbered(str(number)) if number else manifest


def _refused(pointer: str, message: str, code: str) -> InvalidContract:
    return InvalidContract(
        f"The member does not fit the release: {message}.",
        fix="Leave it out, correct it, or have members numbered by content.",
        faults=[Fault(pointer=pointer, message=message, code=code)],
    )
