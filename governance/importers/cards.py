"""The skill of an agent card as the fields of a native manifest, and back.

A card says what an agent is good at, in words, and holds no schemas: its skills are knowledge skills whose text
is their contract. What a card has no words for travels in an extension of its capabilities (the place A2A
gives for that) and is believed only where exporting it gives the very same skill.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from governance.core.compat.model import JSON
from governance.core.contract import OUTSIDE_CONTRACT
from governance.core.fields import kind_of
from governance.core.names import shown
from governance.errors import Fault
from governance.importers.tools import ToolReading
from governance.importers.values import same

EXTENSION: Final = "urn:skill-governance:contract"
"""The URI of the capability extension whose ``params.contracts`` hold, by skill id, what a card cannot say."""

_UNDERSTOOD: Final = frozenset({"id", "name", "description", "tags", "examples"})
_OF_THE_RELEASE: Final = frozenset({"skills", "version", "signatures"})
"""What says nothing about one skill: signatures sign the whole card and end with it."""


def card_of(card: Mapping[str, JSON]) -> dict[str, JSON]:
    """The card as each of its skills keeps it: without the skills, the version, the signatures and our words."""
    kept = {key: value for key, value in card.items() if key not in _OF_THE_RELEASE}
    capabilities = kept.get("capabilities")
    if isinstance(capabilities, Mapping) and _ours(capabilities):
        listed = [item for item in capabilities["extensions"] if not _is_ours(item)]
        rest = {key: value for key, value in capabilities.items() if key != "extensions"}
        kept["capabilities"] = {**rest, **({"extensions": listed} if listed else {})}
    return kept


def complaint_about(card: Mapping[str, JSON]) -> str:
    """What keeps our extension from standing in a card, or nothing."""
    capabilities = card.get("capabilities", {})
    if not isinstance(capabilities, Mapping):
        return f"the capabilities of a card are an object, not {kind_of(capabilities)}"
    if not isinstance(capabilities.get("extensions", []), list):
        return f"the extensions of a card are a list, not {kind_of(capabilities['extensions'])}"
    return ""


def contracts_of(card: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """What our extension of the card holds, by skill id."""
    capabilities = card.get("capabilities")
    for item in _ours(capabilities) if isinstance(capabilities, Mapping) else ():
        params = item.get("params")
        contracts = params.get("contracts") if isinstance(params, Mapping) else None
        if isinstance(contracts, Mapping):
            return contracts
    return {}


def with_contracts(card: Mapping[str, JSON], contracts: Mapping[str, JSON]) -> dict[str, JSON]:
    """The card with our extension, or as it is when there is nothing to say. No complaint_about the card."""
    if not contracts:
        return dict(card)
    rest = dict(card.get("capabilities", {}))
    ours: dict[str, JSON] = {
        "uri": EXTENSION,
        "description": "What the contracts of these skills promise beyond the card.",
        "required": False,
        "params": {"contracts": dict(contracts)},
    }
    rest["extensions"] = [*rest.get("extensions", []), ours]
    return {**card, "capabilities": rest}


def read_skill(skill: Mapping[str, JSON], card: Mapping[str, JSON]) -> ToolReading:
    """One skill of a card as fields of a native manifest. ``card`` is :func:`card_of` the card."""
    rest: dict[str, JSON] = {key: value for key, value in skill.items() if key not in _UNDERSTOOD}
    fields: dict[str, JSON] = {"category": "knowledge"}
    faults: list[Fault] = []
    for key, field in (("name", "title"), ("description", "description")):
        if skill.get(key) is not None:
            fields[field] = skill[key]
    description = skill.get("description")
    if description is None or (isinstance(description, str) and not description.strip()):
        message = "the description is all that an agent's skill promises, and it is missing"
        faults.append(Fault(pointer="/description", message=message, code="missing"))
    tags = skill.get("tags")
    if isinstance(tags, list):
        found = [tag.strip() if isinstance(tag, str) else tag for tag in tags]
        fields |= {"tags": [tag for tag in found if tag != ""]} if found else {}
    elif tags is not None:
        faults.append(Fault(pointer="/tags", message=f"a list of tags is expected, not {kind_of(tags)}"))
    examples = skill.get("examples")
    if isinstance(examples, list) and all(isinstance(text, str) for text in examples):
        fields |= {"examples": [{"input": text} for text in examples]} if examples else {}
    elif examples is not None:
        rest["examples"] = examples
    fields["extensions"] = {"a2a": {**rest, "card": dict(card)}}
    return ToolReading(fields=fields, defaulted=frozenset({"timeout_sec", "compatibility"}), faults=faults)


def tell_skill(document: Mapping[str, JSON], identifier: str) -> dict[str, JSON]:
    """The skill object for a native document. Any JSON is taken; :func:`kept_of` finds what it does not say."""
    title, description = document.get("title"), document.get("description")
    skill: dict[str, JSON] = {
        "id": identifier,
        "name": title if isinstance(title, str) and title else identifier,
        "description": description if isinstance(description, str) and description.strip() else identifier,
        "tags": document.get("tags") or [],
    }
    examples = document.get("examples")
    if isinstance(examples, list) and all(_is_text(example) for example in examples) and examples:
        skill["examples"] = [example["input"] for example in examples]
    extensions = document.get("extensions")
    own = extensions.get("a2a") if isinstance(extensions, Mapping) else None
    spread = {key: value for key, value in own.items() if key != "card"} if isinstance(own, Mapping) else {}
    return skill | spread if {*_UNDERSTOOD - {"examples"}, *skill}.isdisjoint(spread) else skill


def kept_of(skill: Mapping[str, JSON], card: Mapping[str, JSON], document: Mapping[str, JSON]) -> dict[str, JSON]:
    """What reading the skill would not give back: fields of the document, null for those it has not."""
    read = read_skill(skill, card).fields
    fields = (document.keys() | read.keys()) - OUTSIDE_CONTRACT
    return {field: document.get(field) for field in sorted(fields) if not same(document.get(field), read.get(field))}


def believed(skill: Mapping[str, JSON], card: Mapping[str, JSON], kept: JSON, reading: ToolReading) -> ToolReading:
    """The reading with what the extension says of the skill, if telling that gives the skill again."""
    if isinstance(kept, Mapping) and OUTSIDE_CONTRACT.isdisjoint(kept):
        fields = {field: value for field, value in {**reading.fields, **kept}.items() if value is not None}
        if same(tell_skill(fields, str(skill.get("id"))), dict(skill)) and _same_card(fields, card):
            return ToolReading(
                fields=fields,
                defaulted=(reading.defaulted | {"description", "input_schema", "output_schema"}) - fields.keys(),
                warnings=reading.warnings,
                faults=[fault for fault in reading.faults if fault.pointer[1:] not in kept],
            )
    message = f"what the card's extension says of {shown(skill.get('id'))} does not give this skill: the skill counts"
    reading.warnings.append(Fault(pointer="", message=message, code="kept"))
    return reading


def _same_card(fields: Mapping[str, JSON], card: Mapping[str, JSON]) -> bool:
    extensions = fields.get("extensions")
    own = extensions.get("a2a") if isinstance(extensions, Mapping) else None
    said = own.get("card") if isinstance(own, Mapping) else None
    if not isinstance(said, Mapping):
        return True
    return same(_without_empty(said), _without_empty(card))


def _without_empty(card: Mapping[str, JSON]) -> dict[str, JSON]:
    """No extensions are an empty list of them, and no capabilities an empty object."""
    capabilities = card.get("capabilities", {})
    if not isinstance(capabilities, Mapping):
        return dict(card)
    kept = {key: value for key, value in capabilities.items() if key != "extensions" or value != []}
    rest = {key: value for key, value in card.items() if key != "capabilities"}
    return {**rest, **({"capabilities": kept} if kept else {})}


def _is_text(example: JSON) -> bool:
    return isinstance(example, Mapping) and example.keys() == {"input"} and isinstance(example["input"], str)


def _ours(capabilities: Mapping[str, JSON]) -> list[Mapping[str, JSON]]:
    listed = capabilities.get("extensions")
    return [item for item in listed if _is_ours(item)] if isinstance(listed, list) else []


def _is_ours(item: JSON) -> bool:
    return isinstance(item, Mapping) and item.get("uri") == EXTENSION
