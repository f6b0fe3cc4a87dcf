"""What two do at once to one version comes out as if one had done it after the other; sunsets come once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service, together
from sqlalchemy.event import listen

from governance.control.auth.roles import Caller
from governance.control.database import Database
from governance.control.jobs import Tools, alone, run_job
from governance.control.lifecycle import sunsets
from governance.control.settings import Settings
from governance.errors import Conflict, GovernanceError, PreconditionFailed
from governance.telemetry import Telemetry
from governance.wire import Grant, Role

SKILL = "weather.current"


def in_days(days: int) -> date:
    return datetime.now(UTC).date() + timedelta(days=days)


@pytest.fixture
def owner(owner_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def tools(service: Service, settings: Settings) -> Iterator[Tools]:
    database = Database(service.database_url, settings)
    yield Tools(database=database, settings=settings, telemetry=Telemetry())
    database.close()


def ending(service: Service, owner: psycopg.Connection, *skills: str) -> None:
    """1.0.0 of each skill reaches its announced day today."""
    for skill in skills:
        service.admin.deprecate(skill, "1.0.0", sunset=in_days(400), replacement="none")
    owner.execute("UPDATE skill_version_state SET sunset = current_date WHERE sunset IS NOT NULL")
    owner.execute("UPDATE skill SET sunset = current_date WHERE sunset IS NOT NULL")


def stored_states(owner: psycopg.Connection) -> list[str]:
    return [state for (state,) in owner.execute("SELECT state FROM skill_version_state ORDER BY skill, sort_key")]


# ── races ──


def test_of_two_operators_with_the_same_etag_one_is_told_to_look_again(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    for number in range(5):
        etag = service.admin.get_version(SKILL, "1.0.0").etag
        outcomes = together(
            lambda n=number, match=etag: service.admin.disable(SKILL, "1.0.0", f"on fire {n}", match=match),
            lambda n=number, match=etag: service.admin.yank(SKILL, "1.0.0", f"leaks {n}", match=match),
        )
        assert sum(isinstance(one, PreconditionFailed) for one in outcomes) == 1
    done = [entry for entry in service.entries() if entry["action"] in ("version.disable", "version.yank")]
    assert [entry["outcome"] for entry in done].count("done") == 5
    assert [entry["outcome"] for entry in done].count("refused") == 5


def test_a_publish_and_a_retirement_of_its_baseline_come_one_after_the_other(
    service: Service, owner: psycopg.Connection, manifest: Manifest
) -> None:
    service.admin.put_version(manifest())
    ending(service, owner, SKILL)
    published, retired = together(
        lambda: service.admin.put_version(manifest(version="1.1.0")),
        lambda: service.admin.retire(SKILL, "1.0.0"),
    )
    assert not isinstance(published, GovernanceError)
    assert not isinstance(retired, GovernanceError)
    actions = [entry["action"] for entry in service.entries() if entry["action"] in ("skill.publish", "version.retire")]
    assert actions[0] == "skill.publish"
    judged_against_it = actions[1] == "skill.publish"
    assert published.version.baseline == ("1.0.0" if judged_against_it else None)
    assert service.admin.get_skill(SKILL).latest == "1.1.0"
    assert (service.admin.get_skill(SKILL).versions, service.admin.get_skill(SKILL).state) == (2, "active")


def test_a_deprecation_and_the_publish_of_its_replacement_come_one_after_the_other(
    service: Service, manifest: Manifest
) -> None:
    service.admin.put_version(manifest())
    published, deprecated = together(
        lambda: service.admin.put_version(manifest("weather.hourly")),
        lambda: service.admin.deprecate(SKILL, "1.0.0", sunset=in_days(400), replacement="weather.hourly@^1"),
    )
    assert not isinstance(published, GovernanceError)
    state = service.admin.get_version(SKILL, "1.0.0").state
    if isinstance(deprecated, Conflict):
        assert (deprecated.faults[0].code, state) == ("replacement-missing", "active")
    else:
        assert (deprecated.drop_in[0].replacement, state) == ("weather.hourly@1.0.0", "deprecated")


def test_four_deprecations_at_once_close_no_circle(service: Service, manifest: Manifest) -> None:
    names = [f"ring.skill_{letter}" for letter in "abcd"]
    for name in names:
        service.admin.put_version(manifest(name))
        service.admin.put_version(manifest(name, "2.0.0"))
    pairs = list(zip(names, [*names[1:], names[0]], strict=True))
    outcomes = together(
        *(
            lambda old=old, new=new: service.admin.deprecate(old, "1.0.0", sunset=in_days(400), replacement=f"{new}@^2")
            for old, new in pairs
        )
    )
    refused = [one for one in outcomes if isinstance(one, GovernanceError)]
    assert [one.faults[0].code for one in refused] == ["replacement-circular"]


# ── sunsets ──


def test_two_replicas_enter_each_sunset_once(
    service: Service, owner: psycopg.Connection, manifest: Manifest, tools: Tools, settings: Settings
) -> None:
    names = [f"weather.skill_{number}" for number in range(6)]
    for name in names:
        service.admin.put_version(manifest(name))
    ending(service, owner, *names)
    other = Tools(database=Database(service.database_url, settings), settings=settings, telemetry=Telemetry())
    try:
        counts = together(*[lambda mine=mine: sunsets.enter_due(mine) for mine in (tools, other) * 2])
    finally:
        other.database.close()
    assert sum(counts) == 6
    entries = service.entries("version.sunset")
    assert sorted(entry["subject"] for entry in entries) == [f"{name}@1.0.0" for name in names]
    assert {(entry["actor"]["id"], entry["before"]["state"]) for entry in entries} == {("system", "deprecated")}
    assert set(stored_states(owner)) == {"sunset"}
    assert {card.state for card in service.admin.search()} == {"sunset"}
    assert sunsets.enter_due(tools) == 0


def test_while_one_replica_is_at_it_the_others_leave_it(
    service: Service, owner: psycopg.Connection, manifest: Manifest, tools: Tools
) -> None:
    service.admin.put_version(manifest())
    ending(service, owner, SKILL)
    with tools.database.transaction() as session:
        assert alone(session, sunsets.DUE_SUNSETS.name)
        assert sunsets.enter_due(tools) == 0
    assert sunsets.enter_due(tools) == 1


def test_a_replica_that_dies_in_the_middle_leaves_nothing_half(
    service: Service, owner: psycopg.Connection, manifest: Manifest, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"weather.skill_{number}" for number in range(3)]
    for name in names:
        service.admin.put_version(manifest(name))
    ending(service, owner, *names)
    entered: list[str] = []

    def dying(session: Any, skill: str) -> int:
        entered.append(skill)
        done = enter(session, skill)
        session.flush()
        if len(entered) == 2:
            (pid,) = session.connection().exec_driver_sql("SELECT pg_backend_pid()").one()
            owner.execute("SELECT pg_terminate_backend(%s)", (pid,))
        return done

    enter = sunsets._enter
    monkeypatch.setattr(sunsets, "_enter", dying)
    assert run_job(sunsets.DUE_SUNSETS, tools) == 0
    assert len(entered) >= 2
    assert (stored_states(owner), service.entries("version.sunset")) == (["deprecated"] * 3, [])
    monkeypatch.undo()
    assert run_job(sunsets.DUE_SUNSETS, tools) == 3
    assert len(service.entries("version.sunset")) == 3


def test_a_change_on_the_day_itself_and_the_job_enter_the_sunset_once(
    service: Service, owner: psycopg.Connection, manifest: Manifest, tools: Tools
) -> None:
    service.admin.put_version(manifest())
    ending(service, owner, SKILL)
    together(lambda: service.admin.yank(SKILL, "1.0.0", "leaks"), lambda: sunsets.enter_due(tools))
    assert len(service.entries("version.sunset")) == 1
    stored = service.admin.get_version(SKILL, "1.0.0")
    assert (stored.state, stored.yanked, stored.revision) == ("sunset", "leaks", 4)


def test_what_comes_is_listed_by_date_with_who_is_still_served(
    service: Service, owner: psycopg.Connection, manifest: Manifest
) -> None:
    for name, days in (("weather.current", 400), ("weather.hourly", 500), ("maps.route", 450)):
        service.admin.put_version(manifest(name))
        service.admin.deprecate(name, "1.0.0", sunset=in_days(days), replacement="none")
    service.admin.put_version(manifest("weather.fresh"))
    owner.execute(
        "INSERT INTO consumer (name, revision, created_at, updated_at, updated_by) VALUES ('bot', 1, now(), now(), 'x')"
    )
    owner.execute(
        "INSERT INTO consumer_need (skill, consumer, environment, source, range, first_seen_at, last_seen_at)"
        " VALUES ('maps.route', 'bot', '', 'declared', '^1', now(), now())"
    )
    listed = list(service.admin.sunsets())
    assert [(one.skill, one.days_left, one.consumers) for one in listed] == [
        ("weather.current", 400, []),
        ("maps.route", 450, ["bot"]),
        ("weather.hourly", 500, []),
    ]
    assert [one.skill for one in service.admin.sunsets(within_days=450)] == ["weather.current", "maps.route"]
    with service.http(service.serving.token) as http:
        first = http.get("/v1/sunsets", params={"limit": 1}).json()
        rest = http.get("/v1/sunsets", params={"limit": 5, "cursor": first["next"]}).json()
        assert http.get("/v1/sunsets", params={"cursor": "eA"}).status_code == 400
    assert [one["skill"] for one in first["items"] + rest["items"]] == [one.skill for one in listed]


def test_the_list_costs_as_many_queries_for_many_as_for_one(service: Service, manifest: Manifest, tools: Tools) -> None:
    counts = []
    reader = Caller(id="tok_1", name="reader", grants=(Grant(role=Role.VIEWER, namespace="*"),))
    for number in range(5):
        service.admin.put_version(manifest(f"weather.skill_{number}"))
        service.admin.deprecate(f"weather.skill_{number}", "1.0.0", sunset=in_days(400), replacement="none")
        statements: list[str] = []
        with tools.database.transaction() as session:
            listen(session.connection(), "before_cursor_execute", lambda *told, to=statements: to.append(told[2]))
            found, _ = sunsets.coming(session, by=reader, within_days=None, after=None, limit=50)
        assert len(found) == number + 1
        counts.append(len(statements))
    assert counts == [3] * 5
