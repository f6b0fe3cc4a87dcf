"""Subjects of a schema registry become skills where they are JSON Schema; the rest is refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated_tools import JSON
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft7Validator

from governance.core.compat.engine import check
from governance.importers import ImportResult, import_paths, import_text

SHOP = Path(__file__).parent.parent / "data" / "subjects" / "shop.json"
OBJECT = {"type": "object"}


def row(schema: Any = OBJECT, **more: Any) -> dict[str, Any]:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return {"subject": "a", "version": 1, "schemaType": "JSON", "schema": text, **more}


def read(value: Any) -> ImportResult:
    return import_text(json.dumps(value, indent=1), file="subjects.json")


def test_a_list_of_subjects_is_read_and_what_is_no_json_schema_is_refused() -> None:
    result = import_paths([SHOP])
    assert [(skill.name, skill.external_name, skill.version, skill.external_version) for skill in result.accepted] == [
        ("shop_money_value", "shop-money-value", "1.0.0", "1"),
        ("shop_orders_value", "shop-orders-value", "1.0.0", "1"),
        ("shop_orders_value", "shop-orders-value", "2.0.0", "2"),
    ]
    assert [(refused.name, refused.error.faults[0].code) for refused in result.refused] == [
        ("shop-orders-key", "object-root"),
        ("shop-clicks-value", "schema-type"),
        ("shop-stock-value", "schema-type"),
    ]
    assert all(refused.error.faults[0].place for refused in result.refused)
    first, second = result.accepted[1:]
    assert (first.title, first.description) == (None, "Order placed")
    assert (second.title, second.description) == ("Order placed", "A customer has placed an order.")
    assert second.extensions["subjects"]["metadata"] == {"properties": {"team": "orders"}}


def test_references_are_bundled_under_the_name_they_are_called_by() -> None:
    second = import_paths([SHOP]).accepted[2]
    money = second.input_schema["definitions"]["money.json"]
    assert money["$id"] == "money.json"
    assert money["properties"]["currency"] == {"$ref": "#/definitions/code"}
    validator = Draft7Validator(second.input_schema)
    assert validator.is_valid({"id": "o-1", "total": {"amount": "12", "currency": "EUR"}})
    assert not validator.is_valid({"id": "o-1", "total": {"amount": "12", "currency": "USD"}})


def test_two_versions_of_a_subject_are_compared_as_any_skill() -> None:
    first, second = import_paths([SHOP]).accepted[1:]
    assert check(first, second).verdict.value == "compatible"
    assert check(second, first).verdict.value == "risky"  # a field that is ignored from now on


@pytest.mark.parametrize(
    "value", [row(), [row()], {"schemas": [row()]}, {"subjects": [row(OBJECT) | {"schema": OBJECT}]}]
)
def test_every_way_to_list_subjects_gives_the_same_skill(value: Any) -> None:
    result = read(value)
    assert not result.refused
    (skill,) = result.accepted
    assert skill.input_schema == {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
    assert skill.contract_digest == read(row(id=77, guid="x", ts=3)).accepted[0].contract_digest
    assert skill.extensions == {}


def test_a_dialect_that_is_written_stays() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    assert read(row(schema)).accepted[0].input_schema == schema


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row(schemaType="AVRO"), "AVRO"),
        (row(schemaType=None), "Avro"),
        (row(schemaType=7), "only JSON Schema"),
        (row("{"), "cannot be read"),
        (row('{"a": 1, "a": 2}'), "stands twice"),
        (row('{"type": "objekt"}'), "objekt"),
        (row("[]"), "a schema is an object or a boolean"),
        (row(deleted=True), "deleted"),
        (row(references=[{"name": "x", "subject": "missing", "version": 1}]), "does not stand here"),
        (row(references=[{"name": "x", "subject": [], "version": {}}]), "does not stand here"),
        (row(references=7), "list of"),
        (row({"$ref": "other.json"}), "other.json"),
        (row("[" * 500), "cannot be read"),
        ({"subject": "x"}, "subject and schema"),
        (7, "subject and schema"),
    ],
)
def test_one_bad_subject_hides_no_other_and_is_located(bad: Any, message: str) -> None:
    good = row(subject="good")
    result = read([bad, good])
    assert [skill.name for skill in result.accepted] == ["good"]
    (refused,) = result.refused
    assert message in str(refused.error)
    place = refused.error.faults[0].place
    assert place is not None
    assert place.line is not None


def test_references_may_go_far_and_in_circles() -> None:
    def refers(name: str, to: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"next": {"$ref": to}}}
        return row(schema, subject=name, references=[{"name": to, "subject": to, "version": -1}])

    result = read([refers("a", "b"), refers("b", "c"), refers("c", "b")])
    assert not result.refused
    assert list(result.accepted[0].input_schema["definitions"]) == ["b", "c"]


def test_one_name_for_two_schemas_is_refused() -> None:
    inner = row(subject="b", references=[{"name": "x", "subject": "c", "version": 1}])
    outer = row(references=[{"name": "x", "subject": "b", "version": 1}])
    result = read([outer, inner, row(subject="c")])
    assert "two different schemas" in str(result.refused[0].error)
    assert len(result.accepted) == 2


def test_a_reference_into_another_dialect_is_refused() -> None:
    other = row({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}, subject="b")
    result = read([row(references=[{"name": "b", "subject": "b", "version": 1}]), other])
    assert "another dialect" in str(result.refused[0].error)


def test_subjects_that_all_carry_a_great_schema_are_refused_past_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.importers.subjects.MAX_BUNDLED", 2_000)
    great = row({"type": "object", "enum": [{"n": n} for n in range(300)]}, subject="great")
    users = [row(subject=f"u{n}", references=[{"name": "g", "subject": "great", "version": 1}]) for n in range(9)]
    result = read([great, *users])
    assert 1 < len(result.accepted) < 9
    assert result.refused[-1].error.faults[0].code == "size"


_KEYS = st.sampled_from(["subject", "version", "schema", "schemaType", "references", "name", "deleted", "$ref"])
_ANY = st.recursive(
    JSON | st.sampled_from(["JSON", "good", "{}", '{"type": "object"}', True]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(_KEYS, inside, max_size=5),
    max_leaves=12,
)


@given(st.lists(_ANY, max_size=3), _ANY)
def test_no_list_of_anything_is_more_than_refused(entries: list[Any], references: Any) -> None:
    rows = [row(subject="good"), *entries, row(subject="b", version=2, references=references)]
    result = read(rows)
    named = [skill.name for skill in result.accepted] + [refused.name for refused in result.refused]
    assert "good" in named
