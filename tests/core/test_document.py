"""JSON is read strictly, exactly and within bounds, and every fault says where it stands."""

from __future__ import annotations

import json
import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.document import Limits, json_document, read_json
from governance.errors import DocumentTooLarge, GovernanceError, MalformedDocument

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=20,
)


def attempt(data: bytes | str) -> object:
    """The value, or the error."""
    try:
        return read_json(data)
    except GovernanceError as error:
        return error


@given(_VALUES)
def test_what_json_writes_is_read_back_equal(value: object) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_value_or_a_clear_error(data: bytes) -> None:
    outcome = attempt(data)
    if isinstance(outcome, GovernanceError):
        assert outcome.faults
        assert outcome.fix


@given(st.text(alphabet='{}[]",:\\ntrue1e+-. \n', max_size=60))
def test_near_json_is_judged_as_the_standard_parser_judges_it(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=lambda name: pytest.fail(name), parse_float=Decimal)
    except ValueError:
        with pytest.raises((MalformedDocument, DocumentTooLarge)):
            read_json(text)
        return
    outcome = attempt(text)
    match outcome:
        case MalformedDocument():
            assert "twice" in str(outcome)
        case DocumentTooLarge():
            assert outcome.faults[0].code == "number"
        case _:
            assert outcome == expected


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("1", 1),
        ("-0", 0),
        ("1.0", 1.0),
        ("0.1", 0.1),
        ("1e2", 100.0),
        (str(10**400), 10**400),
        ("1e400", Decimal("1e400")),
        ("1e-400", Decimal("1e-400")),
        ("0.1000000000000000055", Decimal("0.1000000000000000055")),
        ("123456789012345678.5", Decimal("123456789012345678.5")),
        ("1.7976931348623157e308", 1.7976931348623157e308),
    ],
)
def test_numbers_keep_their_exact_value(literal: str, value: object) -> None:
    read = read_json(literal)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "pointer", "line", "column", "says"),
    [
        ('{"a": 1,\n "a": 2}', "/a", 2, 2, "twice"),
        ('{"a": [1, {"b": 1, "b": 2}]}', "/a/1/b", 1, 20, "twice"),
        ('{"a": {"x": 1},\n "c": [{"x": 1}, {"x": 1, "x": 1}]}', "/c/1/x", 2, 27, "twice"),
        ('{"a": NaN}', "/a", 1, 7, "NaN"),
        ("[1, -Infinity]", "/1", 1, 5, "-Infinity"),
        ('{"a": "\\ud800"}', "/a", 1, 7, "surrogate"),
        ('{"a~/": ["\\udc00\\ud800"]}', "/a~0~1/0", 1, 10, "surrogate"),
        ('{"tools": [{"name": "x", "inp', "/tools/0/inp", 1, 26, "unterminated"),
        ('{"a": 1', "/a", 1, 8, "ends in the middle"),
        ('{"a": 1} x', "", 1, 10, "extra data"),
        ("", "", 1, 1, "empty"),
        (" \n ", "", 2, 2, "empty"),
        ('{"a": tru}', "/a", 1, 7, "expecting value"),
        ("{'a': 1}", "", 1, 2, "property name"),
        ('["a\tb"]', "/0", 1, 4, "control character"),
    ],
)
def test_what_is_not_strict_json_is_refused_where_it_stands(
    text: str, pointer: str, line: int, column: int, says: str
) -> None:
    with pytest.raises(MalformedDocument) as caught:
        read_json(text, file="tools.json")
    fault = caught.value.faults[0]
    assert says in fault.message
    assert fault.pointer == pointer
    assert fault.place is not None
    assert (fault.place.file, fault.place.line, fault.place.column) == ("tools.json", line, column)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'\xff\xfe{\x00"\x00', "UTF-16"),
        ('{"a": 1}'.encode("utf-16-be"), "UTF-16"),
        ('{"a": 1}'.encode("utf-32"), "UTF-16 or UTF-32"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x03\x80\x81", "binary"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        ('{"a": "\ud800"}'.encode("utf-8", "surrogatepass"), "not UTF-8"),
    ],
)
def test_bytes_that_are_no_utf8_text_are_named_for_what_they_are(data: bytes, says: str) -> None:
    with pytest.raises(MalformedDocument, match=says):
        read_json(data)


def test_text_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(MalformedDocument, match="surrogate"):
        read_json('"\ud800"')


def test_a_byte_order_mark_a_pair_and_nul_are_legal() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00\\u0000"}') == {"a": "\U0001f600\x00"}


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000,
        "[" * 1_000_000,
        "1" * 5_000,
        "1e99999999999",
        "-1.5e-99999",
        "[" + "[]," * 1_000_001 + "1]",
        '"' + '\\"' * 9_000_000,
        "9" * 17_000_000,
    ],
    ids=["deep", "deep-open", "deeper", "digits", "exponent", "small", "many", "long-string", "long-number"],
)
def test_documents_past_a_limit_are_refused_quickly(text: str) -> None:
    began = time.process_time()
    with pytest.raises(DocumentTooLarge):
        read_json(text)
    assert time.process_time() - began < 10


def test_depth_is_told_with_its_place() -> None:
    with pytest.raises(DocumentTooLarge) as caught:
        read_json('{"a": [[[1]]]}', limits=Limits(depth=3))
    assert caught.value.faults[0].pointer == "/a/0/0"
    assert read_json('{"a": [[1], "[[[[{{{{"]}', limits=Limits(depth=3)) == {"a": [[1], "[[[[{{{{"]}


def test_a_pointer_leads_to_line_and_column_or_to_the_nearest_ancestor() -> None:
    document = json_document('{\n "a": [1,\n  {"b/c": 2, "": 3}]}', file="x.json")
    assert str(document.locate("/a/1/b~1c")) == "x.json:3:11"
    assert str(document.locate("/a/1/")) == "x.json:3:18"
    assert str(document.locate("/a/1/none/such")) == "x.json:3:3"
    assert str(document.locate("")) == "x.json:1:1"
