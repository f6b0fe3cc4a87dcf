"""Policy as data: what may be set, and the value that holds for a skill with where it was set.

The nearest scope wins: the skill's own, its namespace, each namespace above, the global one, the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from governance.core.lifecycle import NoticePeriod
from governance.errors import Fault, InvalidRequest

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
    """Where a policy is set; ``name`` is empty for the global scope."""

    kind: ScopeKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind.value} {self.name}".rstrip()

    @classmethod
    def of(cls, skill: str) -> Iterator[Scope]:
        """The scopes that reach ``skill``, nearest first."""
        yield cls(kind=ScopeKind.SKILL, name=skill)
        namespace = skill.rpartition(".")[0]
        while namespace:
            yield cls(kind=ScopeKind.NAMESPACE, name=namespace)
            namespace = namespace.rpartition(".")[0]
        yield cls(kind=ScopeKind.GLOBAL)


@dataclass(frozen=True, kw_only=True)
class PolicyKey:
    """One thing that may be set. ``check`` gives the fault of a value as a sentence, None where it may stand."""

    id: str
    default: Value
    check: Callable[[object], str | None]
    shown: str
    """The values it takes, in words."""
    meaning: str


def _one_of(*choices: str) -> Callable[[object], str | None]:
    return lambda value: None if value in choices and isinstance(value, str) else f"is not one of {', '.join(choices)}"


def _between(low: int, high: int) -> Callable[[object], str | None]:
    def check(value: object) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            return f"is not a whole number from {low} to {high}"
        return None

    return check


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "is neither true nor false"


_MAX_DAYS: Final = 3_650

_ROWS: Final = (
    PolicyKey(
        id="mode",
        default=PolicyMode.ENFORCE.value,
        check=_one_of(*PolicyMode),
        shown="off, warn or enforce",
        meaning="What the gate does: nothing but list, warn, or block. What cannot be stored is always refused.",
    ),
    PolicyKey(
        id="fail_on",
        default="none",
        check=_one_of("none", "risky", "breaking"),
        shown="none, risky or breaking",
        meaning="The mildest verdict that blocks whatever the number says.",
    ),
    PolicyKey(
        id="readiness",
        default="warn",
        check=_one_of("off", "warn", "block"),
        shown="off, warn or block",
        meaning="What a missing owner, missing test record or missing telemetry of a high-risk skill does.",
    ),
    PolicyKey(
        id="notice_days_stable",
        default=365,
        check=_between(0, _MAX_DAYS),
        shown="0 to 3650",
        meaning="Days between a deprecation and its sunset, at the least, from 1.0.0 on.",
    ),
    PolicyKey(
        id="notice_days_unstable",
        default=90,
        check=_between(0, _MAX_DAYS),
        shown="0 to 3650",
        meaning="The same below 1.0.0, and for prereleases.",
    ),
    PolicyKey(
        id="blanket_acceptance",
        default=True,
        check=_flag,
        shown="true or false",
        meaning="Whether a caller may accept a breaking change by accept_breaking_change.",
    ),
    PolicyKey(
        id="blanket_acceptance_days",
        default=7,
        check=_between(0, 90),
        shown="0 to 90",
        meaning="How long such an acceptance of a named consumer stands; 0: for the one call.",
    ),
    PolicyKey(
        id="exception_days",
        default=90,
        check=_between(1, _MAX_DAYS),
        shown="1 to 3650",
        meaning="The longest an exception may stand.",
    ),
)

POLICY_KEYS: Final[Mapping[str, PolicyKey]] = MappingProxyType({row.id: row for row in _ROWS})
"""Every key, one row each. Keys are permanent."""

DEFAULT_ORIGIN: Final = "default"


def check_settings(settings: Mapping[str, Any]) -> dict[str, Value]:
    """The settings of one scope, each checked.

    Raises InvalidRequest with a pointer for each key nobody knows and each value that cannot stand.
    """
    faults = []
    for key, value in settings.items():
        row = POLICY_KEYS.get(key)
        why = f"is no policy; there are {', '.join(POLICY_KEYS)}" if row is None else row.check(value)
        if why is not None:
            pointer = "/" + key[:80].replace("~", "~0").replace("/", "~1")
            faults.append(Fault(pointer=pointer, message=f"{key[:80]!r} {why}", code="policy"))
    if faults:
        raise InvalidRequest(
            "The policy cannot stand as it is.",
            fix="`govctl policy show` lists every key with the values it takes.",
            faults=faults,
        )
    return dict(settings)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The values that hold for one skill, and where each was set (``default``, ``namespace team``, …)."""

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

    def to_document(self) -> dict[str, Any]:
        return {key: {"value": self.values[key], "origin": self.origin(key)} for key in POLICY_KEYS}


def effective(skill: str, settings: Mapping[Scope, Mapping[str, Value]]) -> Policy:
    """What holds for ``skill``. ``settings`` are those of each scope that sets anything."""
    values = {key: row.default for key, row in POLICY_KEYS.items()}
    origins: dict[str, str] = {}
    for scope in reversed(list(Scope.of(skill))):
        for key, value in settings.get(scope, {}).items():
            if key in POLICY_KEYS:  # one that a later release set is not ours to read
                values[key] = value
                origins[key] = str(scope)
    return Policy(values=values, origins=origins)


def policy_of(mode: PolicyMode, origin: str = DEFAULT_ORIGIN) -> Policy:
    """The defaults with another mode, for those who have no registry to ask."""
    origins = {} if origin == DEFAULT_ORIGIN else {"mode": origin}
    return Policy(values={**Policy().values, "mode": mode.value}, origins=origins)
