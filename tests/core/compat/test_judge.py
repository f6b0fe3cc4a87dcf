"""The judge reads schemas as written, and patterns as ECMA-262 means them."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.engine import check_schemas
from governance.core.compat.judge import Judge, confirmed
from governance.core.compat.model import Side, Verdict


def judge(schema: Any) -> Judge:
    return Judge(schema, assert_formats=False)


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ("^[^]$", "\n", ""),
        (r"^[\w-.]$", "-", "+"),
        (r"^\uD83D\uDE00$", "😀", "a"),
        ("^{a}$", "{a}", "a"),
        (r"^\<$", "<", ""),
        (r"^\>$", ">", "a"),
        (r"a\b", "aé", "ab"),
        (r"^\0$", "\0", "0"),
        ("^(?!b).$", "a", "\u2028"),
    ],
)
def test_a_pattern_means_what_ecma_262_says(pattern: str, accepted: str, refused: str) -> None:
    for schema, wrap in (
        ({"pattern": pattern}, lambda text: text),
        ({"patternProperties": {pattern: True}, "additionalProperties": False}, lambda text: {text: 1}),
        ({"properties": {"pattern": {"items": {"pattern": pattern}}}}, lambda text: {"pattern": [text]}),
        ({"$ref": "#/$defs/pattern", "$defs": {"pattern": {"pattern": pattern}}}, lambda text: text),
        ({"anyOf": [False, {"not": {"not": {"pattern": pattern}}}]}, lambda text: text),
    ):
        assert judge(schema).accepts(wrap(accepted)) is True, schema
        assert judge(schema).accepts(wrap(refused)) is False, schema


@pytest.mark.parametrize("draft", [6, 7])
def test_content_is_described_and_not_asserted(draft: int) -> None:
    content = {"contentEncoding": "base64", "contentMediaType": "application/json"}
    schema = {"$schema": f"http://json-schema.org/draft-0{draft}/schema#", "type": "string", **content}
    assert judge(schema).accepts("no base64") is True
    named = {"properties": {"contentEncoding": {"type": "string"}}}
    assert judge(named).accepts({"contentEncoding": 3}) is False
    assert check_schemas(schema, {"type": "string"}, side=Side.OUTPUT).verdict is Verdict.COMPATIBLE


def test_data_that_looks_like_a_pattern_is_left_alone() -> None:
    for keyword, value in (("const", {"pattern": r"\<"}), ("enum", [{"pattern": r"\<"}])):
        assert judge({keyword: value}).accepts({"pattern": r"\<"}) is True


def test_a_property_called_patternProperties_is_a_property() -> None:
    schema = {"properties": {"patternProperties": {"required": [r"\<"]}}}
    assert judge(schema).accepts({"patternProperties": {r"\<": 1}}) is True


def test_two_spellings_of_one_pattern_keep_a_schema_each() -> None:
    schema = {"patternProperties": {r"^\<$": {"type": "integer"}, r"^[<]$(?!a)": {"minimum": 3}, r"^\u{3C}$": True}}
    assert judge(schema).accepts({"<": 3}) is True
    assert judge(schema).accepts({"<": 2}) is False
    assert judge(schema).accepts({"<": "x"}) is False


def test_a_reference_through_a_patterns_name_still_leads_somewhere() -> None:
    schema = {
        "patternProperties": {r"^a\b": {"type": "integer"}},
        "properties": {"other": {"$ref": "#/patternProperties/%5Ea%5Cb"}},
    }
    assert judge(schema).accepts({"other": 1}) is True
    assert judge(schema).accepts({"other": "1"}) is False


def test_complaints_quote_the_pattern_as_it_was_written() -> None:
    (complaint,) = judge({"pattern": r"^[\w-.]$"}).complaints("!")
    assert complaint.message == r'"!" does not match "^[\w-.]$"'
    assert complaint.keyword == "pattern"
    (complaint,) = judge({"pattern": "^(?<n>b)$"}).complaints("^b$")
    assert complaint.message == '"^b$" does not match "^(?<n>b)$"'


def test_a_pattern_that_the_validator_gives_up_on_confirms_no_payload() -> None:
    catastrophe = judge({"pattern": "^(?=a)(a|a)*$(?<=b)"})
    assert catastrophe.accepts("a" * 40) is False
    assert confirmed(Side.INPUT, "a" * 40, sender=judge(True), receiver=catastrophe) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"pattern": "^[^]$"}, {"pattern": r"^[\w-.]$"}),
        ({"pattern": r"\bé"}, {"pattern": "^x"}),
        ({"type": "string"}, {"pattern": r"\uD83D\uDE00"}),
        ({"patternProperties": {r"^[\w-.]$": {"type": "integer"}}}, {"patternProperties": {r"^[\w-.]$": False}}),
    ],
)
def test_breaks_of_patterns_the_validator_would_misread_are_shown(old: Any, new: Any) -> None:
    comparison = check_schemas(old, new, side=Side.INPUT)
    assert comparison.verdict is Verdict.BREAKING
    assert comparison.witness is not None
    assert comparison.witness.errors
