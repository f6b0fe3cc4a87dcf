"""The skill contract: one immutable value, whatever the source was.

DESIGN section 2 is the table of fields. ``SkillManifest`` is what importers produce, the registry stores and
the engine compares. Two digests name it: the *contract digest* covers what callers depend on, the *manifest
digest* covers everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from governance.core.compat.model import JSON, Level


class Category(StrEnum):
    TOOL = "tool"
    WORKFLOW = "workflow"
    KNOWLEDGE = "knowledge"
    """Instruction only: its text is its contract, it may have no schemas."""
    SYSTEM = "system"


class SideEffects(StrEnum):
    """What a call may change, from nothing to what cannot be undone."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    EXTERNAL = "external"
    DESTRUCTIVE = "destructive"

    @property
    def rank(self) -> int:
        return list(SideEffects).index(self)


@dataclass(frozen=True, kw_only=True)
class BusinessRule:
    """One sentence of the semantic contract, optionally with a check a machine can run."""

    id: str
    text: str
    pattern: str | None = None
    expression: str | None = None


@dataclass(frozen=True, kw_only=True)
class BusinessError:
    """A business error code the skill may return."""

    code: str
    meaning: str
    retryable: bool = False


@dataclass(frozen=True, kw_only=True)
class RuntimeRequirements:
    """What the host must provide before it loads the skill."""

    network: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    disk_mb: float | None = None


@dataclass(frozen=True, kw_only=True)
class Slo:
    """Objectives that monitoring reads: a success ratio in (0, 1] and a latency in seconds."""

    success_ratio: float | None = None
    latency_sec: float | None = None


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sample call. ``error`` is the business code it must end with; ``when`` says when to use it.

    ``output`` is ABSENT-free: ``has_output`` tells a null output from none.
    """

    input: JSON
    output: JSON = None
    has_output: bool = False
    error: str | None = None
    when: str | None = None


@dataclass(frozen=True, kw_only=True)
class FallbackStep:
    """One step of the fallback plan: exactly one of the three kinds is set."""

    skill: str | None = None
    """``name@range``"""
    cached_max_age_sec: float | None = None
    static: JSON = None
    has_static: bool = False


DEFAULT_TIMEOUT_SEC: Final = 30.0
"""What an imported skill gets when its source says nothing; marked as defaulted."""


@dataclass(frozen=True, kw_only=True)
class SkillManifest:
    """One version of one skill. Build it with :func:`manifest_from_document`, which checks every rule."""

    name: str
    version: str
    compatibility: Level | None = None
    description: str = ""
    title: str | None = None
    input_schema: JSON = None
    """A JSON Schema, or None for a knowledge skill without one."""
    output_schema: JSON = None
    """A JSON Schema, or None: then a caller may expect nothing, as if it were ``true``."""
    business_rules: tuple[BusinessRule, ...] = ()
    errors: tuple[BusinessError, ...] = ()
    timeout_sec: float = DEFAULT_TIMEOUT_SEC
    category: Category = Category.TOOL
    tags: tuple[str, ...] = ()
    owner: str | None = None
    side_effects: SideEffects | None = None
    effect_scope: str | None = None
    rollback: str | None = None
    idempotent: bool | None = None
    required_permissions: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    runtime_requirements: RuntimeRequirements = RuntimeRequirements()
    requires_approval: bool = False
    dangerous: bool = False
    slo: Slo | None = None
    entrypoint: str | None = None
    examples: tuple[Example, ...] = ()
    fallback: tuple[FallbackStep, ...] = ()
    # Lifecycle: first values only; the live ones are a separate, audited record beside the version.
    deprecated_since: str | None = None
    sunset: str | None = None
    replacement: str | None = None
    migration_guide: str | None = None
    status: str = "active"
    # Where it came from.
    external_name: str | None = None
    external_version: str | None = None
    extensions: Mapping[str, JSON] = field(default_factory=dict)
    """What the importer did not understand, kept under the source's name (``{"mcp": {...}}``)."""
    defaulted: frozenset[str] = frozenset()
    """Fields the source did not give and the importer filled in."""

    @property
    def namespace(self) -> str:
        """The part before the last dot; empty for a bare name."""
        return self.name.rpartition(".")[0]

    def to_document(self) -> dict[str, Any]:
        """The native manifest as plain JSON, defaults left out; ``manifest_from_document`` reads it back."""
        raise NotImplementedError  # replaced by the contract work

    @property
    def contract_digest(self) -> str:
        """``sha256:…`` over all but name, version, declared level, owner, tags, status and lifecycle."""
        raise NotImplementedError

    @property
    def manifest_digest(self) -> str:
        """``sha256:…`` over everything; PUT of a version answers 200 only when it is equal."""
        raise NotImplementedError
