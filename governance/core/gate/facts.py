"""What the gate is told: the history, the policy, exceptions, lint complaints, the replacement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from governance.core.consumers import Need
from governance.core.lines import Published
from governance.core.policy import Policy

NEEDS_A_REGISTRY: Final = ("consumers", "policy", "exceptions", "replacement")
"""What an offline decision lists under ``not_checked``."""


@dataclass(frozen=True, kw_only=True)
class GateException:
    """An approved exception in force for one finding; expiry and uses are checked by the caller."""

    fingerprint: str
    id: str
    surroundings: str
    """As :func:`governance.core.exceptions.surroundings` gave it when it was asked for; it stands only while that is
    so."""
    reason: str = ""
    environment: str | None = None
    """It opens this environment alone; None: all of them."""
    consumer: str | None = None
    """It opens what this consumer is served alone; None: what all are."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a registry knows around one skill: what the gate asks beside the contract and its history."""

    policy: Policy = field(default_factory=Policy)
    exceptions: tuple[GateException, ...] = ()
    needs: tuple[Need, ...] = ()
    """Of every consumer of the skill, as declared and as observed."""
    tested: frozenset[str] = frozenset()
    """The digests of contracts whose tests are on record as passed."""


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
