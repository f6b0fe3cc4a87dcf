"""Exact numbers and the identity of scalars: ``1`` and ``1.0`` are one value, ``0.1`` is one tenth."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from governance.core.schema.kinds import BOOLEAN, NULL, NUMBER, STRING


class NumberTooLarge(ValueError):
    """A number whose exact value would not fit in reasonable memory."""


MAX_EXPONENT: Final = 5_000


def exact(value: int | float | Decimal) -> Fraction:
    """The number as written: a float stands for its shortest decimal form (``0.1`` is one tenth).

    Raises:
        NumberTooLarge: the decimal exponent passes 5,000.
    """
    if isinstance(value, int):
        _check_size(value)
        return Fraction(value)
    decimal = Decimal(repr(value)) if isinstance(value, float) else value
    if (
        not decimal.is_finite()
        or abs(decimal.adjusted()) > MAX_EXPONENT
        or len(decimal.as_tuple().digits) > MAX_EXPONENT
    ):
        raise NumberTooLarge(str(decimal)[:40])
    return Fraction(decimal)


def _check_size(value: int) -> None:
    if value.bit_length() > MAX_EXPONENT * 4:
        raise NumberTooLarge(f"an integer of {value.bit_length()} bits")


def whole(value: int | float | Decimal) -> int:
    """A count as an integer.

    Raises:
        NumberTooLarge: written out it would fill the memory.
    """
    return int(exact(value))


def spelled(value: int | float | Decimal) -> tuple[Any, ...]:
    """What tells a number from others without computing it: as text it may be longer than Python writes."""
    return ("decimal", *value.as_tuple()) if isinstance(value, Decimal) else (type(value).__name__, value)


def scalar_key(value: Any) -> tuple[int, Any]:
    """A hashable identity under JSON equality: ``1`` and ``1.0`` are one, ``false`` and ``0`` are two."""
    if value is None:
        return (NULL, None)
    if isinstance(value, bool):
        return (BOOLEAN, value)
    if isinstance(value, str):
        return (STRING, value)
    if isinstance(value, int):
        _check_size(value)
        return (NUMBER, value)  # equal to its fraction, and made in no time
    return (NUMBER, exact(value))


def plain_number(value: Fraction) -> int | float | Decimal:
    """The JSON number for an exact value: an int if it is one, a float if that is exact, else a Decimal."""
    if value.denominator == 1:
        return value.numerator
    decimal = decimal_of(value)
    as_float = float(value)
    return as_float if Decimal(repr(as_float)) == decimal else decimal


def decimal_of(value: Fraction) -> Decimal:
    """The exact finite decimal; the denominator must be a product of twos and fives."""
    denominator, twos, fives = value.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    if denominator != 1:
        raise ValueError(f"{value} is no finite decimal")
    places = max(twos, fives)
    scaled = value.numerator * 10**places // value.denominator
    sign = 1 if scaled < 0 else 0
    return Decimal((sign, tuple(int(digit) for digit in str(abs(scaled))), -places))
