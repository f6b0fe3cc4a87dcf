"""What a consumer accepted is kept, ends when it is over or revoked, and goes no further than it says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.errors import BreakingChangeNotAccepted, Forbidden, NotFound, Retired
from governance.wire import ResolveQuestion, Role

SKILL = "weather.current"
STRICTER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}


@pytest.fixture
def weather(service: Service, manifest: Manifest) -> Service:
    """``weather.current`` 1.0.0 and 2.0.0, which asks for more."""
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="2.0.0", compatibility="breaking_change", input_schema=STRICTER))
    return service


@pytest.fixture
def owner(owner_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


def flagged(service: Service, consumer: str | None = "bot") -> str:
    return service.admin.resolve(SKILL, consumer=consumer, accept_breaking_change=True).version


def policy(service: Service, **settings: Any) -> None:
    service.admin.put_policy("namespace:weather", settings, revision=None)


# ── blanket acceptance ──


def test_a_blanket_acceptance_of_a_named_consumer_stands_for_days_and_is_recorded_once(
    weather: Service, owner: psycopg.Connection
) -> None:
    assert [flagged(weather) for _ in range(2)] == ["2.0.0"] * 2
    found = weather.admin.resolve(SKILL, consumer="bot")
    assert (found.version, found.basis) == ("2.0.0", "record")
    (acceptance,) = weather.admin.acceptances(skill=SKILL)
    assert (acceptance.consumer, acceptance.line, acceptance.basis) == ("bot", "2.0.0", "flag")
    assert acceptance.expires_at is not None
    left = acceptance.expires_at - datetime.now(UTC)
    assert timedelta(days=6) < left <= timedelta(days=7, minutes=5)
    (entry,) = weather.entries("line.accept")
    assert entry["after"]["expires_at"] == acceptance.expires_at.isoformat(timespec="seconds")

    owner.execute("UPDATE line_acceptance SET expires_at = now() - interval '1 second'")
    with pytest.raises(BreakingChangeNotAccepted):
        weather.admin.resolve(SKILL, consumer="bot")
    assert list(weather.admin.acceptances(skill=SKILL)) == []
    assert flagged(weather) == "2.0.0", "what is over may be accepted again"
    (again,) = weather.admin.acceptances(consumer="bot")
    assert again.expires_at is not None
    assert again.expires_at > acceptance.expires_at - timedelta(minutes=1)
    assert len(weather.entries("line.accept")) == 2


def test_a_blanket_acceptance_goes_no_further_than_the_newest_line_of_its_moment(
    weather: Service, manifest: Manifest
) -> None:
    flagged(weather)
    third = STRICTER | {"required": ["city", "days", "unit"], "properties": STRICTER["properties"] | {"unit": {}}}
    weather.admin.put_version(manifest(version="3.0.0", compatibility="breaking_change", input_schema=third))
    found = weather.admin.resolve(SKILL, consumer="bot")
    assert (found.version, found.held_back and found.held_back.version) == ("2.0.0", "3.0.0")


def test_where_the_policy_keeps_nothing_the_flag_holds_for_its_call(weather: Service) -> None:
    policy(weather, blanket_acceptance_days=0)
    assert [flagged(weather) for _ in range(2)] == ["2.0.0"] * 2
    assert list(weather.admin.acceptances()) == []
    with pytest.raises(BreakingChangeNotAccepted):
        weather.admin.resolve(SKILL, consumer="bot")
    assert [entry["after"]["basis"] for entry in weather.entries("line.accept")] == ["flag", "flag"]


def test_an_anonymous_caller_is_asked_each_time(weather: Service) -> None:
    assert flagged(weather, None) == "2.0.0"
    assert list(weather.admin.acceptances()) == []
    with pytest.raises(BreakingChangeNotAccepted):
        weather.admin.resolve(SKILL)


def test_a_namespace_may_forbid_the_flag_and_then_nobody_is_offered_it(weather: Service, manifest: Manifest) -> None:
    weather.admin.put_version(manifest("maps.route"))
    weather.admin.put_version(manifest("maps.route", "2.0.0", compatibility="breaking_change", input_schema=STRICTER))
    policy(weather, blanket_acceptance=False)
    for consumer in ("bot", None):
        with pytest.raises(BreakingChangeNotAccepted) as caught:
            flagged(weather, consumer)
        assert {way["way"] for way in caught.value.details["ways"]} == {"range", "register"}
    assert weather.admin.resolve("maps.route", consumer="bot", accept_breaking_change=True).version == "2.0.0"
    held = weather.admin.resolve(SKILL, ">=1", accept_breaking_change=True)
    assert (held.version, [one["code"] for one in held.warnings]) == ("1.0.0", ["flag-refused"])


def test_a_named_line_outlasts_the_blanket_acceptance_before_it(weather: Service) -> None:
    flagged(weather)
    weather.admin.resolve(SKILL, consumer="bot", accept_line="2.0.0")
    (acceptance,) = weather.admin.acceptances()
    assert (acceptance.basis, acceptance.expires_at) == ("named-line", None)
    flagged(weather)
    assert list(weather.admin.acceptances()) == [acceptance], "and no blanket one shortens it"


# ── revocation ──


def test_who_may_not_resolve_there_revokes_nothing_and_that_is_on_record(weather: Service) -> None:
    flagged(weather)
    (acceptance,) = weather.admin.acceptances()
    with weather.client(Role.VIEWER) as viewer, pytest.raises(Forbidden):
        viewer.revoke_acceptance(acceptance.id)
    with weather.client(Role.CALLER, "maps") as stranger:
        assert list(stranger.acceptances()) == []
        with pytest.raises(NotFound):
            stranger.revoke_acceptance(acceptance.id)
    assert [entry["outcome"] for entry in weather.entries("line.revoke")] == ["refused", "refused"]
    assert list(weather.admin.acceptances()) == [acceptance]


def test_who_revokes_an_acceptance_is_asked_again(weather: Service) -> None:
    weather.admin.resolve(SKILL, consumer="bot", accept_line="2.0.0")
    weather.admin.resolve(SKILL, consumer="other", accept_line="2.0.0")
    (acceptance,) = weather.admin.acceptances(consumer="bot")
    with weather.client(Role.CALLER, "weather") as caller:
        revoked = caller.revoke_acceptance(acceptance.id)
        assert caller.revoke_acceptance(acceptance.id) == revoked, "safe to repeat"
    assert revoked.revoked_at is not None
    with pytest.raises(BreakingChangeNotAccepted):
        weather.admin.resolve(SKILL, consumer="bot")
    assert weather.admin.resolve(SKILL, consumer="other").version == "2.0.0"
    (entry,) = weather.entries("line.revoke")
    assert (entry["subject"], entry["before"]["revoked_by"]) == (SKILL, None)
    assert entry["after"]["consumer"] == "bot"
    assert [one.consumer for one in weather.admin.acceptances()] == ["other"]
    assert {one.consumer for one in weather.admin.acceptances(ended=True)} == {"bot", "other"}
    weather.admin.resolve(SKILL, consumer="bot", accept_line="2.0.0")
    assert len(list(weather.admin.acceptances(consumer="bot", ended=True))) == 2, "what was revoked stays as history"


def test_acceptances_are_paged(weather: Service) -> None:
    for number in range(5):
        weather.admin.resolve(SKILL, consumer=f"bot-{number}", accept_line="2.0.0")
    with weather.http(weather.serving.token) as http:
        first = http.get("/v1/acceptances", params={"limit": 3}).json()
        rest = http.get("/v1/acceptances", params={"limit": 3, "cursor": first["next"]}).json()
        assert http.get("/v1/acceptances", params={"cursor": "eA"}).status_code == 400
    names = [one["consumer"] for one in first["items"] + rest["items"]]
    assert (sorted(names), rest["next"]) == ([f"bot-{number}" for number in range(5)], None)


# ── what a refused caller is told ──


def test_a_caller_whose_line_is_gone_is_told_the_change_in_the_fields_it_uses(
    weather: Service, owner: psycopg.Connection
) -> None:
    assert weather.admin.resolve(SKILL, "^1", consumer="bot").version == "1.0.0"
    weather.admin.resolve(SKILL, consumer="bot", accept_line="1.0.0")
    declare(owner, "bot", sends=["/city"])
    weather.admin.disable(SKILL, "1.0.0", "on fire")
    with pytest.raises(BreakingChangeNotAccepted) as caught:
        weather.admin.resolve(SKILL, consumer="bot")
    details = caught.value.details
    assert (details["from"], details["newest"]) == ("1.0.0", "2.0.0")
    matters = details["matters"]
    assert (matters["verdict"], matters["own_fields"]) == ("breaking", True)
    assert matters["payload"] == matters["findings"][0]["witness"]["payload"]
    assert "days" not in matters["payload"]
    assert {way["way"] for way in details["ways"]} == {"range", "flag", "register"}


def declare(
    owner: psycopg.Connection, consumer: str, *, sends: list[str] | None = None, reads: list[str] | None = None
) -> None:
    owner.execute(
        "INSERT INTO consumer (name, revision, created_at, updated_at, updated_by) VALUES (%s, 1, now(), now(), 'x')",
        (consumer,),
    )
    owner.execute(
        "INSERT INTO consumer_need (skill, consumer, environment, source, sends, reads, first_seen_at, last_seen_at)"
        " VALUES (%s, %s, '', 'declared', %s, %s, now(), now())",
        (SKILL, consumer, sends, reads),
    )


def test_at_first_contact_between_lines_there_is_nothing_to_compare_with(weather: Service) -> None:
    with pytest.raises(BreakingChangeNotAccepted) as caught:
        weather.admin.resolve(SKILL)
    assert caught.value.details["from"] is None
    assert "matters" not in caught.value.details
    assert caught.value.details["opened_by"][0]["witness"]["accepted_by"] == "old"


# ── an announced end ──


def test_an_announced_end_is_in_headers_fields_warnings_and_metrics(weather: Service) -> None:
    today = datetime.now(UTC).date()
    sunset = today + timedelta(days=400)
    weather.admin.deprecate(
        SKILL,
        "1.0.0",
        sunset=sunset,
        replacement="weather.current@>=2 <3",
        migration_guide="https://docs.acme.dev/a,b%20c",
    )
    midnight = int(datetime(today.year, today.month, today.day, tzinfo=UTC).timestamp())
    question = {"questions": [{"skill": SKILL, "range": "^1"}], "consumer": "bot"}
    with weather.http(weather.serving.token) as http:
        one = http.get(f"/v1/skills/{SKILL}/versions/1.0.0")
        resolved = http.post("/v1/resolve", json=question)
        both = http.post("/v1/resolve", json={"questions": question["questions"] * 2})
        other = http.get(f"/v1/skills/{SKILL}/versions/2.0.0")
        metrics = http.get("/metrics").text
    for response in (one, resolved):
        assert response.headers["deprecation"] == f"@{midnight}"
        assert parsedate_to_datetime(response.headers["sunset"]).date() == sunset
        assert response.headers["link"] == (
            '</v1/skills/weather.current/versions?range=%3E%3D2%20%3C3>; rel="successor-version",'
            ' <https://docs.acme.dev/a,b%20c>; rel="deprecation"'
        )
    for response in (both, other):
        assert not {"deprecation", "sunset", "link"} & set(response.headers)
    for result in both.json()["results"]:
        told = result["resolution"]
        assert (told["deprecated_on"], told["sunset"]) == (today.isoformat(), sunset.isoformat())
        assert told["replacement"] == "weather.current@>=2 <3"
        assert str(today) in told["warnings"][0]["message"]
    assert 'governance_deprecated_resolves_total{named="yes",state="deprecated"} 1.0' in metrics
    assert 'governance_deprecated_resolves_total{named="no",state="deprecated"} 2.0' in metrics


def test_the_retired_name_their_successor_to_those_who_ask_for_many(
    weather: Service, owner: psycopg.Connection
) -> None:
    sunset = datetime.now(UTC).date() + timedelta(days=400)
    weather.admin.deprecate(SKILL, "1.0.0", sunset=sunset, replacement="weather.current@^2")
    owner.execute("UPDATE skill_version_state SET sunset = current_date WHERE sunset IS NOT NULL")
    weather.admin.retire(SKILL, "1.0.0")
    asked = [ResolveQuestion(skill=SKILL, range=range_) for range_ in ("^1", "1.0.0", "^2")]
    first, second, third = weather.admin.resolve_many(asked).results
    for result in (first, second):
        assert result.problem is not None
        assert (result.problem.code, result.problem.status) == (Retired.code, 410)
        assert result.problem.details["replacement"] == "weather.current@^2"
        assert result.problem.details["retired_since"] == datetime.now(UTC).date().isoformat()
    assert third.resolution is not None
