"""What the gate is told: the history, the policy, exceptions, lint complaints, the replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from governance.core.compat.model import Comparison
from governance.core.lines import Published
from governance.core.skill import SkillManifest
from governance.core.versioning import Version

Compare: TypeAlias = Callable[[SkillManifest | None, SkillManifest | None], Comparison]
"""``compare(old, new)``, usually ``compat.engine.check`` with a cache before it."""

NEEDS_A_REGISTRY: Final = ("consumers", "policy", "exceptions", "replacement")
"""What an offline decision lists under ``not_checked``."""


@dataclass(frozen=True, kw_only=True)
class HistoryItem:
    """One version that is already there, with its live state."""

    published: Published
    manifest: SkillManifest

    @property
    def version(self) -> Version:
        return self.published.version


class PolicyMode(StrEnum):
    OFF = "off"
    """Nothing but what cannot be stored is refused; what would have been said is listed as allowed."""
    WARN = "warn"
    ENFORCE = "enforce"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How strict the gate is, and where that was set (``default``, ``namespace team``, ``skill team.a``)."""

    mode: PolicyMode = PolicyMode.ENFORCE
    origin: str = "default"


@dataclass(frozen=True, kw_only=True)
class GateException:
    """An approved exception in force for one finding; scope, expiry and uses are checked by the caller."""

    fingerprint: str
    id: str
    reason: str = ""


class LintComplaint(Protocol):
    """What the gate reads of a lint finding."""

    @property
    def id(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def pointer(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def fix(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class ReplacementFacts:
    """What is known of the skill that the candidate names as its replacement."""

    published: tuple[Published, ...]
    """Its versions; empty when there is no such skill."""
    leads_to: tuple[str, ...] = ()
    """The skills its own declared replacements lead to, one after the other."""
