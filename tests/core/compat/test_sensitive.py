"""What a schema marks sensitive is in nothing that a comparison says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance.core.canonical import canonical_or_text
from governance.core.compat.engine import check, check_schemas
from governance.core.compat.model import Side, Verdict
from governance.core.compat.stored import kept_comparison, kept_document
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.document import read_json
from governance.core.schema.load import schema_faults
from governance.core.schema.marks import HIDDEN
from governance.errors import InvalidContract

A, B = "HUNTER3a", "HUNTER3b"
SECRET = {"x-sensitive": True, "type": "string"}


def _object(key: Any, **others: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"key": key, **others}, "required": ["key"]}


def _said(old: Any, new: Any, side: Side = Side.INPUT) -> str:
    comparison = check_schemas(old, new, side=side)
    assert comparison.findings or comparison.faults
    return json.dumps(comparison.to_document(), default=str, ensure_ascii=False)


@pytest.mark.parametrize("side", [Side.INPUT, Side.OUTPUT])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"default": A}, {"default": B}),
        ({"default": {"deep": [A]}}, {"default": {"deep": [B]}}),
        ({"enum": [A, "other-a"]}, {"enum": [B]}),
        ({"enum": [A, B]}, {"enum": [A]}),
        ({"enum": [A]}, {"enum": [A, B]}),
        ({"const": A}, {"const": B}),
        ({"not": {"const": A}}, {"not": {"const": B}}),
        ({"anyOf": [{"const": A}, {"const": B}]}, {"anyOf": [{"const": A}]}),
        ({"examples": [A]}, {"examples": [B]}),
        ({"x-example": A}, {"x-example": B}),
        ({"const": A}, {"type": "integer"}),
        ({"enum": A}, {"enum": [B]}),
        ({"enum": [A, A]}, {"type": [B]}),
    ],
)
def test_no_sensitive_value_is_said(before: dict[str, Any], after: dict[str, Any], side: Side) -> None:
    told = [
        check_schemas(_object(SECRET | old), _object(SECRET | new), side=side)
        for old, new in ((before, after), (after, before))
    ]
    assert any(one.findings or one.faults for one in told) or (side is Side.OUTPUT and "default" in before)
    for one in told:
        said = json.dumps(one.to_document(), default=str, ensure_ascii=False)
        assert A not in said
        assert B not in said


def test_values_behind_a_reference_from_a_sensitive_place_are_hidden() -> None:
    def schema(value: str) -> dict[str, Any]:
        return _object({"x-sensitive": True, "$ref": "#/$defs/k"}) | {"$defs": {"k": {"const": value}}}

    said = _said(schema(A), schema(B))
    assert A not in said
    assert B not in said


def test_a_sensitive_value_is_hidden_in_the_payload_of_another_fields_break() -> None:
    old = _object(SECRET | {"const": A}, other={"type": "string"})
    new = _object(SECRET | {"const": A}, other={"type": "integer"})
    comparison = check_schemas(old, new, side=Side.INPUT)
    assert comparison.witness is not None
    assert comparison.witness.payload["key"] == HIDDEN
    assert isinstance(comparison.witness.payload["other"], str)


def test_a_payload_does_without_a_sensitive_value_where_it_can() -> None:
    """The smallest payload would be the default."""
    plain = {"type": "string", "minLength": 1}
    narrowed = plain | {"pattern": "^x"}
    assert _payload(plain, narrowed) == {"key": "a"}
    hinted = {"x-sensitive": True, "default": "a", "examples": ["b", "c"]}
    assert _payload(plain | hinted, narrowed | hinted) not in [{"key": value} for value in (HIDDEN, "a", "b", "c")]


def _payload(old: dict[str, Any], new: dict[str, Any]) -> Any:
    witness = check_schemas(_object(old), _object(new), side=Side.INPUT).witness
    assert witness is not None
    return witness.payload


def test_long_lists_are_hidden_where_a_sentence_would_cut_them() -> None:
    values = [f"{A}{number:03}" for number in range(100)]
    said = _said(_object(SECRET | {"enum": values}), _object(SECRET | {"enum": values[:50]}))
    assert "HUNTER" not in said


def test_numbers_are_hidden_too() -> None:
    said = _said(_object({"x-sensitive": True, "const": 48151623}), _object({"x-sensitive": True, "const": 42}))
    assert "48151623" not in said


def test_what_is_not_sensitive_is_said_as_before() -> None:
    old, new = {"type": "string", "default": "plain-a"}, {"type": "string", "default": "plain-b"}
    said = _said(_object(SECRET | {"default": A}, open=old), _object(SECRET | {"default": A}, open=new))
    assert '(\\"plain-a\\" → \\"plain-b\\")' in said


def test_findings_on_different_sensitive_values_have_different_fingerprints_and_keep_them() -> None:
    schemas = [_object(SECRET | {"default": value}) for value in (A, B, "HUNTER3c")]
    one, other = (check_schemas(schemas[0], new, side=Side.INPUT) for new in schemas[1:])
    assert one.findings[0].fingerprint != other.findings[0].fingerprint
    document = kept_document(one)
    assert A not in json.dumps(document)
    kept = kept_comparison(read_json(canonical_or_text(document)))
    assert kept.named("skill").findings[0].fingerprint == one.named("skill").findings[0].fingerprint


def test_examples_hide_their_sensitive_fields() -> None:
    def manifest(value: str) -> SkillManifest:
        return manifest_from_document(
            {
                "name": "a.b", "version": "1.0.0", "description": "Use it when it is due.", "timeout_sec": 1,
                "compatibility": "backward_compatible", "input_schema": _object(SECRET),
                "output_schema": {"type": "object"}, "examples": [{"input": {"key": value}}],
            }
        )  # fmt: skip

    comparison = check(manifest(A), manifest(B))
    assert [finding.code for finding in comparison.findings] == ["contract.examples-changed"]
    said = json.dumps(comparison.to_document(), ensure_ascii=False)
    assert A not in said
    assert HIDDEN in said


def test_a_complaint_of_the_metaschema_quotes_no_sensitive_value() -> None:
    broken = _object(SECRET | {"enum": A})
    assert check_schemas(broken, True, side=Side.INPUT).verdict is Verdict.INVALID
    assert A not in str([str(fault) for fault in schema_faults(broken)])
    with pytest.raises(InvalidContract) as refused:
        manifest_from_document({"name": "a.b", "version": "1.0.0", "input_schema": broken, "output_schema": True})
    assert A not in str(refused.value) + str([str(fault) for fault in refused.value.faults])
