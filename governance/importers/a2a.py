"""A2A agent cards of both generations (``url`` and ``protocolVersion``, or ``supportedInterfaces``): one card, a
list, or ``{"cards": […]}`` of cards bare or under ``card``.

The card's name is the namespace of its skills, its version is theirs. Each skill keeps the rest of the card
under ``extensions.a2a.card``; signatures sign the card as it was and are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from governance.core.compat.model import JSON
from governance.core.document import Document, Locate
from governance.core.fields import kind_of
from governance.core.names import slug
from governance.errors import DocumentTooLarge, Fault, Place
from governance.importers.cards import believed, card_of, complaint_about, contracts_of, read_skill
from governance.importers.draft import SkillDraft, Source
from governance.importers.values import size_of

MAX_COPIED: Final = 1_000_000
"""Values of a card times its skills: each skill keeps the card."""
_MARKS: Final = frozenset(
    {
        "capabilities", "supportedInterfaces", "supported_interfaces", "preferredTransport",
        "defaultInputModes", "default_input_modes", "defaultOutputModes", "default_output_modes", "protocolVersion",
    }
)  # fmt: skip
_LISTS: Final = ("cards", "agents", "agentCards")
_WRAPS: Final = ("card", "agentCard")


class A2aImporter:
    id = "a2a"
    title = "A2A agent card"

    def recognises(self, source: Source) -> bool:
        return any(is_card for _, _, is_card in _cards(source.document.value))

    def drafts(self, source: Source) -> Iterator[SkillDraft]:
        document = source.document
        for pointer, card, is_card in _cards(document.value):
            if is_card:
                yield from _of_card(card, pointer, document)
            else:
                fault = Fault(pointer="", message="this is no agent card: a card has a name and a list of skills")
                yield SkillDraft(
                    document={}, native=False, pointer=pointer, locate=_inside(document, pointer), faults=(fault,)
                )


def _cards(value: JSON) -> list[tuple[str, JSON, bool]]:
    """Pointer, value, and whether it is a card."""
    if _is_card(value):
        return [("", value, True)]
    prefix, listed = "", value
    if isinstance(value, dict):
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        if key is None:
            return [found for found in [_unwrapped("", value)] if found[2]]
        prefix, listed = f"/{key}", value[key]
    if not isinstance(listed, list):
        return []
    return [_unwrapped(f"{prefix}/{index}", item) for index, item in enumerate(listed)]


def _unwrapped(pointer: str, value: JSON) -> tuple[str, JSON, bool]:
    if isinstance(value, dict) and not _is_card(value):
        for key in _WRAPS:
            if _is_card(value.get(key)):
                return f"{pointer}/{key}", value[key], True
    return pointer, value, _is_card(value)


def _is_card(value: JSON) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("skills"), list)
        and isinstance(value.get("name"), str)
        and not _MARKS.isdisjoint(value)
    )


def _of_card(card: Mapping[str, JSON], pointer: str, document: Document) -> Iterator[SkillDraft]:
    kept, contracts = card_of(card), contracts_of(card)
    _refuse_copies(kept, len(card["skills"]), pointer, document)
    version = card.get("version")
    warnings: tuple[Fault, ...] = ()
    if card.get("signatures"):
        message = "signatures are not kept: they sign the card as it is, and end with it"
        place = document.locate(f"{pointer}/signatures")
        warnings = (Fault(pointer=f"{pointer}/signatures", message=message, code="signatures", place=place),)
    for index, skill in enumerate(card["skills"]):
        draft = _draft(skill, kept, contracts, f"{pointer}/skills/{index}", pointer, document)
        yield replace(
            draft,
            namespace=slug(card["name"]) if card["name"] else "",
            external_version=version if isinstance(version, str) and version else None,
            warnings=(*warnings, *draft.warnings),
        )
        warnings = ()


def _draft(
    skill: JSON,
    card: Mapping[str, JSON],
    contracts: Mapping[str, JSON],
    pointer: str,
    card_pointer: str,
    document: Document,
) -> SkillDraft:
    here = _locator(document.locate, pointer, card_pointer)
    if not isinstance(skill, Mapping):
        fault = Fault(pointer="", message=f"a skill is an object, not {kind_of(skill)}")
        return SkillDraft(document={}, native=False, pointer=pointer, locate=here, faults=(fault,))
    reading = read_skill(skill, card)
    if complaint := complaint_about(card):
        reading.faults.append(Fault(pointer="/extensions/a2a/card/capabilities", message=complaint))
    identifier = skill.get("id")
    if isinstance(identifier, str) and identifier in contracts:
        reading = believed(skill, card, contracts[identifier], reading)
    if not isinstance(identifier, str) or not identifier:
        reading.faults.insert(0, Fault(pointer="/name", message="a skill has an id", code="missing"))
        identifier = ""
    return SkillDraft(
        document=reading.fields,
        native=False,
        external_name=identifier,
        defaulted=reading.defaulted,
        pointer=pointer,
        locate=here,
        warnings=tuple(replace(warning, place=here(warning.pointer)) for warning in reading.warnings),
        faults=tuple(reading.faults),
    )


def _locator(locate: Locate, pointer: str, card_pointer: str) -> Locate:
    """From pointers into the native fields to places of the skill and the card they came from."""

    def find(field: str) -> Place | None:
        if field.startswith("/extensions/a2a/card"):
            return locate(card_pointer + field.removeprefix("/extensions/a2a/card"))
        if field.startswith("/name"):
            return locate(f"{pointer}/id")
        if field.startswith("/title"):
            return locate(f"{pointer}/name")
        return locate(pointer + field.removeprefix("/extensions/a2a").removesuffix("/input"))

    return find


def _inside(document: Document, pointer: str) -> Locate:
    return lambda field: document.locate(pointer + field)


def _refuse_copies(card: JSON, skills: int, pointer: str, document: Document) -> None:
    nodes = size_of(card)
    if nodes * skills > MAX_COPIED:
        message = f"a card of {nodes:,} values with {skills:,} skills, each of which keeps the card, is too much"
        place = document.locate(pointer)
        fault = Fault(pointer=pointer, message=message, code="size", place=place)
        raise DocumentTooLarge(f"{place}: {message}.", fix="Split the card by its skills.", faults=[fault])


AGENT_CARDS: Final = A2aImporter()
