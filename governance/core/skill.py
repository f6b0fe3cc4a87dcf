"""What a skill contract is made of, and the manifest that holds it all: plain frozen values.

``governance.core.contract`` builds them from documents and checks every rule; nothing here checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from governance.core.canonical import canonical_bytes, digest
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


class Status(StrEnum):
    """Where a version begins its life; afterwards an audited record beside it tells."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    SUNSET = "sunset"
    RETIRED = "retired"


@dataclass(frozen=True, kw_only=True)
class BusinessRule:
    """One sentence of the semantic contract, optionally with a check a machine can run."""

    id: str
    text: str
    pattern: str | None = None
    expression: str | None = None

    def to_document(self) -> dict[str, Any]:
        return _given(id=self.id, text=self.text, pattern=self.pattern, expression=self.expression)


@dataclass(frozen=True, kw_only=True)
class BusinessError:
    """A business error code the skill may return."""

    code: str
    meaning: str
    retryable: bool = False

    def to_document(self) -> dict[str, Any]:
        return {"code": self.code, "meaning": self.meaning} | ({"retryable": True} if self.retryable else {})


@dataclass(frozen=True, kw_only=True)
class RuntimeRequirements:
    """What the host must provide before it loads the skill."""

    network: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    disk_mb: float | None = None

    def to_document(self) -> dict[str, Any]:
        network, environment = list(self.network) or None, list(self.environment) or None
        return _given(network=network, environment=environment, disk_mb=self.disk_mb)


@dataclass(frozen=True, kw_only=True)
class Slo:
    """Objectives that monitoring reads: a success ratio in (0, 1] and a latency in seconds."""

    success_ratio: float | None = None
    latency_sec: float | None = None

    def to_document(self) -> dict[str, Any]:
        return _given(success_ratio=self.success_ratio, latency_sec=self.latency_sec)


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

    def to_document(self) -> dict[str, Any]:
        output = {"output": self.output} if self.has_output else {}
        return {"input": self.input} | output | _given(error=self.error, when=self.when)


@dataclass(frozen=True, kw_only=True)
class FallbackStep:
    """One step of the fallback plan: exactly one of the three kinds is set."""

    skill: str | None = None
    """``name@range``"""
    cached_max_age_sec: float | None = None
    static: JSON = None
    has_static: bool = False

    def to_document(self) -> dict[str, Any]:
        static = {"static": self.static} if self.has_static else {}
        return _given(skill=self.skill, cached_max_age_sec=self.cached_max_age_sec) | static


UNVERSIONED: Final = ""
"""The version of an imported skill whose source had none; whoever publishes it must decide one."""

NO_REPLACEMENT: Final = "none"
"""What a deprecation says where others name a replacement: there is none, on purpose."""

_PROMISES: Final = frozenset(
    {
        "name", "input_schema", "output_schema", "errors", "required_permissions", "requires_approval",
        "runtime_requirements", "side_effects", "idempotent",
    }
)  # fmt: skip
OUTSIDE_CONTRACT: Final = frozenset(
    {
        "name", "version", "compatibility", "owner", "tags",
        "status", "deprecated_since", "sunset", "replacement", "migration_guide",
        "external_name", "external_version", "defaulted",
    }
)  # fmt: skip
"""Fields the contract digest leaves out: what the skill is called, who has it, where it came from, and how
long it lives. All else is contract: ``title`` because models and people choose by it, ``extensions`` because
a SKILL.md keeps its instructions there and a source's unknown keys may mean something to its callers."""

DEFAULT_TIMEOUT_SEC: Final = 30.0
"""What an imported skill gets when its source says nothing; marked as defaulted."""


