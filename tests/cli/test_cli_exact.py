"""JSON goes out digit for digit, and nothing in it can steer a terminal."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.cli.exact import dumps
from governance.cli.output import json_text
from governance.core.document import exact_number

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def loads(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def exact(value: Any) -> Any:
    """``value`` with every number as the Decimal it is."""
    match value:
        case bool() | None | str():
            return value
        case float():
            return Decimal(repr(value))
        case int() | Decimal():
            return Decimal(value)
        case list():
            return [exact(item) for item in value]
        case _:
            return {key: exact(item) for key, item in value.items()}


@given(values, st.sampled_from([None, 2]))
def test_every_value_reads_back_exactly_as_it_was(value: Any, indent: int | None) -> None:
    assert loads(dumps(value, indent=indent)) == exact(value)


@given(values)
def test_text_made_harmless_for_a_terminal_is_the_same_value(value: Any) -> None:
    text = json_text(value)
    assert loads(text) == exact(value)
    assert not {"\x1b", "\x9b", "\u202e", "\u200b", "\ufeff"} & set(text)


@pytest.mark.parametrize("literal", ["1e400", "0.1000000000000000055", "-1E-999", "12345678901234567890.5"])
def test_a_number_past_double_precision_keeps_every_digit(literal: str) -> None:
    assert Decimal(dumps([exact_number(literal)])[1:-1]) == Decimal(literal)


def test_what_is_no_finite_number_is_refused() -> None:
    for value in (float("nan"), float("inf"), Decimal("NaN"), [Decimal("1"), Decimal("Infinity")]):
        with pytest.raises(ValueError, match=r"finite|compliant"):
            dumps(value)
