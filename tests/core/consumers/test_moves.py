"""A consumer is told what a move means to the fields it uses: all that hits it, and nothing that does not."""

from __future__ import annotations

from typing import Any

import pytest

from governance.core.compat.engine import check
from governance.core.compat.model import Comparison, Side, Verdict
from governance.core.consumers import Moves, Need
from governance.core.contract import manifest_from_document
from governance.core.skill import SkillManifest

S, N = {"type": "string"}, {"type": "integer"}


def obj(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def closed(**fields: Any) -> dict[str, Any]:
    return {**obj(**fields), "additionalProperties": False}


def skill(version: str, takes: Any) -> SkillManifest:
    document = {"name": "a.b", "version": version, "description": "x", "input_schema": takes}
    return manifest_from_document(document, native=False)


def moved(old: Any, new: Any, *sends: str) -> Comparison:
    need = Need(consumer="billing", sends=sends)
    comparison, _ = Moves(compare=check)(need, skill("1.0.0", old), skill("1.1.0", new))
    return comparison


@pytest.mark.parametrize(
    ("old", "new", "sent"),
    [
        (obj(a=S), obj(a=S, x=N), "/x"),
        ({**obj(a=S), "additionalProperties": True}, obj(a=S, x=N), "/x"),
        (obj(a=S), closed(a=S), "/x"),
        (obj(a=obj(q=S)), obj(a=obj(q=S, x=N)), "/a/x"),
        (obj(a={"items": obj(q=S)}), obj(a={"items": obj(q=S, x=N)}), "/a/*/x"),
        ({**obj(a=S), "allOf": [{"minProperties": 0}]}, obj(a=S, x=N), "/x"),
    ],
)
def test_whoever_sends_what_was_let_pass_undeclared_is_hit_when_it_is_typed_or_refused(
    old: Any, new: Any, sent: str
) -> None:
    assert moved(old, new, "/a/q").verdict is not Verdict.BREAKING
    hit = moved(old, new, "/a/q", sent)
    assert hit.verdict is Verdict.BREAKING
    assert hit.witness is not None
    assert "x" in str(hit.witness.payload)
    assert {one.old_pointer for one in hit.findings if one.witness is not None and one.side is Side.INPUT} == {None}


def test_an_undeclared_field_that_stays_free_hits_nobody() -> None:
    assert moved(obj(a=S), obj(a=S, b=N), "/a", "/x").verdict is Verdict.COMPATIBLE
    assert moved(obj(a=S), obj(a=S, x={}), "/a", "/x").verdict is Verdict.COMPATIBLE


def test_a_declaration_opens_nothing_that_unevaluated_properties_closed() -> None:
    shut = {**obj(a=S), "unevaluatedProperties": False}
    assert moved(shut, {**shut, **obj(a=S, x=N)}, "/a", "/x").verdict is Verdict.COMPATIBLE


def dated(**fields: Any) -> Any:
    return obj(**fields, b={"type": "string", "format": "date"})


@pytest.mark.parametrize(
    "new",
    [obj(a=S), obj(a=S, b_new=S), dated(a=S), obj(a=S, b=True)],
    ids=["dropped", "renamed", "dated", "freed"],
)
def test_a_risk_of_senders_of_a_field_is_none_of_who_never_sends_it(new: Any) -> None:
    old = obj(a=S, b=S)
    assert moved(old, new, "/a").verdict is Verdict.COMPATIBLE
    assert moved(old, new, "/a", "/b").verdict is Verdict.RISKY
    assert moved(obj(o=old), obj(o=new), "/o/a").verdict is Verdict.COMPATIBLE
    assert moved(obj(o=old), obj(o=new), "/o").verdict is Verdict.RISKY
    assert moved(obj(o={"items": old}), obj(o={"items": new}), "/o/*/b").verdict is Verdict.RISKY


def test_a_default_that_moved_is_a_risk_of_who_leaves_the_field_out() -> None:
    old, new = obj(a=S, b={**S, "default": "x"}), obj(a=S, b={**S, "default": "y"})
    assert moved(old, new, "/a").verdict is Verdict.RISKY


def test_a_risk_within_a_shared_definition_stays_with_everyone() -> None:
    def document(target: Any) -> Any:
        return {"$defs": {"t": target}, **obj(a=S, o={"$ref": "#/$defs/t"})}

    assert moved(document(obj(p=S, q=S)), document(obj(p=S)), "/a").verdict is Verdict.RISKY
