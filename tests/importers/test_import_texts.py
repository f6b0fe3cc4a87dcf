"""YAML and TOML are read as JSON values: strictly, within bounds, and with the way back to line and column."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import DocumentTooLarge, GovernanceError, MalformedDocument
from governance.importers.draft import Source
from governance.importers.toml_text import read_toml
from governance.importers.yaml_text import read_yaml, write_yaml

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["yes", "on", "0o7", "0x1F", "1e3", "007", "1:20", "~", "null", "<<", "=", "2026-01-01", ".inf", "- a", "a: b", "#"]
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(_TEXT, inside, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
def test_what_is_written_as_yaml_is_read_back_equal(value: Any) -> None:
    text = write_yaml(value)
    assert read_yaml(text).value == value


@given(_VALUES)
def test_written_yaml_means_the_same_to_an_ordinary_reader(value: Any) -> None:
    assert yaml.safe_load(write_yaml(value)) == value


@given(st.text(max_size=80))
def test_any_text_is_a_value_or_a_located_error(text: str) -> None:
    for read in (read_yaml, read_toml):
        outcome = attempt(read, text)
        if isinstance(outcome, GovernanceError):
            assert outcome.faults[0].place is not None
            assert outcome.fix


def attempt(read: Any, text: str) -> Any:
    try:
        return read(text)
    except GovernanceError as error:
        return error


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("yes", "yes"),
        ("Off", "Off"),
        ("2026-11-30", "2026-11-30"),
        ("12:30:45", "12:30:45"),
        ("0123", "0123"),
        ("1_000", "1_000"),
        ("1.10", 1.1),
        ("0x1F", 31),
        ("0o17", 15),
        ("1e400", Decimal("1e400")),
        ("TRUE", True),
        ("~", None),
        ("'yes'", "yes"),
        ('"1"', "1"),
        ("-", "-"),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(scalar: str, value: object) -> None:
    if scalar == "-":
        assert read_yaml('a: "-"').value == {"a": value}
        return
    read = read_yaml(f"a: {scalar}").value["a"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "pointer", "place", "says"),
    [
        ("a: &x 1\n", "/a", "f:1:4", "anchors"),
        ("a: *x\n", "/a", "f:1:4", "aliases"),
        ("a: !!python/object:os.system x\n", "/a", "f:1:4", "tags"),
        ("a: !!str 1\n", "/a", "f:1:4", "tags"),
        ("a:\n  <<: {b: 1}\n", "/a", "f:2:3", "merge"),
        ("a: 1\nb: 2\na: 3\n", "/a", "f:3:1", "twice"),
        ("a: .nan\n", "/a", "f:1:4", "no JSON number"),
        ("? [1]\n: 2\n", "", "f:1:3", "a key must be text"),
        ("a: b: c\n", "/a", "f:1:5", "mapping values"),
        ("a: [1, 2\n", "/a/1", "f:2:1", "did not find"),
        ("a: \x01\n", "", "f:1", "control characters"),
        ("", "", "f:1", "empty"),
        ("# nothing\n", "", "f:1", "empty"),
        ("a: " + "9" * 5000, "/a", "f:1:4", "digits"),
    ],
)
def test_yaml_beyond_json_is_refused_where_it_stands(text: str, pointer: str, place: str, says: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        read_yaml(text, file="f")
    fault = caught.value.faults[0]
    assert says in fault.message
    assert fault.pointer == pointer
    assert str(fault.place) == place


_BOMB = "a: &a [x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)},*{chr(97 + i)}]\n" for i in range(20))


@pytest.mark.parametrize(
    "text",
    [_BOMB, "[" * 10_000, "{a: " * 10_000, "- " * 10_000 + "x", "- a\n" * 250_000, "x" * 5_000_000],
    ids=["bomb", "flow", "mappings", "block", "many", "long"],
)
def test_yaml_bombs_are_refused_quickly(text: str) -> None:
    began = time.process_time()
    with pytest.raises((MalformedDocument, DocumentTooLarge)):
        read_yaml(text)
    assert time.process_time() - began < 10


def test_several_yaml_documents_are_a_list() -> None:
    document = read_yaml("a: 1\n---\nb:\n  - 2\n", file="f")
    assert document.value == [{"a": 1}, {"b": [2]}]
    assert str(document.locate("/1/b/0")) == "f:4:5"


def test_a_yaml_pointer_leads_to_its_line() -> None:
    document = read_yaml("a: 1\nb:\n  - x\n  - y: 2\n", file="f", first_line=10)
    assert str(document.locate("/b/1/y")) == "f:13:8"
    assert str(document.locate("/b/1/none")) == "f:13:5"
    assert str(document.locate("")) == "f:10:1"


def test_toml_becomes_json_values() -> None:
    text = "a = 1.10\nb = 2026-11-30\nc = 0.1000000000000000055\n[d]\ne = [{f = 1979-05-27T07:32:00Z}]\n"
    assert read_toml(text).value == {
        "a": 1.1,
        "b": "2026-11-30",
        "c": Decimal("0.1000000000000000055"),
        "d": {"e": [{"f": "1979-05-27T07:32:00+00:00"}]},
    }


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("a = 1\na = 2\n", "f:2:6", "overwrite"),
        ("a = [1\n", "f:2", "unclosed"),
        ("a = nan\n", "f", "no JSON number"),
        ("a = " + "1" * 5000, "f", "too long"),
        ("a = 1e99999", "f", "too long"),
    ],
)
def test_broken_toml_is_refused(text: str, place: str, says: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        read_toml(text, file="f")
    assert says in caught.value.faults[0].message
    assert str(caught.value.faults[0].place).startswith(place)


@pytest.mark.parametrize("text", ["a = " + "[" * 10_000, "a = " + "[" * 200 + "]" * 200, "a = 1\n" * 200_000])
def test_toml_past_a_limit_is_refused(text: str) -> None:
    with pytest.raises((DocumentTooLarge, MalformedDocument)):
        read_toml(text)


def test_a_toml_pointer_leads_to_the_line_of_its_key() -> None:
    document = read_toml(
        'name = "a"\n\n[input_schema]\ntype = "object"\n[input_schema.properties.x]\ntype = 1\n', file="f"
    )
    assert str(document.locate("/input_schema/properties/x/type")) == "f:6"
    assert str(document.locate("/input_schema/type/0")) == "f:4"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ('{"a": 1}', "json"),
        ('\n\n [{"a": 1}]', "json"),
        ("[1, 2]", "json"),
        ("# comment\n[skill]\nname = 'a'\n", "toml"),
        ("name = 'a'\n", "toml"),
        ('"na.me" = 1\n', "toml"),
        ("name: a = b\n", "yaml"),
        ("- a\n", "yaml"),
        ("---\na: 1\n", "yaml"),
    ],
)
def test_the_format_is_told_by_content(text: str, format: str) -> None:
    assert Source.of(text).format == format