@dataclass(frozen=True, kw_only=True)
class SkillManifest:
    """One version of one skill. Build it with ``contract.manifest_from_document``, which checks every rule.

    The JSON values inside (schemas, examples, extensions) are ordinary dicts and lists that belong to the
    manifest: read them, never change them. ``manifest_from_document`` and ``to_document`` copy.
    """

    name: str
    version: str
    """SemVer, or UNVERSIONED while nobody has decided it yet (imports from sources without versions)."""
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

    @cached_property
    def checked(self) -> bool:
        """Did ``manifest_from_document`` find nothing wrong with exactly this value? It says so here."""
        return False

    @property
    def namespace(self) -> str:
        """The part before the last dot; empty for a bare name."""
        return self.name.rpartition(".")[0]

    def numbered(self, version: str) -> SkillManifest:
        """The same skill under another version, taken as it is; what no version changes is not worked out again."""
        again = replace(self, version=version)
        vars(again).update({name: value for name, value in vars(self).items() if name in _UNNUMBERED})
        return again

    def owned(self, owner: str) -> SkillManifest:
        """The same skill, of ``owner`` where nobody is named; who owns it is no part of the contract."""
        if self.owner is not None:
            return self
        again = replace(self, owner=owner)
        vars(again).update({name: value for name, value in vars(self).items() if name in _UNNUMBERED})
        return again

    def to_document(self) -> dict[str, Any]:
        """The native manifest as fresh JSON without defaults; ``manifest_from_document`` reads it back."""
        return deepcopy(self._document)

    @cached_property
    def contract_digest(self) -> str:
        """``sha256:…`` over all but OUTSIDE_CONTRACT: equal for two versions that promise the same.

        Raises:
            InvalidContract: a number has no canonical form (only for manifests built without the checks).
        """
        contract = {name: value for name, value in self._document.items() if name not in OUTSIDE_CONTRACT}
        return digest(contract | {"timeout_sec": self.timeout_sec})

    @cached_property
    def promise_digest(self) -> str:
        """``sha256:…`` over all that a break can stand in: versions that differ in texts alone have the same."""
        promise = {name: value for name, value in self._document.items() if name in _PROMISES}
        return digest(promise)

    @cached_property
    def manifest_digest(self) -> str:
        """``sha256:…`` over everything; PUT of a version answers 200 only when it is equal."""
        return digest(self._document)

    @cached_property
    def canonical(self) -> bytes:
        """The canonical JSON of everything, as it is stored. Raises InvalidContract as :attr:`contract_digest`."""
        return canonical_bytes(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        """``to_document`` without the copy."""
        document: dict[str, Any] = {"name": self.name, "version": self.version}
        for name, default in _PLAIN.items():
            value = getattr(self, name)
            if value != default:
                document[name] = _plain(value)
        if not self.version:
            del document["version"]
        if "timeout_sec" not in self.defaulted:
            document["timeout_sec"] = self.timeout_sec
        for name, items in (
            ("business_rules", self.business_rules),
            ("errors", self.errors),
            ("examples", self.examples),
            ("fallback", self.fallback),
        ):
            if items:
                document[name] = [item.to_document() for item in items]
        for name, part in (("runtime_requirements", self.runtime_requirements), ("slo", self.slo)):
            inside = part.to_document() if part else {}
            if inside:
                document[name] = inside
        if self.defaulted:
            document["defaulted"] = sorted(self.defaulted)
        return document


_UNNUMBERED: Final = frozenset({"checked", "contract_digest", "promise_digest"})
"""What is remembered of a manifest and no version changes."""
_PLAIN: Final[dict[str, Any]] = {
    "compatibility": None,
    "title": None,
    "description": "",
    "input_schema": None,
    "output_schema": None,
    "category": Category.TOOL,
    "tags": (),
    "owner": None,
    "side_effects": None,
    "effect_scope": None,
    "rollback": None,
    "idempotent": None,
    "required_permissions": (),
    "allowed_tools": (),
    "requires_approval": False,
    "dangerous": False,
    "entrypoint": None,
    "deprecated_since": None,
    "sunset": None,
    "replacement": None,
    "migration_guide": None,
    "status": "active",
    "external_name": None,
    "external_version": None,
    "extensions": {},
}
"""Fields that stand in the document as they are, with the default that is left out."""


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
