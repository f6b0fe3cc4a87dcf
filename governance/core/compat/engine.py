"""The one entry: ``check`` two contracts, or ``check_schemas`` for two bare schemas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from governance.core.compat.model import JSON, Comparison, Reading, Side

if TYPE_CHECKING:
    from governance.core.contract import SkillManifest

SecondOpinion = Callable[[JSON, JSON], bool | None]
"""Does every value of the first schema lie within the second? True, or None for "cannot say"."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a verdict depends on beside the two contracts; part of every cache key."""

    reading: Reading = Reading.DEFAULT
    assert_formats: bool = False
    """Treat ``format`` as a constraint instead of an annotation."""
    step_budget: int = 200_000
    """Elementary steps before the engine gives up with ``undecided``; there is no clock in the core."""


DEFAULT_SETTINGS = Settings()


def check(
    old: SkillManifest | None,
    new: SkillManifest | None,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    opinion: SecondOpinion | None = None,
) -> Comparison:
    """Compare two versions of a skill on both sides and beside the schemas.

    ``None`` stands for "there is no such skill": added (a note) or removed (breaking).
    """
    raise NotImplementedError


def check_schemas(
    old: JSON,
    new: JSON,
    *,
    side: Side,
    settings: Settings = DEFAULT_SETTINGS,
    opinion: SecondOpinion | None = None,
) -> Comparison:
    """Compare two bare schemas of any kind on one side; no rule about object roots applies."""
    raise NotImplementedError
