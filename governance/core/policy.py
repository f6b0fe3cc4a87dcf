"""Policy as data: what may be set, and the value that holds for a skill with where it was set.

The nearest scope wins: the skill's own, its namespace, each namespace above, the global one, the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from governance.core.canonical import escape
from governance.core.lifecycle import NoticePeriod
from governance.core.names import check_name
from governance.errors import Fault, InvalidRequest, UsageError

Value: TypeAlias = str | int | bool


class PolicyMode(StrEnum):
    OFF = "off"
    """Nothing but what cannot be stored is refused; what would have been said is listed as allowed."""
    WARN = "warn"
    ENFORCE = "enforce"


class ScopeKind(StrEnum):
    GLOBAL = "global"
    NAMESPACE = "namespace"
    SKILL = "skill"


@dataclass(frozen=True, kw_only=True, order=True)
class Scope:
    """Where a policy is set: ``global``, ``namespace:team`` or ``skill:team.find``."""

    kind: ScopeKind
    name: str = ""
    """Empty for the global scope."""

    def __str__(self) -> str:
        return f"{self.kind.value}:{self.name}" if self.name else self.kind.value

    @classmethod
    def parse(cls, text: str) -> Scope:
        """The scope that ``str`` wrote. Raises UsageError, InvalidName."""
        word, colon, name = text.partition(":")
        if word == ScopeKind.GLOBAL.value and not colon:
            return cls(kind=ScopeKind.GLOBAL)
        if word not in (ScopeKind.NAMESPACE.value, ScopeKind.SKILL.value) or not name:
            raise UsageError(
                f"{text[:200]!r} is no scope of policies.", fix="Write global, namespace:NAME or skill:NAME."
            )
        return cls(kind=ScopeKind(word), name=check_name(name))

    @classmethod
    def of(cls, skill: str) -> Iterator[Scope]:
        """The scopes that reach ``skill``, nearest first."""
        yield cls(kind=ScopeKind.SKILL, name=skill)
        yield from cls.over(skill.rpartition(".")[0])

    @classmethod
    def over(cls, namespace: str) -> Iterator[Scope]:
        """The scopes that reach everything in ``namespace``, nearest first."""
        while namespace:
            yield cls(kind=ScopeKind.NAMESPACE, name=namespace)
            namespace = namespace.rpartition(".")[0]
        yield cls(kind=ScopeKind.GLOBAL)

    @property
    def reaching(self) -> Iterator[Scope]:
        """Itself and the scopes above it, nearest first."""
        return Scope.of(self.name) if self.kind is ScopeKind.SKILL else Scope.over(self.name)


@dataclass(frozen=True, kw_only=True)
class PolicyKey:
    """One thing that may be set."""

    id: str
    default: Value
    values: Mapping[str, Any]
    """The JSON Schema of its values: an ``enum`` of words, an ``integer`` with its bounds, or a ``boolean``."""
    meaning: str

    @property
    def shown(self) -> str:
        """The values it takes, in words."""
        if "enum" in self.values:
            words = self.values["enum"]
            return f"{', '.join(words[:-1])} or {words[-1]}"
        if self.values["type"] == "integer":
            return f"{self.values['minimum']} to {self.values['maximum']}"
        return "true or false"

    def check(self, value: object) -> str | None:
        """Why ``value`` cannot stand, as the rest of a sentence; None where it can."""
        if "enum" in self.values:
            return None if isinstance(value, str) and value in self.values["enum"] else f"is not {self.shown}"
        if self.values["type"] == "boolean":
            return None if isinstance(value, bool) else "is neither true nor false"
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and self.values["minimum"] <= value <= self.values["maximum"]:
            return None
        return f"is not a whole number from {self.shown}"

    def read(self, text: str) -> object:
        """A value as a command line gives it; what it cannot be stays text, for ``check`` to refuse."""
        if self.values.get("type") == "integer" and re.fullmatch(r"-?[0-9]{1,9}", text):
            return int(text)
        if self.values.get("type") == "boolean" and text in ("true", "false"):
            return text == "true"
        return text


def _one_of(*choices: str) -> dict[str, Any]:
    return {"enum": [str(choice) for choice in choices]}


def _between(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


_FLAG: Final = {"type": "boolean"}
_MAX_DAYS: Final = 3_650

_ROWS: Final = (
    PolicyKey(
        id="mode",
        default=PolicyMode.ENFORCE.value,
        values=_one_of(*(mode.value for mode in PolicyMode)),
        meaning="What the gate does: nothing but list, warn, or block. What cannot be stored is always refused.",
    ),
    PolicyKey(
        id="fail_on",
        default="none",
        values=_one_of("none", "risky", "breaking"),
        meaning="The mildest verdict that blocks whatever the number says.",
    ),
    PolicyKey(
        id="readiness",
        default="warn",
        values=_one_of("off", "warn", "block"),
        meaning="What a missing owner, missing test record or missing telemetry of a high-risk skill does.",
    ),
    PolicyKey(
        id="notice_days_stable",
        default=365,
        values=_between(0, _MAX_DAYS),
        meaning="Days between a deprecation and its sunset, at the least, from 1.0.0 on.",
    ),
    PolicyKey(
        id="notice_days_unstable",
        default=90,
        values=_between(0, _MAX_DAYS),
        meaning="The same below 1.0.0, and for prereleases.",
    ),
    PolicyKey(
        id="blanket_acceptance",
        default=True,
        values=_FLAG,
        meaning="Whether a caller may accept a breaking change by accept_breaking_change.",
    ),
    PolicyKey(
        id="blanket_acceptance_days",
        default=7,
        values=_between(0, 90),
        meaning="How long such an acceptance of a named consumer stands; 0: for the one call.",
    ),
    PolicyKey(
        id="exception_days",
        default=90,
        values=_between(1, _MAX_DAYS),
        meaning="The longest an exception may stand.",
    ),
)

POLICY_KEYS: Final[Mapping[str, PolicyKey]] = MappingProxyType({row.id: row for row in _ROWS})
"""Every key, one row each. Keys are permanent."""

DEFAULT_ORIGIN: Final = "default"


def check_settings(settings: Mapping[str, Any], *, at: str = "") -> dict[str, Value]:
    """The settings of one scope, each checked; ``at`` is the pointer to them.

    Raises InvalidRequest with a pointer for each key nobody knows and each value that cannot stand.
    """
    faults = []
    read = {
        key: int(value) if isinstance(value, float) and value.is_integer() else value for key, value in settings.items()
    }
    for key, value in read.items():
        row = POLICY_KEYS.get(key)
        why = f"is no policy; there are {', '.join(POLICY_KEYS)}" if row is None else row.check(value)
        if why is not None:
            faults.append(Fault(pointer=f"{at}/{escape(key[:80])}", message=f"{key[:80]!r} {why}", code="policy"))
    if faults:
        raise InvalidRequest(
            "The policy cannot stand as it is.",
            fix="`govctl policy show` lists every key with the values it takes.",
            faults=faults,
        )
    return read


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The values that hold for one skill, and where each was set (``default``, ``namespace:team``, …)."""

    values: Mapping[str, Value] = field(default_factory=lambda: {key: row.default for key, row in POLICY_KEYS.items()})
    origins: Mapping[str, str] = field(default_factory=dict)

    def origin(self, key: str) -> str:
        return self.origins.get(key, DEFAULT_ORIGIN)

    @property
    def mode(self) -> PolicyMode:
        return PolicyMode(str(self.values["mode"]))

    @property
    def notice(self) -> NoticePeriod:
        return NoticePeriod(
            stable=int(self.values["notice_days_stable"]), unstable=int(self.values["notice_days_unstable"])
        )

    @property
    def blanket_allowed(self) -> bool:
        return bool(self.values["blanket_acceptance"])

    @property
    def blanket_days(self) -> int:
        """How long a blanket acceptance of a named consumer stands; 0: for the one call."""
        return int(self.values["blanket_acceptance_days"])

    def to_document(self) -> dict[str, Any]:
        return {key: {"value": self.values[key], "origin": self.origin(key)} for key in POLICY_KEYS}


def effective(scope: Scope | str, settings: Mapping[Scope, Mapping[str, Value]]) -> Policy:
    """What holds for a skill, or in a scope. ``settings`` are those of each scope that sets anything."""
    reaching = Scope.of(scope) if isinstance(scope, str) else scope.reaching
    values = {key: row.default for key, row in POLICY_KEYS.items()}
    origins: dict[str, str] = {}
    for one in reversed(list(reaching)):
        for key, value in settings.get(one, {}).items():
            if key in POLICY_KEYS:  # one that a later release set is not ours to read
                values[key] = value
                origins[key] = str(one)
    return Policy(values=values, origins=origins)


def policy_of(mode: PolicyMode, origin: str = DEFAULT_ORIGIN) -> Policy:
    """The defaults with another mode, for those who have no registry to ask."""
    origins = {} if origin == DEFAULT_ORIGIN else {"mode": origin}
    return Policy(values={**Policy().values, "mode": mode.value}, origins=origins)
