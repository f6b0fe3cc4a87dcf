"""Whom a publish, a deployment or a retirement would hit: the verdict and the rows it is taken from, over HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.control.skills.asking import MAX_COLUMNS
from governance.errors import Forbidden, GateRefused, NotFound, PastSunset
from governance.wire import Role

BROKEN_INPUT = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}

Register = Callable[..., None]


@pytest.fixture
def register(service: Service) -> Register:
    """Put a need on record, as declared."""

    def put(
        consumer: str,
        range_: str | None,
        *,
        skill: str = "weather.current",
        environment: str = "",
        reads: Sequence[str] | None = None,
        sends: Sequence[str] | None = None,
    ) -> None:
        with psycopg.connect(service.database_url) as connection:
            connection.execute(
                "INSERT INTO consumer (name, owner, revision, created_at, updated_at, updated_by)"
                " VALUES (%s, %s, 1, now(), now(), 'test') ON CONFLICT DO NOTHING",
                (consumer, f"team {consumer}"),
            )
            connection.execute(
                "INSERT INTO consumer_need (skill, consumer, environment, source, range, reads, sends, first_seen_at,"
                " last_seen_at) VALUES (%s, %s, %s, 'declared', %s, %s, %s, now(), now())",
                (skill, consumer, environment, range_, reads, sends),
            )

    return put


def deploy(service: Service, environment: str, version: str, *, skill: str = "weather.current") -> None:
    with psycopg.connect(service.database_url) as connection:
        connection.execute(
            "INSERT INTO environment (name, protected, revision, created_at, updated_at, updated_by)"
            " VALUES (%s, false, 1, now(), now(), 'test') ON CONFLICT DO NOTHING",
            (environment,),
        )
        connection.execute(
            "INSERT INTO deployment (skill, id, environment, version, deployed_at, deployed_by)"
            " VALUES (%s, %s, %s, %s, now(), 'test')",
            (skill, secrets.token_hex(4), environment, version),
        )


def impacts(judged: Any) -> dict[str, str]:
    return {one["consumer"]: one["impact"] for one in judged.consumers["impacts"]}


@pytest.fixture
def two_lines(service: Service, manifest: Manifest) -> Service:
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="2.0.0", input_schema=BROKEN_INPUT, compatibility="breaking_change"))
    return service


def test_only_those_who_may_read_the_skill_are_told_of_its_consumers(two_lines: Service, register: Register) -> None:
    register("billing", "^1")
    with two_lines.client(Role.VIEWER, "maps") as stranger:
        with pytest.raises(Forbidden):
            stranger.can_i_retire("weather.current", "1.0.0")
        with pytest.raises(Forbidden):
            stranger.can_i_deploy("weather.current", "1.0.0", "prod")
        with pytest.raises(Forbidden):
            stranger.matrix("weather.current")
    with two_lines.client(Role.VIEWER, "weather") as viewer:
        assert len(viewer.matrix("weather.current").rows) == 1


def test_a_check_tells_who_is_hit_with_the_payload(service: Service, manifest: Manifest, register: Register) -> None:
    service.admin.put_version(manifest())
    register("billing", "^1")
    register("calm", "^1", sends=["/city"], reads=[])
    [decision] = service.admin.check(
        [manifest(version="2.0.0", input_schema=BROKEN_INPUT, compatibility="breaking_change")]
    ).decisions
    told = {one["consumer"]: one for one in decision["consumers"]["impacts"]}
    assert told["billing"]["impact"] == "held_back"
    assert told["billing"]["findings"][0]["witness"]["payload"] == {"city": ""}
    assert decision["not_checked"] == []
    assert "consumer-held-back" in {reason["code"] for reason in decision["reasons"]}


def test_a_publish_that_would_serve_a_consumer_its_break_is_refused(
    service: Service, manifest: Manifest, register: Register
) -> None:
    service.admin.put_version(manifest())
    service.admin.put_version(
        manifest(version="2.0.0-rc.1", input_schema=BROKEN_INPUT, compatibility="breaking_change")
    )
    strings = {"city": {"type": "string"}, "days": {"type": "string"}}
    again = {**BROKEN_INPUT, "properties": strings}
    register("early-bird", "^2.0.0-rc.1")
    with pytest.raises(GateRefused, match="early-bird") as refused:
        service.admin.put_version(manifest(version="2.0.0", input_schema=again, compatibility="breaking_change"))
    decision = refused.value.details["decision"]
    assert [reason["code"] for reason in decision["reasons"] if reason["outcome"] == "block"] == ["consumer-broken"]
    [entry] = [one for one in service.entries("skill.publish") if one["outcome"] == "refused"]
    assert entry["after"]["reasons"][0]["code"] == "consumer-broken"


def test_a_version_that_somebody_is_served_may_not_retire(two_lines: Service, register: Register) -> None:
    register("billing", "^1")
    register("modern", "^2")
    judged = two_lines.admin.can_i_retire("weather.current", "1.0.0")
    assert judged.decision == "block"
    assert impacts(judged) == {"billing": "served_and_broken", "modern": "untouched"}
    assert judged.consumers["counts"]["served_and_broken"] == 1
    assert two_lines.admin.can_i_retire("weather.current", "2.0.0").decision == "block"


def test_a_version_that_runs_somewhere_or_has_silent_callers_is_told_of(two_lines: Service) -> None:
    assert two_lines.admin.can_i_retire("weather.current", "1.0.0").decision == "allow"
    two_lines.admin.resolve("weather.current", "^1", consumer="silent")
    judged = two_lines.admin.can_i_retire("weather.current", "1.0.0")
    assert judged.decision == "block"
    assert judged.reasons[0]["code"] == "consumer-silent"
    assert "silent" in judged.reasons[0]["message"]
    assert two_lines.admin.can_i_retire("weather.current", "2.0.0").decision == "allow"
    deploy(two_lines, "prod", "1.0.0")
    judged = two_lines.admin.can_i_retire("weather.current", "1.0.0")
    assert [reason["code"] for reason in judged.reasons] == ["still-deployed", "consumer-silent"]


def test_who_said_nothing_is_moved_within_its_line_and_told_of(
    two_lines: Service, manifest: Manifest, register: Register
) -> None:
    two_lines.admin.put_version(manifest(version="1.0.1", title="Now"))
    two_lines.admin.resolve("weather.current", "^1", consumer="silent")
    judged = two_lines.admin.can_i_retire("weather.current", "1.0.1")
    assert (judged.decision, judged.reasons[0]["code"]) == ("warn", "consumer-unknown")


def test_who_registered_before_a_sunset_is_on_record_and_who_came_after_it_is_not(
    two_lines: Service, register: Register
) -> None:
    register("early", "^1")
    owner = two_lines.serving.app.state.settings.database_owner_url
    with psycopg.connect(owner) as connection:
        connection.execute("UPDATE consumer_need SET first_seen_at = now() - interval '40 days'")
        connection.execute(
            "UPDATE skill_version_state SET state = 'deprecated', sunset = current_date - 30"
            " FROM skill_version v WHERE v.skill = skill_version_state.skill"
            " AND v.sort_key = skill_version_state.sort_key AND v.version = '1.0.0'"
        )
    register("late", "^1")
    assert two_lines.admin.resolve("weather.current", "^1", consumer="early").version == "1.0.0"
    with pytest.raises(PastSunset):
        two_lines.admin.resolve("weather.current", "^1", consumer="late")
    judged = two_lines.admin.can_i_retire("weather.current", "1.0.0")
    assert impacts(judged)["early"] == "served_and_broken"
    assert impacts(judged)["late"] == "unknown"


def test_a_deployment_is_judged_for_the_consumers_of_its_environment(two_lines: Service, register: Register) -> None:
    register("billing", "^1", environment="prod")
    register("lab", ">=1", environment="staging")
    register("modern", "^2", environment="prod")
    deploy(two_lines, "prod", "1.0.0")
    judged = two_lines.admin.can_i_deploy("weather.current", "2.0.0", "prod")
    assert judged.decision == "block"
    assert impacts(judged)["billing"] == "served_and_broken"
    assert "lab" not in impacts(judged)
    beside = two_lines.admin.can_i_deploy("weather.current", "2.0.0", "prod", beside=True)
    assert beside.decision == "allow"
    assert impacts(beside) == {"billing": "held_back", "modern": "untouched"}


def test_an_environment_that_nobody_made_is_not_allowed_for_want_of_consumers(two_lines: Service) -> None:
    deploy(two_lines, "prod", "1.0.0")
    with pytest.raises(NotFound, match="no environment 'prd'") as caught:
        two_lines.admin.can_i_deploy("weather.current", "2.0.0", "prd")
    assert "govctl environment set prd" in (caught.value.fix or "")


def test_the_matrix_says_for_each_version_what_the_questions_say(two_lines: Service, register: Register) -> None:
    register("billing", "^1")
    register("modern", "^2")
    register("lost", "^9")
    found = two_lines.admin.matrix("weather.current")
    assert found.versions == ["1.0.0", "2.0.0"]
    cells = {row["consumer"]: [(cell["serves"], cell["verdict"]) for cell in row["cells"]] for row in found.rows}
    assert cells["billing"] == [(True, "compatible"), (False, "breaking")]
    assert cells["lost"] == [(False, None), (False, None)]
    assert cells["modern"][1] == (True, "compatible")
    one = two_lines.admin.matrix("weather.current", versions=["2.0.0"], consumer="billing")
    assert [row["consumer"] for row in one.rows] == ["billing"]
    assert [cell["version"] for cell in one.rows[0]["cells"]] == ["2.0.0"]


def test_what_is_not_there_is_not_found_and_a_matrix_has_bounds(two_lines: Service) -> None:
    for ask in (
        lambda: two_lines.admin.can_i_retire("weather.current", "7.0.0"),
        lambda: two_lines.admin.can_i_retire("weather.nothing", "1.0.0"),
        lambda: two_lines.admin.matrix("weather.current", versions=["7.0.0"]),
    ):
        with pytest.raises(NotFound):
            ask()
    with two_lines.http(two_lines.serving.token) as http:
        many = [("version", "1.0.0")] * (MAX_COLUMNS + 1)
        assert http.get("/v1/skills/weather.current/matrix", params=many).status_code == 422
