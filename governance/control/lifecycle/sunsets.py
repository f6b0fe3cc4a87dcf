"""Coming ends: listed by date with who is still served, and entered on their day by whichever replica is first."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session

from governance.control.auth.roles import Caller, Right
from governance.control.consumers.service import needs_of
from governance.control.jobs import Job, Tools, alone
from governance.control.lifecycle.holding import hold
from governance.control.skills.reading import published_among
from governance.control.skills.service import lock
from governance.control.skills.tables import live_state
from governance.core.dependents import served_by
from governance.core.versioning import Version
from governance.errors import UsageError
from governance.wire import SunsetView

_MOST_CONSUMERS: Final = 20
_SKILLS_AT_ONCE: Final = 50
_EVERY_SEC: Final = 300.0

_COMING: Final = text(
    f"""
    SELECT v.skill, v.version, {live_state("s")} AS state, s.deprecated_on, s.sunset,
           s.sunset - current_date AS days_left, s.replacement, s.migration_guide
    FROM skill_version_state s JOIN skill_version v USING (skill, sort_key)
    WHERE s.sunset IS NOT NULL AND s.state IN ('deprecated', 'sunset')
      AND (CAST(:within AS int) IS NULL OR s.sunset <= current_date + CAST(:within AS int))
      AND (s.sunset, v.skill, v.version) > (CAST(:sunset AS date), :skill, :version)
      AND (:everywhere OR EXISTS (
        SELECT FROM unnest(CAST(:reach AS text[])) AS one
        WHERE v.namespace = one OR starts_with(v.namespace, one || '.')))
    ORDER BY s.sunset, v.skill, v.version LIMIT :limit
    """
)
_DUE: Final = text(
    "SELECT DISTINCT skill FROM skill_version_state"
    " WHERE state = 'deprecated' AND sunset <= current_date ORDER BY skill LIMIT :limit"
)


def coming(
    session: Session, *, by: Caller, within_days: int | None, after: str | None, limit: int
) -> tuple[list[SunsetView], str | None]:
    """Versions whose end is announced, the next one first, in three queries; and where to go on.

    ``within_days`` leaves out what is further off. Only of skills that the caller may read.
    """
    sunset, skill, version = _position(after)
    reach = by.reach(Right.READ)
    rows = session.execute(
        _COMING,
        {
            "within": within_days,
            "sunset": sunset,
            "skill": skill,
            "version": version,
            "everywhere": "*" in reach,
            "reach": sorted(reach),
            "limit": limit + 1,
        },
    )
    found = [dict(row) for row in rows.mappings()]
    shown = found[:limit]
    consumers = _consumers(session, shown)
    views = [_view(row, consumers[row["skill"], row["version"]]) for row in shown]
    more = len(found) > limit
    return views, "{sunset} {skill} {version}".format_map(shown[-1]) if more else None


def _view(row: dict[str, Any], consumers: list[str]) -> SunsetView:
    return SunsetView(
        **row, consumers=consumers[:_MOST_CONSUMERS], more_consumers=max(0, len(consumers) - _MOST_CONSUMERS)
    )


def _consumers(session: Session, rows: list[dict[str, Any]]) -> dict[tuple[str, str], list[str]]:
    """Who is served by each version of ``rows``, by name."""
    versions: dict[str, set[Version]] = defaultdict(set)
    for row in rows:
        versions[row["skill"]].add(Version.parse(row["version"]))
    published, needs = published_among(session, sorted(versions)), needs_of(session, versions)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for skill, ending in versions.items():
        for served in served_by(skill, ending, published[skill], needs.get(skill, ())):
            found[skill, str(served.version)].add(served.need.consumer)
    return defaultdict(list, {key: sorted(names) for key, names in found.items()})


def _position(after: str | None) -> tuple[date, str, str]:
    if after is None:
        return date.min, "", ""
    try:
        sunset, skill, version = after.split(" ")
        return date.fromisoformat(sunset), skill, version
    except ValueError:
        raise UsageError("The cursor belongs to another list.", fix="Start at the first page again.") from None


def enter_due(tools: Tools) -> int:
    """Enter every sunset whose day has come, by the database's date, each with its audit entry; how many that were.

    A batch is one transaction, under the locks of its skills: a replica that dies leaves the batch as it was.
    """
    entered = 0
    while True:
        with tools.database.transaction() as session:
            if not alone(session, DUE_SUNSETS.name):
                return entered
            skills = session.execute(_DUE, {"limit": _SKILLS_AT_ONCE}).scalars().all()
            lock(session, skills)
            in_batch = sum(_enter(session, skill) for skill in skills)
        entered += in_batch
        if len(skills) < _SKILLS_AT_ONCE or not in_batch:
            return entered


def _enter(session: Session, skill: str) -> int:
    held = hold(session, skill)
    entered = sum(held.enter_sunset(one) for one in held.versions.values())
    held.done()
    return entered


DUE_SUNSETS: Final = Job(
    name="sunsets",
    every_sec=_EVERY_SEC,
    run=enter_due,
    meaning="Enters the sunsets whose day has come.",
)
