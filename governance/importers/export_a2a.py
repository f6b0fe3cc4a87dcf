"""From manifests to A2A agent cards; what a card has no words for stands in an extension of its capabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from governance.core.compat.model import JSON
from governance.core.contract import SkillManifest
from governance.core.names import shown
from governance.errors import InvalidRequest
from governance.importers.cards import card_of, complaint_about, kept_of, tell_skill, with_contracts
from governance.importers.export_functions import Exported
from governance.importers.values import written


@dataclass(kw_only=True)
class _Card:
    """One card that is being written."""

    card: dict[str, JSON]
    version: str
    invented: bool
    members: dict[str, tuple[SkillManifest, dict[str, Any]]] = field(default_factory=dict)


def export_a2a(manifests: Sequence[SkillManifest]) -> Exported:
    """One card, or a list where the skills belong to several: skills that came from a card go back to it, others
    are gathered by namespace and version.

    Raises:
        InvalidRequest: two skills fall on one id of one card, or what a skill keeps of its card is no card.
    """
    cards: dict[str, _Card] = {}
    for manifest in manifests:
        document = manifest.to_document()
        source = _source(manifest, document)
        version = manifest.external_version or manifest.version
        about = source or _invented(manifest.namespace)
        card = cards.setdefault(written([about, version]), _Card(card=about, version=version, invented=source is None))
        identifier = manifest.external_name or manifest.name.rpartition(".")[2]
        if identifier in card.members:
            other = card.members[identifier][0].name
            raise InvalidRequest(
                f"{other} and {manifest.name} both become the skill {shown(identifier)} of one card.",
                fix="Export them apart, or rename one.",
            )
        card.members[identifier] = (manifest, document)
    losses: list[str] = []
    told = [_told(card, losses) for card in cards.values()]
    return Exported(document=told[0] if len(told) == 1 else told, losses=tuple(losses))


def _told(card: _Card, losses: list[str]) -> dict[str, JSON]:
    skills = {identifier: tell_skill(document, identifier) for identifier, (_, document) in card.members.items()}
    about: dict[str, JSON] = card.card
    contracts: dict[str, JSON] = {}
    for _ in range(3):  # our extension changes how the card is read, and so what must be kept
        seen = card_of(about)
        beyond = {
            identifier: kept
            for identifier, (_, document) in card.members.items()
            if (kept := kept_of(skills[identifier], seen, document))
        }
        if written(beyond) == written(contracts):
            break
        contracts = beyond
        about = with_contracts(card.card, contracts)
    if card.invented:
        losses.append(f"{card.card['name']}: the card names no address; fill in supportedInterfaces")
    if not card.version:
        losses.append(f"{card.card['name']}: the card has no version; fill it in")
    for manifest, document in card.members.values():
        if "input_schema" in document or "output_schema" in document:
            losses.append(f"{manifest.name}: a card shows no schemas")
    version = {"version": card.version} if card.version else {}
    return {**about, **version, "skills": list(skills.values())}


def _source(manifest: SkillManifest, document: Mapping[str, Any]) -> dict[str, JSON] | None:
    """The card the skill came from."""
    own = document.get("extensions", {}).get("a2a")
    card = own.get("card") if isinstance(own, Mapping) else None
    if card is None:
        return None
    if (
        not isinstance(card, Mapping)
        or not isinstance(card.get("name"), str)
        or complaint_about(card)
        or card_of(card) != card
    ):
        raise InvalidRequest(
            f"The card {manifest.name} says it came from is none.",
            fix="Correct extensions.a2a.card, or export as native.",
        )
    return dict(card)


def _invented(namespace: str) -> dict[str, JSON]:
    return {
        "name": namespace or "skills",
        "description": f"The skills of {namespace}." if namespace else "Skills.",
        "supportedInterfaces": [],
        "capabilities": {},
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
    }
