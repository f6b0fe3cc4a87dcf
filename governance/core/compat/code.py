"""What one row of the finding codes says."""

from __future__ import annotations

from dataclasses import dataclass

from governance.core.compat.model import JSON, FindingLevel, Reading, Side


@dataclass(frozen=True, kw_only=True)
class Code:
    """One kind of change.

    ``example`` and ``near_miss`` are (old, new) pairs: bare schemas for schema codes, manifest fields for
    contract codes. The example produces the code, the near miss does not. ``sides`` are the sides it can
    occur on.
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
    reading: Reading = Reading.DEFAULT
    """The reading under which the example shows it."""
    asserts_formats: bool = False
    """It occurs only where ``format`` is set to assert."""
