"""Canonical JSON is RFC 8785 to the byte, by whichever writer it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from governance.core.canonical import MAX_SAFE_INTEGER, canonical_bytes, canonical_or_text
from governance.errors import InvalidContract

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-MAX_SAFE_INTEGER + 1, MAX_SAFE_INTEGER - 1),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
    TEXT,
    st.sampled_from(["\x00", "\x7f", "\u2028", '"', "\\", "/", "\b\f\n\r\t\x1f", "é", "𝄞", "\ufb33"]),
)
KEYS = st.one_of(TEXT, st.sampled_from(["a", "A", "", "é", "𝄞", "\ufb33", "$ref", "\x7f", "\n"]))
VALUES = st.recursive(
    SCALARS, lambda inside: st.lists(inside, max_size=4) | st.dictionaries(KEYS, inside, max_size=5), max_leaves=20
)


@given(VALUES)
def test_every_value_is_written_as_rfc_8785_says(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)
    assert canonical_or_text(value).encode() == rfc8785.dumps(value)


@given(VALUES)
def test_what_is_written_reads_back_and_is_written_the_same(value: Any) -> None:
    written = canonical_bytes(value)
    assert canonical_bytes(json.loads(written)) == written


@pytest.mark.parametrize(
    "value", [2**53 + 1, {"a": [float("nan")]}, ["\ud800"], {"\udfff": 1}, {"a": float("inf")}, -(2**60)]
)
def test_what_has_no_canonical_form_is_refused_with_its_place(value: Any) -> None:
    with pytest.raises(InvalidContract) as caught:
        canonical_bytes(value)
    assert caught.value.faults


def test_what_nests_without_end_is_refused() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidContract, match="too deep"):
        canonical_bytes(value)
