"""CODES: every finding the engine can make, one row each. Codes are permanent; rows are never renumbered or reused.

``govctl explain``, the documentation and the tests derive from this table: the breaking pair of a row must
produce its code, the near miss must not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from governance.core.compat.model import JSON, FindingLevel, Side


@dataclass(frozen=True, kw_only=True)
class Code:
    """One kind of change.

    ``example`` and ``near_miss`` are (old, new) pairs: bare schemas for schema codes, manifest fields for
    contract codes. ``sides`` are the sides it can occur on.
    """

    id: str
    level: FindingLevel
    title: str
    means: str
    hits: str
    fix: str
    sides: tuple[Side, ...]
    example: tuple[JSON, JSON]
    near_miss: tuple[JSON, JSON]


CODES: Final[dict[str, Code]] = {}


def _register(*codes: Code) -> None:
    for code in codes:
        if code.id in CODES:
            raise ValueError(f"finding code {code.id} is taken")
        CODES[code.id] = code
