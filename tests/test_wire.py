"""The JSON writer keeps every digit, and what it writes reads back as it was."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.core.compat.model import Level
from governance.core.document import read_json
from governance.wire import Problem, ResolveQuestion, write_json

decimals = st.decimals(allow_nan=False, allow_infinity=False).filter(lambda d: abs(d.adjusted()) < 1000)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    scalars | decimals,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def exactly(value: Any) -> Any:
    """Numbers as exact Decimals, so that 1, 1.0 and Decimal(1) compare equal and nothing is rounded."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: exactly(child) for key, child in value.items()}
    if isinstance(value, list):
        return [exactly(child) for child in value]
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


@given(documents)
def test_what_is_written_reads_back_exactly(value: Any) -> None:
    again = json.loads(write_json(value), parse_float=Decimal, parse_int=Decimal)
    assert exactly(again) == exactly(value)


@given(documents.filter(lambda value: "\\ud" not in json.dumps(value, default=str)))
def test_our_own_reader_reads_it(value: Any) -> None:
    assert exactly(read_json(write_json(value))) == exactly(value)


def test_a_deep_document_with_a_decimal_is_written() -> None:
    value: Any = Decimal("0.1")
    for _ in range(400):
        value = [value]
    assert write_json(value) == b"[" * 400 + b"0.1" + b"]" * 400


def test_messages_dates_and_enums_are_written_plainly() -> None:
    assert write_json(
        {
            "m": ResolveQuestion(skill="a"),
            "d": date(2026, 11, 30),
            "t": datetime(2026, 11, 30, tzinfo=UTC),
            "e": Level.UNDECIDED,
            "n": Decimal(1),
        }
    ) == (
        b'{"m":{"skill":"a","range":null,"accept_breaking_change":false,"accept_line":null},'
        b'"d":"2026-11-30","t":"2026-11-30T00:00:00+00:00","e":"undecided","n":1}'
    )


def test_what_is_no_json_is_an_error() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write_json(value)
    with pytest.raises(TypeError):
        write_json(object())


def test_a_lone_surrogate_is_written_escaped() -> None:
    assert write_json(["\ud800"]) == b'["\\ud800"]'


def test_a_problem_needs_no_more_than_rfc_9457_and_a_code() -> None:
    assert Problem.model_validate({"type": "t", "title": "t", "status": 400, "detail": "d", "code": "c"}).errors == []
