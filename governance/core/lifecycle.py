"""A version's life: draft → active → deprecated → sunset → retired, every step reversible but the last.

Beside the state stand two switches that never move it: ``disabled``, an operator's, and ``yanked``, after which
ranges pass the version over. ``step`` is pure: today's date comes in, the new record and the transition that
the audit log tells come out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final, TypeAlias

from governance.core.skill import NO_REPLACEMENT, Status
from governance.core.versioning import Version
from governance.errors import Conflict, InvalidRequest


@dataclass(frozen=True, kw_only=True)
class NoticePeriod:
    """Days between a deprecation and its sunset, at the least."""

    stable: int = 365
    unstable: int = 90
    """Below 1.0.0, and for prereleases."""

    def days(self, version: Version) -> int:
        return self.stable if is_stable(version) else self.unstable


def is_stable(version: Version) -> bool:
    """From 1.0.0 on, and no prerelease."""
    return version.major > 0 and not version.is_prerelease


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """The live record beside an immutable version."""

    state: Status = Status.ACTIVE
    disabled: str | None = None
    """Why it is switched off; None: it is on."""
    yanked: str | None = None
    """Why it is yanked; None: it is not."""
    deprecated_on: date | None = None
    """The day the deprecation was announced."""
    sunset: date | None = None
    retired_since: date | None = None
    replacement: str | None = None
    """``name@range``, or NO_REPLACEMENT."""
    migration_guide: str | None = None

    def to_document(self) -> dict[str, Any]:
        days = {name: getattr(self, name) for name in ("deprecated_on", "sunset", "retired_since")}
        return {
            "state": self.state.value,
            "disabled": self.disabled,
            "yanked": self.yanked,
            **{name: day.isoformat() if day else None for name, day in days.items()},
            "replacement": self.replacement,
            "migration_guide": self.migration_guide,
        }


@dataclass(frozen=True, kw_only=True)
class Activate:
    """A draft begins to serve."""


@dataclass(frozen=True, kw_only=True)
class Deprecate:
    """Announce the end, or amend the announcement.

    ``replacement`` is ``name@range``, or NO_REPLACEMENT to say that there is none. Whether it can take the place
    is for ``core.replacements`` to judge.
    """

    sunset: date
    replacement: str | None = None
    migration_guide: str | None = None


@dataclass(frozen=True, kw_only=True)
class EnterSunset:
    """The day has come: from now on only consumers already on record are served."""


@dataclass(frozen=True, kw_only=True)
class Retire:
    """Serve nobody any more, for good."""


@dataclass(frozen=True, kw_only=True)
class Revert:
    """Take the last step back. Out of sunset it needs a new, later ``sunset`` date."""

    sunset: date | None = None


@dataclass(frozen=True, kw_only=True)
class Disable:
    reason: str


@dataclass(frozen=True, kw_only=True)
class Enable:
    pass


@dataclass(frozen=True, kw_only=True)
class Yank:
    reason: str


@dataclass(frozen=True, kw_only=True)
class Unyank:
    pass


Event: TypeAlias = Activate | Deprecate | EnterSunset | Retire | Revert | Disable | Enable | Yank | Unyank


@dataclass(frozen=True, kw_only=True)
class Transition:
    """What changed, for the audit log, metrics and messages."""

    event: Event
    before: Lifecycle
    after: Lifecycle


def step(
    lifecycle: Lifecycle,
    event: Event,
    *,
    today: date,
    version: Version,
    notice: NoticePeriod | None = None,
) -> tuple[Lifecycle, Transition | None]:
    """The record after ``event``; the transition is None when nothing changed.

    Raises:
        Conflict: the state does not allow the event; ``fix`` names the step that comes first.
        InvalidRequest: a date is too soon or was moved earlier, or a reason or replacement is missing.
    """
    handle: _Handler = _HANDLERS[type(event)]
    after = handle(lifecycle, event, today, version, notice or NoticePeriod())
    if after == lifecycle:
        return lifecycle, None
    return after, Transition(event=event, before=lifecycle, after=after)


def _activate(now: Lifecycle, event: Activate, *_: object) -> Lifecycle:
    _demand_state(now, event, Status.DRAFT, Status.ACTIVE)
    return replace(now, state=Status.ACTIVE)


def _deprecate(now: Lifecycle, event: Deprecate, today: date, version: Version, notice: NoticePeriod) -> Lifecycle:
    _demand_state(now, event, Status.ACTIVE, Status.DEPRECATED)
    if event.replacement is None:
        raise InvalidRequest(
            "A deprecation names its replacement, or says that there is none.",
            fix=f"Give the replacement as name@range, or {NO_REPLACEMENT!r} to say that there is none.",
        )
    if now.sunset is not None and event.sunset < now.sunset:
        raise InvalidRequest(
            f"The sunset on {now.sunset} may move later, never earlier.",
            fix=f"Give {now.sunset} or a later day, or revert the deprecation.",
        )
    if event.sunset != now.sunset:
        announced = now.deprecated_on or today
        earliest = announced + timedelta(days=notice.days(version))
        if event.sunset < earliest:
            policy = "notice_days_stable" if is_stable(version) else "notice_days_unstable"
            raise InvalidRequest(
                f"A sunset on {event.sunset} leaves less than {notice.days(version)} days of notice.",
                fix=f"Give {earliest} or a later day, or have the policy {policy} changed.",
            )
    return replace(
        now,
        state=Status.DEPRECATED,
        deprecated_on=now.deprecated_on or today,
        sunset=event.sunset,
        replacement=event.replacement,
        migration_guide=event.migration_guide or now.migration_guide,
    )


def _enter_sunset(now: Lifecycle, event: EnterSunset, today: date, *_: object) -> Lifecycle:
    _demand_state(now, event, Status.DEPRECATED, Status.SUNSET)
    if now.sunset is None or today < now.sunset:
        raise Conflict(
            f"The sunset is on {now.sunset}, and today is {today}.", fix="Wait for the day that was announced."
        )
    return replace(now, state=Status.SUNSET)


def _retire(now: Lifecycle, event: Retire, today: date, *_: object) -> Lifecycle:
    _demand_state(now, event, Status.SUNSET, Status.RETIRED)
    return replace(now, state=Status.RETIRED, retired_since=now.retired_since or today)


def _revert(now: Lifecycle, event: Revert, today: date, *_: object) -> Lifecycle:
    match now.state:
        case Status.ACTIVE:
            return replace(now, state=Status.DRAFT)
        case Status.DEPRECATED:
            return replace(
                now, state=Status.ACTIVE, deprecated_on=None, sunset=None, replacement=None, migration_guide=None
            )
        case Status.SUNSET:
            if event.sunset is None or event.sunset <= today:
                raise InvalidRequest(
                    "Out of sunset a version needs a new date, or it would sink again at once.",
                    fix=f"Give a sunset date after {today}.",
                )
            return replace(now, state=Status.DEPRECATED, sunset=event.sunset)
        case Status.RETIRED:
            raise Conflict("A retired version cannot come back.", fix="Publish the same contract as a new version.")
        case Status.DRAFT:
            raise Conflict("A draft has no step to take back.", fix="Activate it, or leave it.")


def _disable(now: Lifecycle, event: Disable, *_: object) -> Lifecycle:
    return replace(now, disabled=_reason(event.reason))


def _enable(now: Lifecycle, _event: Enable, *_: object) -> Lifecycle:
    return replace(now, disabled=None)


def _yank(now: Lifecycle, event: Yank, *_: object) -> Lifecycle:
    return replace(now, yanked=_reason(event.reason))


def _unyank(now: Lifecycle, _event: Unyank, *_: object) -> Lifecycle:
    return replace(now, yanked=None)


_Handler: TypeAlias = Callable[[Lifecycle, Any, date, Version, NoticePeriod], Lifecycle]

_HANDLERS: Final[dict[type, Any]] = {
    Activate: _activate,
    Deprecate: _deprecate,
    EnterSunset: _enter_sunset,
    Retire: _retire,
    Revert: _revert,
    Disable: _disable,
    Enable: _enable,
    Yank: _yank,
    Unyank: _unyank,
}

_BEFORE: Final = {
    Activate: "Only drafts are activated.",
    Deprecate: "Activate the version first.",
    EnterSunset: "Deprecate the version first.",
    Retire: "A version is retired from sunset: deprecate it and let its date pass first.",
}


def _demand_state(now: Lifecycle, event: Event, origin: Status, target: Status) -> None:
    """``event`` leads from ``origin`` to ``target``; at the target it changes nothing or amends."""
    if now.state not in (origin, target):
        verb = type(event).__name__.lower()
        raise Conflict(f"The version is {now.state.value}; {verb} leads from {origin.value}.", fix=_BEFORE[type(event)])


def _reason(text: str) -> str:
    if not text.strip():
        raise InvalidRequest("A reason is needed; people will read it.", fix="Say why in a sentence.")
    return text.strip()
