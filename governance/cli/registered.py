"""What was registered under a name, to be held against what a server offers: a catalogue's release, one skill, or
whatever lives in a namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from governance.client import ControlPlane
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.versioning import Version, normalise_version
from governance.errors import Fault, InvalidRequest, InvalidVersion, NotFound, Place
from governance.importers import Imported, ImportResult
from governance.importers.export import export_mcp
from governance.importers.mcp import tool_contract
from governance.importers.tools import OVERLAY

_KINDS: Final = "a catalogue, a skill or a namespace"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One registered version of one skill; the manifest is fetched where it is needed."""

    name: str
    version: str
    contract_digest: str | None = None
    """None where only the manifest tells."""


@dataclass(frozen=True, kw_only=True)
class Registered:
    """What a name stands for. ``kind`` is ``catalogue``, ``skill`` or ``namespace``."""

    kind: str
    name: str
    version: str | None
    """None for a namespace, whose skills have each their own."""
    standing: Sequence[Standing]
    said: str | None = None
    """The version the server says it is, where that is none of the registered ones."""


def registered_as(plane: ControlPlane, name: str, *, version: str | None, said: str | None) -> Registered:
    """What ``name`` stands for, at the version that was asked for, else the one the server ``said`` it is, else the
    highest.

    Raises:
        NotFound: nothing is registered under the name, or not at ``version``.
        AmbiguousName: a bare name of skills in several namespaces.
    """
    for find in (_catalogue, _skill):
        try:
            return find(plane, name, version, _number(said))
        except NotFound as error:
            if version is not None and error.details.get("version"):
                raise
    cards = [card for card in plane.search() if card.namespace == name or card.namespace.startswith(f"{name}.")]
    standing = [Standing(name=card.name, version=card.latest) for card in cards if card.latest]
    if not standing:
        raise NotFound(
            f"Nothing is registered under {name!r}.",
            fix=f"Give {_KINDS}; `govctl list` and `govctl catalogue list` show them, --against BASE needs none.",
        )
    return Registered(kind="namespace", name=name, version=None, standing=standing)


def first_manifest(plane: ControlPlane, registered: Registered) -> SkillManifest | None:
    """One of them, which tells where the others live."""
    return next((_fetched(plane, one) for one in registered.standing[:1]), None)


def manifests_of(plane: ControlPlane, registered: Registered, offered: Iterable[SkillManifest]) -> ImportResult:
    """Every registered manifest; of those that are ``offered`` with the same contract none is fetched."""
    by_name = {manifest.name: manifest for manifest in offered}
    found = []
    for one in registered.standing:
        same = by_name.get(one.name)
        if same is not None and same.contract_digest == one.contract_digest:
            manifest = replace(same, version=one.version)
        else:
            manifest = _fetched(plane, one)
        place = Place(file=f"{one.name}@{one.version}")
        found.append(Imported(manifest=manifest, importer="registry", origin=place))
    return ImportResult(imported=tuple(found))


def as_told_by_tools(old: ImportResult, new: ImportResult) -> ImportResult:
    """``old``, where it promises what tools have no words for, as a server of tools would tell it: silence about
    a timeout or a permission is no change."""
    offered: Mapping[str, SkillManifest] = {manifest.name: manifest for manifest in new.accepted}
    return replace(old, imported=tuple(_told(one, offered.get(one.manifest.name)) for one in old.imported))


def _told(one: Imported, offered: SkillManifest | None) -> Imported:
    manifest = one.manifest
    plain = offered is not None and "timeout_sec" in offered.defaulted
    if not plain or "timeout_sec" in manifest.defaulted:
        return one
    try:
        tool = export_mcp(manifest)
    except InvalidRequest:  # instructions alone: no tool tells them
        return one
    meta = {key: value for key, value in tool.pop("_meta", {}).items() if key != OVERLAY}
    tool |= {"_meta": meta} if meta else {}
    told = tool_contract(tool, name=manifest.name, version=manifest.version)
    return replace(one, manifest=replace(told, external_name=manifest.external_name))


def _catalogue(plane: ControlPlane, name: str, version: str | None, said: str | None) -> Registered:
    catalogue = plane.get_catalogue(name)
    numbers = [release.version for release in plane.releases(name)]
    number = _chosen(name, numbers, version, said, latest=catalogue.latest)
    members = plane.get_release(name, number).members
    standing = [Standing(name=one.name, version=one.version, contract_digest=one.contract_digest) for one in members]
    unknown = said if said not in (None, number) and version is None else None
    return Registered(kind="catalogue", name=name, version=number, standing=standing, said=unknown)


def _skill(plane: ControlPlane, name: str, version: str | None, said: str | None) -> Registered:
    card = plane.get_skill(name)
    versions = {one.version: one for one in plane.versions(card.name)}
    number = _chosen(card.name, list(versions), version, said, latest=card.latest)
    standing = Standing(name=card.name, version=number, contract_digest=versions[number].contract_digest)
    unknown = said if said not in (None, number) and version is None else None
    return Registered(kind="skill", name=card.name, version=number, standing=[standing], said=unknown)


def _chosen(name: str, numbers: Sequence[str], version: str | None, said: str | None, *, latest: str | None) -> str:
    """``numbers``: the highest first."""
    wanted = None if version is None else str(Version.parse(version))
    for number in (wanted, said) if wanted is None else (wanted,):
        if number in numbers:
            return str(number)
    if wanted is not None or not numbers:
        asked = f"{name} {wanted}" if wanted else f"A version of {name}"
        raise NotFound(
            f"{asked} is not registered.",
            fix=f"There is {', '.join(numbers[:5]) or 'none'}.",
            faults=[Fault(pointer="", message="no such version", code="version")],
            details={"version": wanted or "any"},
        )
    return latest or numbers[0]


def _number(said: str | None) -> str | None:
    """The semantic version of what a server says it is, if it can be brought to one."""
    try:
        return normalise_version(said)[0] if said else None
    except InvalidVersion:
        return None


def _fetched(plane: ControlPlane, one: Standing) -> SkillManifest:
    return manifest_from_document(plane.get_version(one.name, one.version).manifest, native=False)
