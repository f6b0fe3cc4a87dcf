"""Consumers say what they need, environments what runs in them; both are judged and put on record."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from registry import Manifest, Service

from governance.errors import (
    Forbidden,
    GateRefused,
    InvalidName,
    InvalidRequest,
    InvalidVersion,
    NotFound,
    PreconditionFailed,
)
from governance.wire import ConsumerRequest, DeploymentState, NeedRequest, Role

BROKEN = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}


def needing(*skills: str, **fields: Any) -> ConsumerRequest:
    return ConsumerRequest(owner="team-one", needs=[NeedRequest(skill=skill, **fields) for skill in skills])


# ── consumers ──


def test_only_those_who_may_resolve_every_skill_it_needs_and_needed_declare_a_consumer(service: Service) -> None:
    for role in (Role.VIEWER, Role.APPROVER, Role.AUDITOR):
        with service.client(role) as client, pytest.raises(Forbidden):
            client.put_consumer("agents/one", needing("weather.current"))
    service.admin.put_consumer("agents/two", needing("maps.route"))
    with service.client(Role.CALLER, "weather") as client:
        for request in (needing("weather.current", "maps.route"), needing("bare"), needing("weather.current")):
            with pytest.raises(Forbidden):
                client.put_consumer("agents/two", request)
        client.put_consumer("agents/one", needing("weather.current"))
    refused = [one for one in service.entries("consumer.register") if one["outcome"] == "refused"]
    assert len(refused) == 6


def test_whoever_may_not_replace_a_declaration_learns_nothing_of_it(service: Service) -> None:
    service.admin.put_consumer("agents/two", needing("hidden.place.route"))
    with service.client(Role.CALLER, "weather") as client, pytest.raises(Forbidden) as refused:
        client.put_consumer("agents/two", needing("weather.current"))
    assert "hidden" not in f"{refused.value} {refused.value.fix} {refused.value.details}"


def test_a_consumer_is_shown_with_what_the_reader_may_see(service: Service) -> None:
    service.admin.put_consumer("agents/one", needing("weather.current", "maps.route"))
    service.admin.put_consumer("agents/two", needing("maps.route"))
    service.admin.put_consumer("agents/none", needing())
    with service.client(Role.VIEWER, "weather") as client:
        one = client.get_consumer("agents/one")
        assert ([need.skill for need in one.needs], one.hidden) == (["weather.current"], 1)
        with pytest.raises(NotFound):
            client.get_consumer("agents/two")
        assert [(card.name, card.skills) for card in client.consumers()] == [
            ("agents/none", []),
            ("agents/one", ["weather.current"]),
        ]
        assert list(client.consumers(skill="maps.route")) == []
    with pytest.raises(NotFound):
        service.admin.get_consumer("nobody")


def test_a_declaration_takes_the_place_of_the_one_before_and_says_so(service: Service) -> None:
    first = ConsumerRequest(
        owner="team-one",
        needs=[
            NeedRequest(skill="weather.current", range="^1.2", environments=["prod", "test"], reads=["/celsius"]),
            NeedRequest(skill="maps.route", sends=["/from/*/lat"]),
        ],
    )
    made = service.admin.put_consumer("agents/one", first)
    assert made.revision == 1
    assert [(need.skill, need.environment, need.range) for need in made.needs] == [
        ("maps.route", None, None),
        ("weather.current", "prod", "^1.2"),
        ("weather.current", "test", "^1.2"),
    ]
    assert {need.source for need in made.needs} == {"declared"}
    assert service.admin.put_consumer("agents/one", first) == made
    changed = service.admin.put_consumer("agents/one", needing("weather.current", range="^2", environments=["prod"]))
    assert (changed.revision, [(need.skill, need.range) for need in changed.needs]) == (2, [("weather.current", "^2")])
    assert changed.needs[0].first_seen_at == made.needs[1].first_seen_at
    with pytest.raises(PreconditionFailed):
        service.admin.put_consumer("agents/one", needing(), revision=1)
    service.admin.put_consumer("agents/one", needing(), revision=2)
    entries = service.entries("consumer.register")
    done = [one for one in entries if one["outcome"] == "done"]
    assert [len(one["after"]["needs"]) for one in done] == [3, 1, 0]
    assert done[1]["before"] == done[0]["after"]
    # an entry tells of what was needed before as well
    assert [one["namespace"] for one in done] == ["*", "*", "weather"]
    assert done[0]["after"]["needs"][1]["reads"] == ["/celsius"]


def test_what_cannot_be_needed_is_refused_at_its_place(empty_service: Service) -> None:
    request = ConsumerRequest(
        needs=[
            NeedRequest(skill="Not A Name"),
            NeedRequest(skill="weather.current", range=">=banana"),
            NeedRequest(skill="weather.later"),
            NeedRequest(skill="weather.later", environments=["prod"]),
            NeedRequest(skill="weather.later", range="^1"),
        ]
    )
    with pytest.raises(InvalidRequest) as refused:
        empty_service.admin.put_consumer("agents/one", request)
    assert [fault.pointer for fault in refused.value.faults] == ["/needs/0/skill", "/needs/1/range", "/needs/4"]
    with empty_service.http(empty_service.serving.token) as http:
        for need in ({"skill": "a.b", "reads": ["no"]}, {"skill": "a.b", "environments": []}, {"skill": "a.b", "x": 1}):
            answer = http.put("/v1/consumers/one", json={"needs": [need]})
            assert answer.status_code in (400, 422)
        many = [{"skill": f"a.s{number}"} for number in range(501)]
        assert http.put("/v1/consumers/one", json={"needs": many}).status_code == 422
        wide = [{"skill": f"a.s{n}", "environments": [f"e{m}" for m in range(50)]} for n in range(50)]
        assert http.put("/v1/consumers/one", json={"needs": wide}).json()["errors"][0]["pointer"] == "/needs"
        assert http.put("/v1/consumers/no name", json={"needs": []}).status_code == 422


def test_consumers_are_found_by_skill_and_environment_page_by_page(service: Service) -> None:
    service.admin.put_consumer("a", needing("weather.current"))
    service.admin.put_consumer("b", needing("weather.current", environments=["prod"]))
    service.admin.put_consumer("c", needing("weather.current", environments=["test"]))
    service.admin.put_consumer("d", needing("maps.route", environments=["prod"]))
    found = service.admin.consumers(skill="weather.current", environment="prod")
    assert [one.name for one in found] == ["a", "b"]
    with service.http(service.serving.token) as http:
        first = http.get("/v1/consumers", params={"limit": 3}).json()
        second = http.get("/v1/consumers", params={"limit": 3, "cursor": first["next"]}).json()
        assert [one["name"] for one in first["items"] + second["items"]] == ["a", "b", "c", "d"]


def test_whoever_declares_at_once_leaves_one_whole_declaration(service: Service) -> None:
    def declare(number: int) -> None:
        with service.client(Role.CALLER) as client:
            client.put_consumer("agents/one", needing(*(f"weather.s{number}{one}" for one in range(5))))

    threads = [threading.Thread(target=declare, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = service.admin.get_consumer("agents/one")
    assert (left.revision, len(left.needs)) == (4, 5)
    assert len({need.skill[:-1] for need in left.needs}) == 1


def test_the_gate_knows_who_is_hit_by_what_was_declared(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    service.admin.put_consumer("agents/one", needing("weather.current", range="^1"))
    held = manifest(version="2.0.0", input_schema=BROKEN, compatibility="breaking_change")
    (decision,) = service.admin.check([held]).decisions
    (impact,) = decision["consumers"]["impacts"]
    assert (impact["consumer"], impact["owner"], impact["impact"]) == ("agents/one", "team-one", "held_back")


# ── environments and deployments ──


@pytest.fixture
def weather(service: Service, manifest: Manifest) -> Service:
    """1.0.0, 1.1.0 and, behind a break, 2.0.0; a caller of `*`; environments prod (protected) and test."""
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="1.1.0"))
    broken = manifest(version="2.0.0", input_schema=BROKEN, compatibility="breaking_change")
    service.admin.put_version(broken)
    service.admin.put_consumer("agents/one", needing("weather.current", range=">=1"))
    service.admin.put_environment("prod", protected=True)
    service.admin.put_environment("test")
    return service


def test_environments_are_set_by_those_who_administer_everything(service: Service) -> None:
    for role, namespace in ((Role.OPERATOR, "*"), (Role.ADMIN, "weather")):
        with service.client(role, namespace) as client, pytest.raises(Forbidden):
            client.put_environment("prod")
    made = service.admin.put_environment("prod", protected=True, description="Everybody's.")
    assert service.admin.put_environment("prod", protected=True, description="Everybody's.", revision=1) == made
    with pytest.raises(PreconditionFailed):
        service.admin.put_environment("prod", revision=3)
    assert service.admin.put_environment("prod", revision=1).revision == 2
    with service.client(Role.VIEWER, "weather") as client:
        assert [one.name for one in client.environments()] == ["prod"]
        assert not client.get_environment("prod").protected
    with pytest.raises(NotFound):
        service.admin.get_environment("nowhere")
    done = [one for one in service.entries("environment.set") if one["outcome"] == "done"]
    assert [(one["before"], one["after"]["protected"]) for one in done] == [(None, True), (done[0]["after"], False)]


def test_only_operators_and_publishers_of_the_namespace_say_what_runs(weather: Service) -> None:
    for role, namespace in ((Role.VIEWER, "*"), (Role.CALLER, "*"), (Role.OPERATOR, "maps"), (Role.PUBLISHER, "maps")):
        with weather.client(role, namespace) as client:
            with pytest.raises(Forbidden):
                client.put_deployment("test", "weather.current", "1.0.0")
            with pytest.raises(Forbidden):
                client.end_deployment("test", "weather.current")
    for role in (Role.OPERATOR, Role.PUBLISHER):
        with weather.client(role, "weather") as client:
            client.put_deployment("test", "weather.current", "1.0.0")
    with weather.client(Role.VIEWER, "maps") as client:
        assert list(client.deployments("test")) == []


def test_a_deployment_takes_the_place_of_the_one_before_and_stays_as_history(weather: Service) -> None:
    admin = weather.admin
    first = admin.put_deployment("test", "weather.current", "1.0.0", reason="first")
    assert (first.created, first.ended) == (True, [])
    again = admin.put_deployment("test", "weather.current", "1.0.0")
    assert (again.created, again.deployment) == (False, first.deployment)
    beside = admin.put_deployment("test", "weather.current", "1.1.0", beside=True)
    assert beside.ended == []
    standing = admin.deployments("test", state=DeploymentState.STANDING)
    assert sorted(one.version for one in standing) == ["1.0.0", "1.1.0"]
    alone = admin.put_deployment("test", "weather.current", "1.1.0")
    assert (alone.created, [one.version for one in alone.ended]) == (False, ["1.0.0"])
    assert [one.version for one in admin.end_deployment("test", "weather.current", reason="gone")] == ["1.1.0"]
    assert admin.end_deployment("test", "weather.current") == []
    history = list(admin.deployments("test", skill="weather.current"))
    assert [one.version for one in history] == ["1.1.0", "1.0.0"]
    assert all(one.ended_at is not None for one in history)
    entries = [*weather.entries("deployment.record"), *weather.entries("deployment.end")]
    told = [(one["before"]["versions"], one["after"]["versions"], one["reason"]) for one in entries]
    assert told == [
        ([], ["1.0.0"], "first"),
        (["1.0.0"], ["1.0.0", "1.1.0"], None),
        (["1.0.0", "1.1.0"], ["1.1.0"], None),
        (["1.1.0"], [], "gone"),
    ]
    assert {(one["subject"], one["namespace"]) for one in entries} == {("weather.current in test", "weather")}


def test_a_protected_environment_takes_what_can_i_deploy_allows(weather: Service) -> None:
    admin = weather.admin
    admin.put_deployment("prod", "weather.current", "1.1.0")
    with pytest.raises(GateRefused, match="protected") as refused:
        admin.put_deployment("prod", "weather.current", "2.0.0")
    judgement = refused.value.details["judgement"]
    asked = admin.can_i_deploy("weather.current", "2.0.0", "prod")
    assert (judgement["decision"], judgement["reasons"]) == (asked.decision, asked.reasons)
    assert judgement["reasons"][0]["code"] == "consumer-broken"
    open_ = admin.put_deployment("test", "weather.current", "2.0.0")
    assert open_.created
    (entry,) = [one for one in weather.entries("deployment.record") if one["outcome"] == "refused"]
    assert entry["after"]["code"] == "gate-refused"


def test_a_protected_environment_takes_nothing_that_is_not_ready(weather: Service, manifest: Manifest) -> None:
    admin = weather.admin
    nobodys = admin.put_version(manifest("weather.alert", owner=None)).version
    assert [one["code"] for one in nobodys.decision["reasons"]] == ["not-ready", "first-version"]
    with pytest.raises(GateRefused, match="has no owner") as refused:
        admin.put_deployment("prod", "weather.alert", "1.0.0")
    asked = admin.can_i_deploy("weather.alert", "1.0.0", "prod")
    assert refused.value.details["judgement"]["reasons"] == asked.reasons
    assert admin.put_deployment("test", "weather.alert", "1.0.0").created
    admin.put_policy("skill:weather.alert", {"readiness": "off"}, revision=0)
    assert admin.put_deployment("prod", "weather.alert", "1.0.0").created


def test_an_exception_for_the_environment_lets_a_published_version_in_there(weather: Service) -> None:
    admin = weather.admin
    for environment in ("prod", "test"):
        admin.put_deployment(environment, "weather.current", "1.1.0")
    found = admin.get_version("weather.current", "2.0.0").decision["surroundings"]
    with weather.client(Role.PUBLISHER, "weather") as author:
        made = author.ask_for_exception(
            "weather.current@2.0.0",
            list(found),
            reason="all send days",
            expires_in_days=7,
            environment="prod",
            max_uses=1,
        )
    with pytest.raises(GateRefused):
        admin.put_deployment("prod", "weather.current", "2.0.0")
    admin.approve_exception(made.id)
    assert [one["code"] for one in admin.can_i_deploy("weather.current", "2.0.0", "prod").reasons] == ["exception-used"]
    assert admin.can_i_deploy("weather.current", "2.0.0", "test").decision == "block"
    assert admin.put_deployment("prod", "weather.current", "2.0.0").created
    assert not admin.put_deployment("prod", "weather.current", "2.0.0").created
    assert admin.get_exception(made.id).state == "used_up"
    (used,) = weather.entries("exception.use")
    assert (used["subject"], used["after"]["for"]) == (made.id, "weather.current@2.0.0 in prod")


def test_a_version_is_the_same_however_its_build_is_told(weather: Service) -> None:
    made = weather.admin.put_deployment("test", "weather.current", "1.0.0+ours")
    assert made.deployment.version == "1.0.0"
    again = weather.admin.put_deployment("test", "weather.current", "1.0.0+theirs", beside=True)
    assert (again.created, again.deployment.id) == (False, made.deployment.id)
    for told in ("1.0.0", "1.0.0+any"):
        answer = weather.admin.can_i_retire("weather.current", told)
        assert "still-deployed" in {reason["code"] for reason in answer.reasons}
    with pytest.raises(InvalidVersion):
        weather.admin.end_deployment("test", "weather.current", version="1.0")
    [ended] = weather.admin.end_deployment("test", "weather.current", version="1.0.0+other")
    assert ended.id == made.deployment.id


def test_what_does_not_exist_runs_nowhere(weather: Service) -> None:
    for environment, skill, version in (
        ("nowhere", "weather.current", "1.0.0"),
        ("test", "weather.current", "9.9.9"),
        ("test", "weather.other", "1.0.0"),
    ):
        with pytest.raises(NotFound):
            weather.admin.put_deployment(environment, skill, version)
    with pytest.raises(InvalidName):
        weather.admin.put_deployment("test", "No Name", "1.0.0")


def test_of_deployments_at_once_one_stands(weather: Service) -> None:
    def deploy(version: str) -> None:
        with weather.client(Role.OPERATOR) as client:
            client.put_deployment("test", "weather.current", version)

    threads = [threading.Thread(target=deploy, args=(one,)) for one in ("1.0.0", "1.1.0", "1.0.0", "2.0.0")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(weather.admin.deployments("test", state=DeploymentState.STANDING))) == 1
