"""Checks and resolve over HTTP."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.errors import (
    BreakingChangeNotAccepted,
    Forbidden,
    GateRefused,
    InvalidRange,
    InvalidRequest,
    NoMatchingVersion,
    NotFound,
    Retired,
)
from governance.wire import CheckProvenance, ResolveQuestion, Role

BROKEN_INPUT = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}

# ── checks ──


def test_only_those_who_may_check_do_and_only_their_skills(service: Service, manifest: Manifest) -> None:
    for role in (Role.VIEWER, Role.CALLER, Role.AUDITOR):
        with service.client(role) as client, pytest.raises(Forbidden):
            client.check([manifest()])
    with service.client(Role.PUBLISHER, "weather") as client:
        result = client.check([manifest()])
        with pytest.raises(Forbidden):
            client.check([manifest(), manifest("maps.route")])
        with service.client(Role.VIEWER, "maps") as other, pytest.raises(NotFound):
            other.get_check(result.id)
        with service.client(Role.VIEWER, "weather") as colleague:
            assert colleague.get_check(result.id) == result


def test_a_check_judges_as_a_publish_would_and_publishes_nothing(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    candidates = [
        manifest(version="1.0.1"),
        manifest(version="1.0.1", input_schema=BROKEN_INPUT),
        manifest("maps.route"),
        {"name": "maps.broken", "version": "1.0.0"},
        {"surprise": True},
        manifest(version="1.0.0", tags=["other"]),
        manifest(),
    ]
    result = service.admin.check(candidates, reason="pull request 7", provenance=CheckProvenance(commit="abc", run="9"))
    assert [decision["decision"] for decision in result.decisions] == [
        "allow", "block", "allow", "block", "block", "block", "allow",
    ]  # fmt: skip
    assert result.decision == "block"
    assert result.decisions[1]["smallest_version"] == "2.0.0"
    assert result.decisions[1]["compared"][0]["witness"]["accepted_by"] == "old"
    assert {fault["pointer"] for fault in result.decisions[3]["faults"]} >= {"/description", "/timeout_sec"}
    assert result.decisions[5]["reasons"][0]["code"] == "version-taken"
    assert result.decisions[6]["reasons"][0]["code"] == "already-published"
    assert len(service.admin.versions("weather.current")) == 1
    stored = service.admin.get_check(result.id)
    assert stored == result
    assert (stored.reason, stored.provenance.commit) == ("pull request 7", "abc")
    (entry,) = service.entries("check.run")
    assert entry["subject"] == result.id
    assert [one["decision"] for one in entry["after"]["candidates"]][:2] == ["allow", "block"]


def test_a_refused_check_is_on_record(service: Service, manifest: Manifest) -> None:
    with service.client(Role.VIEWER) as client, pytest.raises(Forbidden):
        client.check([manifest()], reason="curious")
    (entry,) = service.entries("check.run")
    assert (entry["outcome"], entry["reason"]) == ("refused", "curious")


def test_a_check_needs_a_candidate(empty_service: Service) -> None:
    with pytest.raises(InvalidRequest):
        empty_service.admin.check([])


# ── resolve ──


@pytest.fixture
def weather(service: Service, manifest: Manifest) -> Service:
    """1.0.0, 1.1.0 and, behind a break, 2.0.0."""
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="1.1.0"))
    service.admin.put_version(manifest(version="2.0.0", input_schema=BROKEN_INPUT, compatibility="breaking_change"))
    return service


def lines_on_record(service: Service) -> list[tuple[str, str, str]]:
    with psycopg.connect(service.database_url) as connection:
        rows = connection.execute("SELECT consumer, line, basis FROM line_acceptance ORDER BY 1, 2").fetchall()
    return [tuple(row) for row in rows]


def test_a_range_is_served_from_its_line_and_told_what_it_is_held_back_from(weather: Service) -> None:
    found = weather.admin.resolve("weather.current", ">=1")
    assert (found.version, found.line, found.basis) == ("1.1.0", "1.0.0", "range")
    assert found.held_back is not None
    assert found.held_back.version == "2.0.0"
    assert found.held_back.opened_by[0]["witness"]["accepted_by"] == "old"
    assert {way["way"] for way in found.held_back.ways} >= {"range", "flag", "register"}
    assert weather.admin.resolve("weather.current", "^2").version == "2.0.0"


def test_an_anonymous_bare_name_between_lines_is_refused_with_the_ways_to_accept(weather: Service) -> None:
    with pytest.raises(BreakingChangeNotAccepted) as caught:
        weather.admin.resolve("weather.current")
    assert caught.value.details["newest"] == "2.0.0"
    assert caught.value.details["ways"]
    assert lines_on_record(weather) == []


def test_first_contact_binds_a_named_consumer_to_the_one_line_there_is(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    assert service.admin.resolve("weather.current", consumer="bot").version == "1.0.0"
    assert lines_on_record(service) == [("bot", "1.0.0", "first-contact")]
    service.admin.put_version(manifest(version="2.0.0", input_schema=BROKEN_INPUT, compatibility="breaking_change"))
    held = service.admin.resolve("weather.current", consumer="bot")
    assert (held.version, held.basis) == ("1.0.0", "record")
    with pytest.raises(BreakingChangeNotAccepted):
        service.admin.resolve("weather.current", consumer="newcomer")
    accepted = service.admin.resolve("weather.current", consumer="bot", accept_line="2.0.0")
    assert accepted.version == "2.0.0"
    assert service.admin.resolve("weather.current", consumer="bot").version == "2.0.0"
    assert lines_on_record(service) == [("bot", "1.0.0", "first-contact"), ("bot", "2.0.0", "named-line")]
    assert [entry["action"] for entry in service.entries() if entry["action"].startswith(("line", "consumer"))] == [
        "consumer.contact",
        "line.bind",
        "line.accept",
    ]


def test_who_may_only_look_resolves_without_a_name_and_leaves_no_mark(weather: Service) -> None:
    before = len(weather.entries())
    with weather.client(Role.VIEWER, "weather") as viewer:
        assert viewer.resolve("weather.current", "^1").version == "1.1.0"
        with pytest.raises(Forbidden):
            viewer.resolve("weather.current", "^1", consumer="bot")
        with pytest.raises(Forbidden):
            viewer.resolve("weather.current", accept_breaking_change=True)
    assert len(weather.entries()) == before + 1, "the token itself"


def test_one_consumer_told_of_by_many_at_once_is_recorded_once(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    versions: list[str] = []

    def resolve() -> None:
        with ControlPlane(service.serving.address, service.serving.token) as client:
            versions.append(client.resolve("weather.current", consumer="bot").version)

    threads = [threading.Thread(target=resolve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert versions == ["1.0.0"] * 8
    assert len(lines_on_record(service)) == 1
    assert len(service.entries("line.bind")) == len(service.entries("consumer.contact")) == 1


def test_a_batch_answers_each_question_in_order(weather: Service) -> None:
    questions = [
        ResolveQuestion(skill="weather.current", range="^1"),
        ResolveQuestion(skill="weather.nothing", range="^1"),
        ResolveQuestion(skill="weather.current", range="^7"),
        ResolveQuestion(skill="current", range="2.0.0"),
        ResolveQuestion(skill="Bad Name"),
        ResolveQuestion(skill="weather.current", range=">>1"),
        ResolveQuestion(skill="weather.current", range="^1", accept_line="nonsense"),
    ]
    results = weather.admin.resolve_many(questions, consumer="bot").results
    said = [one.resolution.version if one.resolution else one.problem and one.problem.code for one in results]
    assert said == [
        "1.1.0", "not-found", "no-matching-version", "2.0.0", "invalid-name", "invalid-range", "invalid-version",
    ]  # fmt: skip
    assert results[3].skill == "weather.current"


def test_the_clients_own_errors_follow_the_answer(weather: Service) -> None:
    for question, error in (
        ({"range": "^9"}, NoMatchingVersion),
        ({"range": "not a range"}, InvalidRange),
        ({"range": "^1", "accept_line": "2.0.0"}, InvalidRequest),
    ):
        with pytest.raises(error):
            weather.admin.resolve("weather.current", **question)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "range_", "served"),
    [
        ("yanked = 'leaks'", "^1", "1.0.0"),
        ("yanked = 'leaks'", "1.1.0", "1.1.0"),
        ("disabled = 'on fire'", "^1", "1.0.0"),
        ("state = 'retired'", "^1", "1.0.0"),
        ("state = 'deprecated', sunset = current_date + 30", "^1", "1.1.0"),
    ],
)
def test_live_states_count_at_once(weather: Service, owner_url: str, change: str, range_: str, served: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute(
            f"UPDATE skill_version_state SET {change} FROM skill_version v WHERE v.version = '1.1.0' "
            "AND v.sort_key = skill_version_state.sort_key"
        )
    assert weather.admin.resolve("weather.current", range_).version == served


def test_past_its_sunset_a_version_serves_only_those_on_record(weather: Service, owner_url: str) -> None:
    weather.admin.resolve("weather.current", "^2", consumer="old-friend")
    with psycopg.connect(owner_url) as owner:
        owner.execute("UPDATE skill_version_state SET state = 'deprecated', sunset = current_date")
    served = weather.admin.resolve("weather.current", "^2", consumer="old-friend")
    assert (served.version, served.state) == ("2.0.0", "sunset")
    assert served.warnings
    with pytest.raises(Exception, match="sunset") as caught:
        weather.admin.resolve("weather.current", "^2", consumer="stranger")
    assert getattr(caught.value, "status", None) == 410
    assert weather.admin.get_version("weather.current", "2.0.0").state == "sunset"


def test_the_retired_are_gone_for_everyone(weather: Service, owner_url: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute("UPDATE skill_version_state SET state = 'retired', retired_since = '2026-01-31'")
    with pytest.raises(Retired, match="2026-01-31"):
        weather.admin.resolve("weather.current", "2.0.0", consumer="bot")


def test_who_keeps_an_answer_is_told_when_it_still_holds(weather: Service) -> None:
    body: dict[str, Any] = {"questions": [{"skill": "weather.current", "range": "^1"}]}
    with weather.http(weather.serving.token) as http:
        first = http.post("/v1/resolve", json=body)
        again = http.post("/v1/resolve", json=body, headers={"If-None-Match": first.headers["etag"]})
        other = http.post("/v1/resolve", json=body, headers={"If-None-Match": '"x"'})
    assert (again.status_code, again.content, other.status_code) == (304, b"", 200)


def test_past_its_sunset_every_view_tells_the_same_state(weather: Service, owner_url: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute("UPDATE skill_version_state SET state = 'deprecated', sunset = current_date")
        owner.execute("UPDATE skill SET state = 'deprecated', sunset = current_date")
    assert weather.admin.get_version("weather.current", "2.0.0").state == "sunset"
    assert weather.admin.get_skill("weather.current").state == "sunset"
    assert [one.state for one in weather.admin.search()] == ["sunset"]
    assert [one.name for one in weather.admin.search(state="sunset")] == ["weather.current"]
    assert list(weather.admin.search(state="deprecated")) == []


def test_a_first_version_that_is_past_its_sunset_is_refused_and_a_distant_one_is_kept(
    service: Service, manifest: Manifest
) -> None:
    ending = {"status": "deprecated", "replacement": "none", "deprecated_since": "1.0.0"}
    with pytest.raises(GateRefused, match="sunset") as caught:
        service.admin.put_version(manifest("a.b", sunset="2026-01-01", **ending))
    assert caught.value.details["decision"]["reasons"][0]["code"] == "notice-too-short"
    service.admin.put_version(manifest("a.b", sunset="2999-01-01", **ending))
    assert [one.state for one in service.admin.search(state="deprecated")] == ["deprecated"]


def test_who_may_ask_for_a_check_of_what_has_no_name_may_read_it_again_and_others_may_not(service: Service) -> None:
    with service.client(Role.PUBLISHER, "zz") as creator, service.client(Role.PUBLISHER, "yy") as stranger:
        for candidate in ({}, {"name": "No Name"}, {"name": 7}):
            check = creator.check([candidate])
            assert check.decision == "block"
            assert creator.get_check(check.id).id == check.id
            assert service.admin.get_check(check.id).id == check.id
            with pytest.raises(NotFound):
                stranger.get_check(check.id)
    assert {entry["namespace"] for entry in service.entries("check.run")} == {"zz"}
