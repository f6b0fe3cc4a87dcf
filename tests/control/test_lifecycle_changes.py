"""A version's end is announced, comes, and is taken back, by those who may, with everybody told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.errors import (
    BreakingChangeNotAccepted,
    Conflict,
    Disabled,
    Forbidden,
    GateRefused,
    InvalidRequest,
    NotFound,
    PastSunset,
    PreconditionFailed,
    PreconditionRequired,
    Retired,
    StillNeeded,
)
from governance.wire import Role

SKILL = "weather.current"
STRICTER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}


def today() -> date:
    return datetime.now(UTC).date()


def in_days(days: int) -> date:
    return today() + timedelta(days=days)


@pytest.fixture
def weather(service: Service, manifest: Manifest) -> Service:
    """``weather.current`` 1.0.0, 1.1.0 and 2.0.0, which asks for more."""
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="1.1.0"))
    service.admin.put_version(manifest(version="2.0.0", compatibility="breaking_change", input_schema=STRICTER))
    return service


@pytest.fixture
def owner(owner_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


def let_the_day_come(owner: psycopg.Connection, version: str = "1.0.0", *, days_ago: int = 0) -> None:
    """As if the announced days had passed: a test cannot wait for a year."""
    owner.execute(
        "UPDATE skill_version_state s SET sunset = current_date - %s, deprecated_on = current_date - 400"
        " FROM skill_version v WHERE v.skill = s.skill AND v.sort_key = s.sort_key AND v.version = %s",
        (days_ago, version),
    )


def end(admin: ControlPlane, version: str = "1.0.0", **how: Any) -> Any:
    how = {"sunset": in_days(365), "replacement": "weather.current@^2"} | how
    return admin.deprecate(SKILL, version, **how)


CHANGES = {
    "version.deprecate": lambda plane: end(plane),
    "version.undeprecate": lambda plane: plane.undeprecate(SKILL, "1.0.0"),
    "version.retire": lambda plane: plane.retire(SKILL, "1.0.0"),
    "version.yank": lambda plane: plane.yank(SKILL, "1.0.0", "leaks"),
    "version.unyank": lambda plane: plane.unyank(SKILL, "1.0.0"),
    "version.disable": lambda plane: plane.disable(SKILL, "1.0.0", "on fire"),
    "version.enable": lambda plane: plane.enable(SKILL, "1.0.0"),
    "version.activate": lambda plane: plane.activate(SKILL, "1.0.0"),
    "version.draft": lambda plane: plane.draft_again(SKILL, "1.0.0"),
}


def test_who_may_not_change_a_version_is_refused_and_that_is_on_record(weather: Service) -> None:
    for action, change in CHANGES.items():
        role = Role.PUBLISHER if action in ("version.disable", "version.enable") else Role.OPERATOR
        with weather.client(role) as client, pytest.raises(Forbidden):
            change(client)
        with weather.client(Role.ADMIN, "maps") as stranger, pytest.raises(Forbidden):
            change(stranger)
        refused = weather.entries(action)
        assert [(one["outcome"], one["subject"]) for one in refused] == [("refused", f"{SKILL}@1.0.0")] * 2
    assert {one.state for one in weather.admin.versions(SKILL)} == {"active"}


def test_a_deprecation_is_announced_shown_and_taken_back(weather: Service) -> None:
    with weather.client(Role.PUBLISHER, "weather") as publisher:
        told = end(publisher, migration_guide="https://docs.acme.dev/2", reason="v2 is out")
    (change,) = told.versions
    assert (change.version, change.changed, change.after.state) == ("1.0.0", True, "deprecated")
    stored = weather.admin.get_version(SKILL, "1.0.0")
    assert (stored.deprecated_on, stored.sunset, stored.replacement) == (today(), in_days(365), "weather.current@^2")
    assert stored.etag == change.etag
    entry = weather.entries("version.deprecate")[-1]
    assert (entry["subject"], entry["reason"], entry["before"]["state"]) == (f"{SKILL}@1.0.0", "v2 is out", "active")
    assert entry["after"]["sunset"] == in_days(365).isoformat()
    again = end(weather.admin)
    assert not again.versions[0].changed
    assert len(weather.entries("version.deprecate")) == 1, "what changes nothing is no entry"
    taken_back = weather.admin.undeprecate(SKILL, "1.0.0", reason="too soon")
    assert taken_back.versions[0].after.state == "active"
    assert not weather.admin.undeprecate(SKILL, "1.0.0").versions[0].changed
    assert weather.entries("version.undeprecate")[-1]["reason"] == "too soon"


def test_the_replacement_is_held_against_the_version_with_the_payload_that_fails(weather: Service) -> None:
    (drop_in,) = end(weather.admin, dry_run=True).drop_in
    assert (drop_in.replacement, drop_in.drop_in, drop_in.verdict) == ("weather.current@2.0.0", False, "breaking")
    witness = drop_in.findings[0]["witness"]
    assert (witness["accepted_by"], "days" in witness["payload"]) == ("old", False)
    (same,) = end(weather.admin, replacement="weather.current@1.1.0", dry_run=True).drop_in
    assert same.drop_in


def test_a_replacement_that_cannot_stand_is_refused(weather: Service) -> None:
    for replacement, code in (
        ("weather.gone@^1", "replacement-missing"),
        ("weather.current@^9", "replacement-missing"),
        ("weather.current@^1", "replacement-itself"),
    ):
        with pytest.raises(Conflict) as caught:
            end(weather.admin, replacement=replacement)
        assert caught.value.faults[0].code == code
    assert weather.admin.get_version(SKILL, "1.0.0").state == "active"


def test_a_replacement_is_active_and_does_not_lead_back(weather: Service, manifest: Manifest) -> None:
    weather.admin.put_version(manifest("weather.hourly"))
    end(weather.admin, replacement="weather.hourly@^1")
    with pytest.raises(Conflict) as caught:
        weather.admin.deprecate("weather.hourly", "1.0.0", sunset=in_days(365), replacement="weather.current@^2")
    assert [fault.code for fault in caught.value.faults] == ["replacement-circular"]
    weather.admin.yank("weather.hourly", "1.0.0", "leaks")
    with pytest.raises(Conflict) as caught:
        end(weather.admin, "1.1.0", replacement="weather.hourly@^1")
    assert caught.value.faults[0].code == "replacement-inactive"


def test_what_a_caller_may_not_read_is_no_replacement(weather: Service, manifest: Manifest) -> None:
    weather.admin.put_version(manifest("secret.hourly"))
    with weather.client(Role.PUBLISHER, "weather") as publisher, pytest.raises(Conflict) as caught:
        end(publisher, replacement="secret.hourly@^1")
    assert caught.value.faults[0].code == "replacement-missing"


def test_a_replacement_is_name_at_range_or_none(weather: Service) -> None:
    for replacement in ("weather.current", "@^1", "weather.current@", "weather.current@new", "NONE"):
        with pytest.raises(InvalidRequest) as caught:
            end(weather.admin, replacement=replacement)
        assert caught.value.faults[0].pointer == "/replacement", replacement


def test_the_notice_period_is_the_policys_and_the_date_moves_later_alone(weather: Service) -> None:
    with pytest.raises(InvalidRequest, match="365 days"):
        end(weather.admin, sunset=in_days(364))
    weather.admin.put_policy("namespace:weather", {"notice_days_stable": 30}, revision=None)
    end(weather.admin, sunset=in_days(30))
    with pytest.raises(InvalidRequest, match="never earlier"):
        end(weather.admin, sunset=in_days(29))
    assert end(weather.admin, sunset=in_days(90)).versions[0].after.sunset == in_days(90)


def test_a_range_or_the_whole_skill_is_deprecated_together_or_not_at_all(weather: Service, manifest: Manifest) -> None:
    weather.admin.put_version(manifest(version="1.2.0", status="draft"))
    weather.admin.put_version(manifest("weather.hourly"))
    told = weather.admin.deprecate_range(SKILL, "^1", sunset=in_days(400), replacement="weather.current@^2")
    assert [one.version for one in told.versions] == ["1.0.0", "1.1.0"]
    assert [(one.version, "draft" in one.why) for one in told.left_alone] == [("1.2.0", True)]
    assert len(told.drop_in) == 1, "one contract is compared once"
    entries = weather.entries("version.deprecate")
    assert [one["subject"] for one in entries] == [f"{SKILL}@1.0.0", f"{SKILL}@1.1.0"]
    with pytest.raises(InvalidRequest, match=r"1\.0\.0: .*never earlier"):
        weather.admin.deprecate_range(SKILL, None, sunset=in_days(380), replacement="weather.hourly@^1")
    assert weather.admin.get_version(SKILL, "2.0.0").state == "active"
    with pytest.raises(Conflict, match="is \\^7"):
        weather.admin.deprecate_range(SKILL, "^7", sunset=in_days(400), replacement="none")
    whole = weather.admin.deprecate_range(SKILL, None, sunset=in_days(500), replacement="weather.hourly@^1")
    assert [one.version for one in whole.versions] == ["1.0.0", "1.1.0", "2.0.0"]
    assert weather.admin.get_skill(SKILL).state == "deprecated", "the card goes along"


def test_a_dry_run_tells_who_is_hit_and_changes_nothing(weather: Service, owner: psycopg.Connection) -> None:
    need(owner, "bot", "^1")
    need(owner, "far", "^2")
    told = end(weather.admin, "1.1.0", dry_run=True)
    assert (told.dry_run, told.versions[0].changed) == (True, True)
    assert [(one.consumer, one.version, one.then) for one in told.serves] == [("bot", "1.1.0", "1.0.0")]
    assert weather.admin.get_version(SKILL, "1.1.0").state == "active"
    assert weather.entries("version.deprecate") == []
    with weather.client(Role.VIEWER) as viewer, pytest.raises(Forbidden):
        end(viewer, dry_run=True)


def need(owner: psycopg.Connection, consumer: str, wanted: str | None, skill: str = SKILL) -> None:
    owner.execute(
        "INSERT INTO consumer (name, revision, created_at, updated_at, updated_by) VALUES (%s, 1, now(), now(), 'test')"
        " ON CONFLICT DO NOTHING",
        (consumer,),
    )
    owner.execute(
        "INSERT INTO consumer_need (skill, consumer, environment, source, range, first_seen_at, last_seen_at)"
        " VALUES (%s, %s, '', 'declared', %s, now(), now())",
        (skill, consumer, wanted),
    )


# ── the state one changes ──


def test_a_change_says_which_state_it_changes(weather: Service) -> None:
    read = weather.admin.get_version(SKILL, "1.0.0")
    path = f"/v1/skills/{SKILL}/versions/1.0.0/yank"
    with weather.http(weather.serving.token) as http:
        response = http.put(path, json={"reason": "leaks"})
        assert (response.status_code, response.json()["code"]) == (428, PreconditionRequired.code)
        response = http.put(path, json={"reason": "leaks"}, headers={"If-Match": read.etag})
        assert (response.status_code, response.headers["etag"]) == (200, response.json()["versions"][0]["etag"])
        response = http.put(path, json={"reason": "leaks more"}, headers={"If-Match": read.etag})
        assert (response.status_code, response.json()["code"]) == (412, PreconditionFailed.code)
        fresh = http.get(f"/v1/skills/{SKILL}/versions/1.0.0")
    assert fresh.headers["etag"] == weather.admin.get_version(SKILL, "1.0.0").etag
    assert fresh.json()["yanked"] == "leaks"


def test_a_switch_says_why(weather: Service) -> None:
    bodies: list[Any] = [{}, {"reason": ""}, {"reason": "  "}, {"reason": "a\x00b"}, {"why": "x"}, {"reason": 7}]
    with weather.http(weather.serving.token) as http:
        for body in bodies:
            response = http.put(f"/v1/skills/{SKILL}/versions/1.0.0/yank", json=body, headers={"If-Match": "*"})
            assert response.status_code == 422, body


def test_a_sunset_is_a_date(weather: Service) -> None:
    path = f"/v1/skills/{SKILL}/versions/1.0.0/deprecation"
    with weather.http(weather.serving.token) as http:
        for sunset in ("soon", "2027-13-01", "2027-1-1", 20270101, "99999-01-01", None, "2027-05-31T00:00"):
            body = {"sunset": sunset, "replacement": "none"}
            response = http.put(path, json=body, headers={"If-Match": "*"})
            assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/sunset"), sunset


def test_what_is_not_there_is_not_found(weather: Service) -> None:
    for change in CHANGES.values():
        with pytest.raises(NotFound):
            change(_Elsewhere(weather.admin, name="weather.nothing"))
        with pytest.raises(NotFound):
            change(_Elsewhere(weather.admin, version="9.9.9"))


class _Elsewhere:
    """The same changes, of another skill or version."""

    def __init__(self, plane: ControlPlane, *, name: str = SKILL, version: str = "1.0.0") -> None:
        self._plane, self._name, self._version = plane, name, version

    def __getattr__(self, method: str) -> Any:
        return lambda _name, _version, *args, **how: getattr(self._plane, method)(
            self._name, self._version, *args, **how
        )


# ── switches ──


def test_a_yanked_version_is_passed_over_and_comes_back(weather: Service) -> None:
    weather.admin.yank(SKILL, "1.1.0", "leaks memory")
    assert weather.admin.resolve(SKILL, "^1").version == "1.0.0"
    assert "leaks memory" in weather.admin.resolve(SKILL, "1.1.0").warnings[0]["message"]
    weather.admin.unyank(SKILL, "1.1.0", reason="it was the host")
    assert weather.admin.resolve(SKILL, "^1").version == "1.1.0"
    assert [one["before"]["yanked"] for one in weather.entries("version.unyank")] == ["leaks memory"]


def test_an_operator_switches_a_version_off_and_on_and_the_card_follows(weather: Service) -> None:
    with weather.client(Role.OPERATOR, "weather") as operator:
        operator.disable(SKILL, "2.0.0", "on fire")
        with pytest.raises(Disabled, match="on fire"):
            weather.admin.resolve(SKILL, "2.0.0")
        assert weather.admin.get_skill(SKILL).latest == "1.1.0"
        operator.enable(SKILL, "2.0.0")
    assert weather.admin.get_skill(SKILL).latest == "2.0.0"


# ── drafts ──


def test_a_draft_serves_once_it_is_activated(weather: Service, manifest: Manifest) -> None:
    weather.admin.put_version(manifest(version="1.2.0", status="draft"))
    assert weather.admin.resolve(SKILL, "^1").version == "1.1.0"
    weather.admin.activate(SKILL, "1.2.0")
    assert weather.admin.resolve(SKILL, "^1").version == "1.2.0"
    weather.admin.draft_again(SKILL, "1.2.0", reason="not yet")
    assert weather.admin.resolve(SKILL, "^1").version == "1.1.0"


def test_a_draft_is_judged_again_beside_what_was_published_meanwhile(service: Service, manifest: Manifest) -> None:
    wider = manifest(
        version="1.2.0",
        input_schema={"type": "object", "properties": {"city": {"type": "string"}, "days": {}}, "required": ["city"]},
    )
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="1.3.0", status="draft"))
    service.admin.put_version(wider | {"compatibility": "input_compatible"})
    with pytest.raises(GateRefused):
        service.admin.activate(SKILL, "1.3.0")
    assert service.entries("version.activate")[-1]["outcome"] == "refused"


def test_what_others_were_judged_against_is_no_draft_again(weather: Service) -> None:
    with pytest.raises(StillNeeded, match=r"1\.1\.0"):
        weather.admin.draft_again(SKILL, "1.0.0")


# ── the end ──


def test_past_its_sunset_a_version_serves_those_on_record_then_nobody(
    weather: Service, owner: psycopg.Connection
) -> None:
    weather.admin.resolve(SKILL, "1.0.0", consumer="friend")
    with pytest.raises(Conflict, match="active"):
        weather.admin.retire(SKILL, "1.0.0")
    end(weather.admin)
    with pytest.raises(Conflict, match="deprecated"):
        weather.admin.retire(SKILL, "1.0.0", force=True, reason="now")
    let_the_day_come(owner)
    assert weather.admin.resolve(SKILL, "1.0.0", consumer="friend").state == "sunset"
    with pytest.raises(PastSunset):
        weather.admin.resolve(SKILL, "1.0.0", consumer="stranger")
    told = weather.admin.retire(SKILL, "1.0.0", reason="nobody left")
    assert told.versions[0].after.retired_since == today()
    with pytest.raises(Retired, match=str(today())) as caught:
        weather.admin.resolve(SKILL, "1.0.0", consumer="friend")
    assert "weather.current@^2" in caught.value.fix
    entered, retired = weather.entries("version.sunset")[-1], weather.entries("version.retire")[-1]
    assert (entered["actor"]["id"], entered["after"]["state"]) == ("system", "sunset")
    assert (retired["before"]["state"], retired["after"]["state"]) == ("sunset", "retired")
    with pytest.raises(Conflict, match="cannot come back"):
        weather.admin.undeprecate(SKILL, "1.0.0")


def test_a_sunset_is_taken_back_with_a_later_day(weather: Service, owner: psycopg.Connection) -> None:
    end(weather.admin)
    let_the_day_come(owner)
    with pytest.raises(InvalidRequest, match="new date"):
        weather.admin.undeprecate(SKILL, "1.0.0")
    back = weather.admin.undeprecate(SKILL, "1.0.0", sunset=in_days(10))
    assert (back.versions[0].after.state, back.versions[0].after.sunset) == ("deprecated", in_days(10))
    assert weather.admin.resolve(SKILL, "1.0.0", consumer="stranger").version == "1.0.0"


def test_what_something_live_depends_on_is_not_retired_but_by_force(
    weather: Service, owner: psycopg.Connection, manifest: Manifest
) -> None:
    with_fallback = manifest("weather.forecast", fallback=[{"skill": "weather.current@1.0.0"}])
    weather.admin.put_version(with_fallback)
    need(owner, "bot", "1.0.0")
    weather.admin.resolve(SKILL, "1.0.0", consumer="bot")
    end(weather.admin)
    let_the_day_come(owner)
    with pytest.raises(StillNeeded) as caught:
        weather.admin.retire(SKILL, "1.0.0")
    judgement = caught.value.details["judgement"]
    codes = {reason["code"] for reason in judgement["reasons"] if reason["outcome"] == "block"}
    assert codes == {"consumer-broken", "still-named"}
    assert weather.admin.can_i_retire(SKILL, "1.0.0").decision == "block", "the question and the deed agree"
    with weather.client(Role.PUBLISHER) as publisher, pytest.raises(Forbidden):
        publisher.retire(SKILL, "1.0.0", force=True, reason="now")
    with pytest.raises(InvalidRequest, match="why"):
        weather.admin.retire(SKILL, "1.0.0", force=True)
    told = weather.admin.retire(SKILL, "1.0.0", force=True, reason="a leak of keys")
    assert len(told.forced) == 2
    entry = weather.entries("version.retire")[-1]
    assert (entry["reason"], set(entry["after"]["forced"])) == ("a leak of keys", codes)


def test_a_caller_of_a_retired_line_is_told_of_the_break_before_it(weather: Service, owner: psycopg.Connection) -> None:
    for version in ("1.0.0", "1.1.0"):
        end(weather.admin, version)
        let_the_day_come(owner, version)
        weather.admin.retire(SKILL, version)
    with pytest.raises(Retired):
        weather.admin.resolve(SKILL, "^1")
    with pytest.raises(BreakingChangeNotAccepted):
        weather.admin.resolve(SKILL, None, consumer="new")
    assert weather.admin.resolve(SKILL, "^2", consumer="new").version == "2.0.0"
    assert weather.admin.get_skill(SKILL).latest == "2.0.0"


def test_what_leads_to_a_version_from_elsewhere_keeps_it_and_hidden_skills_are_not_named(
    weather: Service, owner: psycopg.Connection, manifest: Manifest
) -> None:
    weather.admin.put_version(manifest("secret.plan", fallback=[{"skill": "weather.current@^1"}]))
    weather.admin.put_version(manifest("weather.old"))
    weather.admin.deprecate("weather.old", "1.0.0", sunset=in_days(400), replacement="weather.current@^1")
    owner.execute(
        "INSERT INTO rollout (skill, id, environment, candidate, incumbent, above, plan, state, in_force, step,"
        " step_since, steps, revision, started_at, started_by)"
        " VALUES (%s, 'rol_1', '', '1.1.0', '1.0.0', '[]', '{}', 'held', true, 0, now(), '[]', 1, now(), 'x')",
        (SKILL,),
    )
    end(weather.admin, "1.1.0")
    let_the_day_come(owner, "1.1.0")
    with weather.client(Role.PUBLISHER, "weather") as publisher, pytest.raises(StillNeeded) as caught:
        publisher.retire(SKILL, "1.1.0")
    blocks = [one for one in caught.value.details["judgement"]["reasons"] if one["outcome"] == "block"]
    assert sorted(one["code"] for one in blocks) == ["still-named", "still-named", "still-rolling"]
    told = " ".join(one["message"] for one in blocks)
    assert "weather.old@1.0.0 is replaced by weather.current@^1" in told
    assert "A skill of another namespace falls back on weather.current@^1, which would then be 1.0.0" in told
    assert "rol_1" in told
    assert "secret" not in str(caught.value.details)
    assert "secret.plan@1.0.0" in str(weather.admin.can_i_retire(SKILL, "1.1.0").reasons)
