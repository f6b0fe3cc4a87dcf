"""CODES: every finding the engine can make, one row each. Codes are permanent; rows are never renumbered or reused.

``govctl explain``, the documentation and the tests derive from this table: the breaking pair of a row must
produce its code, the near miss must not.
"""

from __future__ import annotations

from typing import Final

from governance.core.compat.code import Code
from governance.core.compat.codes_contract import CONTRACT_CODES
from governance.core.compat.codes_risk import RISK_CODES
from governance.core.compat.codes_schema import SCHEMA_CODES

__all__ = ["CODES", "Code"]


def _collected(*rows: Code) -> dict[str, Code]:
    codes: dict[str, Code] = {}
    for row in rows:
        if row.id in codes:
            raise ValueError(f"finding code {row.id} is taken")
        codes[row.id] = row
    return codes


CODES: Final = _collected(*SCHEMA_CODES, *RISK_CODES, *CONTRACT_CODES)
