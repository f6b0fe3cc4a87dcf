"""What only the validator can judge, one text at a time: asserted formats, and patterns beyond the algebra."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

SAMPLES: Final = (
    "2024-02-29", "2024-02-29T12:30:00Z", "12:30:00Z", "P1D", "a@example.com", "example.com", "127.0.0.1", "::1",
    "https://example.com/a", "/a", "a", "/a/{b}", "0", "123e4567-e89b-12d3-a456-426614174000", "^a$", "YQ==", "",
    "not a format \\ (", "\u0001",
)  # fmt: skip
"""Each known format accepts one of these at least and refuses another."""


@lru_cache(maxsize=256)
def _validator(name: str) -> Any:
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True, offline=True)


def has_format(name: str, text: str) -> bool:
    """Does the validator accept ``text`` under the format?"""
    return bool(_validator(name).is_valid(text))


@lru_cache(maxsize=256)
def is_asserted(name: str) -> bool:
    """Does the validator know the format? One it does not know refuses nothing."""
    return not all(has_format(name, sample) for sample in SAMPLES)


@lru_cache(maxsize=256)
def _pattern_validator(pattern: str) -> Any:
    return jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True)


def has_match(pattern: str, text: str) -> bool:
    """Does the validator find the pattern in ``text``?

    Raises:
        ValueError: the validator does not know the pattern either.
    """
    return bool(_pattern_validator(pattern).is_valid(text))
