"""Rows of CODES for changes beside the two schemas."""

from __future__ import annotations

from typing import Final

from governance.core.compat.code import Code

CONTRACT_CODES: Final[tuple[Code, ...]] = ()
