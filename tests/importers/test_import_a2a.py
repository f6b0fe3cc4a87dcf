"""Agent cards of both generations become knowledge skills and go back to cards with every contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated_tools import JSON, NATIVE, TEXT, TOOLS
from hypothesis import given
from hypothesis import strategies as st

from governance.core.contract import Category, Example, manifest_from_document
from governance.errors import DocumentTooLarge, InvalidRequest, NameCollision
from governance.importers import ImportResult, import_paths, import_text
from governance.importers.cards import EXTENSION
from governance.importers.export_a2a import export_a2a

CARDS = Path(__file__).parent.parent / "data" / "catalogues" / "a2a_agent_cards.json"
SKILL = {
    "id": "plan_trip",
    "name": "Plan a trip",
    "description": "Plans trips by train, hotel included.",
    "tags": ["travel", " rail "],
    "examples": ["Three days in Lyon, by train"],
    "inputModes": ["text/plain"],
}
OLD = {
    "name": "Trip Agent",
    "description": "Plans trips.",
    "url": "https://agents.example.com/trips",
    "protocolVersion": "0.3.0",
    "version": "v2.1",
    "capabilities": {"streaming": True},
    "skills": [SKILL],
}
NEW = {
    "name": "Trip Agent",
    "description": "Plans trips.",
    "supportedInterfaces": [{"url": "https://agents.example.com/trips", "protocolBinding": "JSONRPC"}],
    "version": "2.1.0",
    "capabilities": {"extensions": []},
    "skills": [SKILL],
    "signatures": [{"protected": "e30", "signature": "x"}],
}

_SKILLS: Any = st.fixed_dictionaries(
    {"id": TEXT.filter(bool), "description": TEXT.map(lambda text: f"Does {text}")},
    optional={
        "name": TEXT,
        "tags": st.lists(st.sampled_from(["a", "b"]), max_size=2),
        "examples": st.lists(TEXT, max_size=2) | JSON,
        "inputModes": JSON,
        "card": JSON,
        "more": JSON,
    },
)
_CARDS: Any = st.fixed_dictionaries(
    {"name": TEXT, "skills": st.lists(_SKILLS, max_size=2, unique_by=lambda skill: str(skill["id"]))},
    optional={
        "capabilities": st.just({"extensions": []}) | st.just({"streaming": True}) | JSON,
        "version": st.just("1.0"),
        "more": JSON,
    },
).map(lambda card: {"protocolVersion": "0.3.0", **card})


def read(value: Any, **options: Any) -> ImportResult:
    return import_text(json.dumps(value, indent=1), file="card.json", **options)


def test_real_cards_are_read_and_two_cards_of_one_agent_are_told_apart_by_nobody() -> None:
    result = import_paths([CARDS])
    assert [f"{skill.name}@{skill.version}" for skill in result.accepted] == [
        "air_ticketing_agent.book_air_tickets@1.0.0",
        "car_rental_agent.book_cars@1.0.0",
        "hotel_booking_agent.book_accommodation@1.0.0",
        "orchestrator_agent.executor@1.0.0",
        "langraph_planner_agent.planner@1.0.0",
    ]
    assert {item.importer for item in result.imported} == {"a2a"}
    assert [type(refused.error) for refused in result.refused] == [NameCollision, NameCollision]
    assert len({refused.origin.line for refused in result.refused}) == 2


def test_every_real_card_alone_is_read_and_comes_back() -> None:
    for entry in json.loads(CARDS.read_text())["cards"]:
        result = read(entry["card"])
        assert len(result.accepted) == len(entry["card"]["skills"])
        exported = export_a2a(list(result.accepted))
        for skill in entry["card"]["skills"]:
            skill["tags"].sort()  # a set
        assert exported.document == entry["card"]
        assert exported.losses == ()


@pytest.mark.parametrize("card", [OLD, NEW], ids=["0.3", "1.0"])
def test_name_text_tags_and_examples_of_a_skill_are_kept(card: dict[str, Any]) -> None:
    (skill,) = read(card).accepted
    assert (skill.name, skill.external_name, skill.version) == ("trip_agent.plan_trip", "plan_trip", "2.1.0")
    assert (skill.title, skill.description) == ("Plan a trip", "Plans trips by train, hotel included.")
    assert skill.tags == ("rail", "travel")
    assert skill.examples == (Example(input="Three days in Lyon, by train"),)
    assert skill.category is Category.KNOWLEDGE
    assert skill.input_schema is None
    assert skill.extensions["a2a"]["inputModes"] == ["text/plain"]
    assert skill.extensions["a2a"]["card"]["name"] == "Trip Agent"
    assert {"skills", "version", "signatures"}.isdisjoint(skill.extensions["a2a"]["card"])


@pytest.mark.parametrize(
    "value",
    [OLD, [OLD], {"cards": [OLD]}, {"agents": [{"card": OLD}]}, {"agentCard": OLD}],
    ids=["one", "list", "cards", "wrapped", "one wrapped"],
)
def test_every_way_to_write_cards_gives_the_same_skill(value: Any) -> None:
    assert read(value).accepted[0].manifest_digest == read(OLD).accepted[0].manifest_digest


def test_signatures_are_dropped_with_a_located_warning() -> None:
    (warning,) = read(NEW).warnings
    assert (warning.pointer, warning.code) == ("/signatures", "signatures")
    assert warning.place is not None
    assert read(OLD).warnings == ()


@pytest.mark.parametrize(
    ("bad", "pointer"),
    [
        (7, ""),
        ({"description": "Has no id."}, "/name"),
        ({"id": "x"}, "/description"),
        ({"id": "x", "description": " "}, "/description"),
        ({"id": "x", "description": "D.", "tags": "t"}, "/tags"),
        ({"id": "x", "description": "D.", "tags": [1]}, "/tags/0"),
        ({"id": "x", "description": "D.", "name": []}, "/title"),
    ],
)
def test_one_bad_skill_hides_no_other(bad: Any, pointer: str) -> None:
    result = read({**OLD, "skills": [bad, SKILL]})
    assert [skill.name for skill in result.accepted] == ["trip_agent.plan_trip"]
    (refused,) = result.refused
    fault = refused.error.faults[0]
    assert fault.pointer == pointer
    assert fault.place is not None
    assert fault.place.line is not None


def test_what_is_no_card_hides_no_card() -> None:
    result = read([OLD, {"name": "x"}, 3])
    assert len(result.accepted) == 1
    assert len(result.refused) == 2


def test_a_card_too_large_to_be_kept_by_each_of_its_skills_is_refused() -> None:
    skills = [{**SKILL, "id": f"s{index}"} for index in range(2_000)]
    result = read({**OLD, "skills": skills, "more": [0] * 1_000})
    assert isinstance(result.refused[0].error, DocumentTooLarge)


@given(_CARDS)
def test_a_card_comes_back_with_every_contract(card: dict[str, Any]) -> None:
    skills = list(read(card).accepted)
    if not skills:
        return
    result = read(export_a2a(skills).document)
    assert not result.refused
    assert [skill.contract_digest for skill in result.accepted] == [skill.contract_digest for skill in skills]
    assert [skill.name for skill in result.accepted] == [skill.name for skill in skills]


@given(NATIVE)
def test_a_native_skill_keeps_its_contract_through_a_card(document: dict[str, Any]) -> None:
    skill = manifest_from_document(document)
    exported = export_a2a([skill])
    result = read(exported.document)
    assert not result.warnings
    (again,) = result.accepted
    assert again.contract_digest == skill.contract_digest
    assert again.name == skill.name
    assert "a.b: a card shows no schemas" in exported.losses


@given(TOOLS)
def test_an_imported_tool_keeps_its_contract_through_a_card(tool: dict[str, Any]) -> None:
    for skill in import_text(json.dumps([tool]), version="1.0.0").accepted:
        (again,) = read(export_a2a([skill]).document).accepted
        assert again.contract_digest == skill.contract_digest


@pytest.mark.parametrize(
    "kept",
    [
        {"description": "Obey."},
        {"title": "Other"},
        {"examples": [{"input": "x"}]},
        {"owner": "me"},
        {"version": "9.0.0"},
        {"extensions": {"a2a": {"inputModes": ["text/plain"], "card": {**OLD, "description": "Obey."}}}},
        "x",
    ],
)
def test_an_extension_cannot_say_something_else_than_the_skill(kept: Any) -> None:
    tagged = {**SKILL, "tags": ["travel"]}
    ours = {"uri": EXTENSION, "params": {"contracts": {"plan_trip": kept}}}
    card = {**OLD, "skills": [tagged], "capabilities": {"streaming": True, "extensions": [ours]}}
    result = read(card)
    assert result.accepted[0].to_document() == read({**OLD, "skills": [tagged]}).accepted[0].to_document()
    assert [warning.code for warning in result.warnings] == ["kept"]


def test_skills_of_several_cards_go_back_to_theirs() -> None:
    other = {**NEW, "name": "Other Agent", "signatures": []}
    skills = list(read([OLD, other]).accepted)
    document = export_a2a(skills).document
    assert [card["name"] for card in document] == ["Trip Agent", "Other Agent"]
    assert [card["version"] for card in document] == ["v2.1", "2.1.0"]


def test_two_skills_on_one_id_are_refused() -> None:
    skill = read(OLD).accepted[0]
    with pytest.raises(InvalidRequest, match="both become"):
        export_a2a([skill, skill])


@given(st.lists(JSON | _SKILLS, max_size=3), JSON, JSON)
def test_no_card_of_anything_is_more_than_refused(skills: list[Any], capabilities: Any, more: Any) -> None:
    ours = {"extensions": [{"uri": EXTENSION, "params": more}, capabilities]}
    for about in (capabilities, ours):
        result = read({"name": "x", "skills": skills, "capabilities": about, "url": more, "protocolVersion": 1})
        assert len(result.imported) + len(result.refused) == len(skills)


def test_a_person_with_skills_is_no_agent() -> None:
    result = read({"name": "Jo", "url": "https://jo.example", "skills": ["python"]})
    assert "no skill here" in str(result.refused[0].error)
