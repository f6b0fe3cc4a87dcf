"""From drafts to manifests: names mapped, versions normalised, collisions found, every rule applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from governance.core.contract import SkillManifest, invalid_contract, manifest_from_document
from governance.core.names import is_name, name_complaint, qualified, shown, snake_name
from governance.core.versioning import normalise_version
from governance.errors import Fault, InvalidContract, InvalidVersion, NameCollision, Place
from governance.importers.draft import SkillDraft


def manifest_of(draft: SkillDraft, namespace: str | None, version: str | None, warnings: list[Fault]) -> SkillManifest:
    """The checked manifest of one draft; doubts about its version join ``warnings``.

    Raises:
        InvalidContract: with every fault, in pointers into the manifest, each located.
    """
    document = dict(draft.document)
    if draft.native:
        if version is not None:
            document.setdefault("version", version)
        return manifest_from_document(document, locate=draft.locate)
    faults = list(draft.faults)
    name = _name(draft, namespace)
    if not is_name(name) and not any(fault.pointer in ("", "/name") for fault in faults):
        faults.append(Fault(pointer="/name", message=f"{shown(name)}: {name_complaint(name)}", code="name"))
    if any(fault.pointer == "" for fault in faults):
        raise invalid_contract(faults, locate=draft.locate)
    number, external = _version(draft, version, warnings)
    document |= {"name": name if is_name(name) else "nameless", "defaulted": sorted(draft.defaulted)}
    document |= {"version": number} if number else {}
    document |= {"external_name": draft.external_name} if draft.external_name else {}
    document |= {"external_version": external} if external else {}
    pointed = {fault.pointer for fault in faults}
    for pointer in pointed & {f"/{field}" for field in document}:
        del document[pointer[1:]]  # said once is enough
    document.setdefault("name", "nameless")
    try:
        manifest = manifest_from_document(document, native=False, locate=draft.locate)
    except InvalidContract as error:
        faults += [fault for fault in error.faults if fault.pointer not in pointed]
    if faults:
        raise invalid_contract(faults, locate=draft.locate, name=name if is_name(name) else "")
    return manifest


def _name(draft: SkillDraft, namespace: str | None) -> str:
    if draft.native:
        return draft.external_name
    prefix = draft.namespace if namespace is None else namespace
    return qualified(prefix, snake_name(draft.external_name)) if draft.external_name else ""


def _version(draft: SkillDraft, version: str | None, warnings: list[Fault]) -> tuple[str | None, str | None]:
    """The version that counts, and the source's own spelling where it is another."""
    if draft.external_version is None:
        return version, None
    try:
        number, external = normalise_version(draft.external_version)
    except InvalidVersion as error:
        if version is None:
            message = f"{error.message.removesuffix('.')}; the skill has no version until you give one"
            warnings.append(Fault(pointer="/version", message=message, code="version", place=draft.locate("/version")))
        return version, draft.external_version
    return version or number, draft.external_version if version else external


def colliding(drafts: Sequence[SkillDraft], namespace: str | None) -> Mapping[int, NameCollision]:
    """By index, the refusal of each draft of one catalogue that falls on another's name (and version)."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, draft in enumerate(drafts):
        number = str(draft.document.get("version") or "") if draft.native else draft.external_version or ""
        groups[_name(draft, namespace), number].append(index)
    return {
        index: collision(name, [(drafts[i].external_name, drafts[i].locate("")) for i in group])
        for (name, _), group in groups.items()
        if len(group) > 1 and name
        for index in group
    }


def collision(name: str, members: Sequence[tuple[str, Place | None]]) -> NameCollision:
    """The refusal of ``(external name, place)`` members that all fall on ``name``."""
    told = " and ".join(f"{shown(external)} ({place})" if place else shown(external) for external, place in members)
    return NameCollision(
        f"{told} all fall on the name {name}.",
        fix="Rename one of them in the source, or import them into different namespaces.",
        faults=[
            Fault(pointer="", message=f"{shown(external)} falls on {name}", code="name-collision", place=place)
            for external, place in members
        ],
        details={"name": name, "external_names": [external for external, _ in members]},
    )
