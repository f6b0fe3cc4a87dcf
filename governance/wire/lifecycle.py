"""The life of versions: announcing an end, ending, switching; and what became of it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from governance.core.skill import Status
from governance.wire.base import Answer, JSONObject, Request, Text, Why


def _day(value: Any) -> Any:
    if isinstance(value, str) and len(value) == 10:
        return date.fromisoformat(value)
    if isinstance(value, date):
        return value
    raise ValueError("is not a date such as 2027-05-31")


Day = Annotated[date, BeforeValidator(_day)]
"""A reason that people will read."""


class DeprecationRequest(Request):
    """Announce the end of a version, or amend the announcement."""

    sunset: Day
    """From this day on only consumers on record are served. It may move later, never earlier."""
    replacement: Annotated[str, Field(min_length=1, max_length=400)]
    """``name@range``, or ``none`` to say that there is none."""
    migration_guide: Annotated[str, Field(max_length=2_000, pattern=r"^https?://[^\s\x00]+$")] | None = None
    reason: Text | None = None


class RangeDeprecationRequest(DeprecationRequest):
    """The same for all versions that ``range`` admits, prereleases too; without one for the whole skill."""

    range: Annotated[str, Field(max_length=2_000)] | None = None


class SwitchRequest(Request):
    """Yank a version, or switch it off."""

    reason: Why


class RetirementRequest(Request):
    """Retire a version. By ``force`` it goes although something live depends on it, which takes a reason."""

    reason: Text | None = None
    force: bool = False


class LifecycleView(Answer):
    """The live record of a version."""

    state: Status
    disabled: str | None = None
    yanked: str | None = None
    deprecated_on: date | None = None
    sunset: date | None = None
    retired_since: date | None = None
    replacement: str | None = None
    migration_guide: str | None = None


class VersionChange(Answer):
    """What became of one version; ``changed`` is False where it stood so already."""

    version: str
    changed: bool
    before: LifecycleView
    after: LifecycleView
    etag: str


class LeftAlone(Answer):
    """A version that the range admits and that was not changed."""

    version: str
    why: str


class DropInView(Answer):
    """May callers of ``version`` call ``replacement`` as they call it now?"""

    version: str
    replacement: str
    """``name@version``"""
    drop_in: bool
    verdict: str
    findings: list[JSONObject] = Field(default_factory=list)
    """What stands between, each break with its payload."""
    more_findings: int = 0


class ServedView(Answer):
    """A consumer that one of the versions serves, and what would serve it without them."""

    consumer: str
    owner: str | None = None
    environment: str | None = None
    source: str
    range: str | None = None
    version: str
    then: str | None = None


class LifecycleChange(Answer):
    """What became of the versions of a skill; with ``dry_run``, what would."""

    skill: str
    dry_run: bool
    versions: list[VersionChange]
    left_alone: list[LeftAlone] = Field(default_factory=list)
    drop_in: list[DropInView] = Field(default_factory=list)
    """Each distinct contract against the replacement."""
    serves: list[ServedView] = Field(default_factory=list)
    """Who is served by these versions now, by declaration or observation."""
    more_served: int = 0
    forced: list[str] = Field(default_factory=list)
    """What kept the version from being retired, where that was overridden."""


class SunsetView(Answer):
    """A version whose end is announced."""

    skill: str
    version: str
    state: Status
    deprecated_on: date | None = None
    sunset: date
    days_left: int
    """Negative past the day."""
    replacement: str | None = None
    migration_guide: str | None = None
    consumers: list[str] = Field(default_factory=list)
    """Who is still served by it, by declaration or observation."""
    more_consumers: int = 0


class SunsetPage(Answer):
    """Sunsets by date, the next one first."""

    items: list[SunsetView]
    next: str | None = None
