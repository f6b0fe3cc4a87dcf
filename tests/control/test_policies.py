"""Policies over HTTP: who may set them, what holds, and what is kept of what held before."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from registry import Manifest, Service

from governance.core.policy import POLICY_KEYS
from governance.errors import (
    Forbidden,
    GateRefused,
    GovernanceError,
    InvalidRequest,
    PreconditionFailed,
    UsageError,
)
from governance.wire import Role

BROKEN = {"type": "object", "properties": {"city": {"type": "integer"}}, "required": ["city"]}


def test_only_those_who_administer_a_scope_set_it(service: Service) -> None:
    for role in (Role.PUBLISHER, Role.APPROVER, Role.OPERATOR):
        with service.client(role, "weather") as client, pytest.raises(Forbidden):
            client.put_policy("namespace:weather", {"mode": "off"}, revision=0)
    with service.client(Role.ADMIN, "weather") as client:
        for scope in ("global", "namespace:maps", "skill:maps.route"):
            with pytest.raises(Forbidden):
                client.put_policy(scope, {"mode": "off"}, revision=0)
        client.put_policy("namespace:weather.eu", {"mode": "off"}, revision=0)
        client.put_policy("skill:weather.current", {"mode": "off"}, revision=0)
    refused = [one for one in service.entries("policy.set") if one["outcome"] == "refused"]
    assert len(refused) == 6
    assert {one["after"]["code"] for one in refused} == {"forbidden"}


def test_a_policy_of_another_namespace_is_not_shown_and_the_global_one_is(service: Service) -> None:
    with service.client(Role.VIEWER, "weather") as client:
        assert client.get_policy("global").revision == 0
        assert client.effective_policy(skill="weather.not_yet").values["mode"].origin == "default"
        for asked in (
            lambda: client.get_policy("namespace:maps"),
            lambda: client.policy_revisions("skill:maps.route"),
            lambda: client.effective_policy(skill="maps.route"),
            lambda: client.effective_policy(namespace="maps"),
        ):
            with pytest.raises(Forbidden):
                asked()


def test_what_is_set_holds_from_the_nearest_scope_and_says_so(service: Service) -> None:
    admin = service.admin
    admin.put_policy("global", {"mode": "warn", "exception_days": 30}, revision=0)
    admin.put_policy("namespace:weather", {"exception_days": 7}, revision=0, reason="we are careful")
    admin.put_policy("skill:weather.current", {"mode": "enforce"}, revision=0)
    held = admin.effective_policy(skill="weather.current").values
    assert set(held) == set(POLICY_KEYS)
    told = {key: (held[key].value, held[key].origin) for key in ("mode", "exception_days", "readiness")}
    assert told == {
        "mode": ("enforce", "skill:weather.current"),
        "exception_days": (7, "namespace:weather"),
        "readiness": ("warn", "default"),
    }
    assert admin.effective_policy(namespace="weather").values["mode"].origin == "global"


def test_the_gate_follows_the_policy(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    broken = manifest(version="1.1.0", input_schema=BROKEN)
    with pytest.raises(GateRefused):
        service.admin.put_version(broken)
    service.admin.put_policy("namespace:weather", {"mode": "warn"}, revision=0)
    decision = service.admin.put_version(broken).version.decision
    assert decision["decision"] == "warn"
    assert decision["policy"] == {"mode": "warn", "origin": "namespace:weather"}


def test_a_change_names_the_state_it_changes_and_history_stays(service: Service) -> None:
    admin = service.admin
    first = admin.put_policy("global", {"mode": "warn"}, revision=0, reason="to begin with")
    assert (first.revision, first.settings) == (1, {"mode": "warn"})
    with pytest.raises(PreconditionFailed):
        admin.put_policy("global", {"mode": "off"}, revision=0)
    assert admin.put_policy("global", {"mode": "warn"}, revision=1).revision == 1
    admin.put_policy("global", {}, revision=None, reason="no more")
    assert [(one.revision, one.settings, one.reason) for one in admin.policy_revisions("global")] == [
        (2, {}, "no more"),
        (1, {"mode": "warn"}, "to begin with"),
    ]
    done = [one for one in service.entries("policy.set") if one["outcome"] == "done"]
    assert [(one["before"]["settings"], one["after"]["settings"]) for one in done] == [
        ({}, {"mode": "warn"}),
        ({"mode": "warn"}, {}),
    ]
    assert {(one["subject"], one["namespace"]) for one in done} == {("global", "*")}
    with service.http(service.serving.token) as http:
        assert http.put("/v1/policies/global", json={"settings": {}}).status_code == 428
        etag = http.get("/v1/policies/global").headers["etag"]
        assert http.get("/v1/policies/global", headers={"If-None-Match": etag}).status_code == 304


def test_of_two_who_change_one_state_one_is_told(service: Service) -> None:
    answers: list[int | str] = []

    def change(days: int) -> None:
        with service.client(Role.ADMIN) as client:
            try:
                answers.append(client.put_policy("global", {"exception_days": days}, revision=0).revision)
            except GovernanceError as error:
                answers.append(error.code)

    threads = [threading.Thread(target=change, args=(days,)) for days in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == ["1", *["precondition-failed"] * 5]


def test_what_nobody_knows_is_refused_with_its_place(empty_service: Service) -> None:
    with pytest.raises(InvalidRequest) as refused:
        empty_service.admin.put_policy("global", {"mod": "warn", "mode": "soft"}, revision=None)
    assert [fault.pointer for fault in refused.value.faults] == ["/settings/mod", "/settings/mode"]
    for scope in ("everything", "namespace:", "skill:No Name"):
        with pytest.raises(UsageError):
            empty_service.admin.get_policy(scope)


def test_pages_of_revisions_go_on_where_they_ended(service: Service) -> None:
    for days in range(1, 4):
        service.admin.put_policy("global", {"exception_days": days}, revision=days - 1)
    with service.http(service.serving.token) as http:
        first = http.get("/v1/policies/global/revisions", params={"limit": 2}).json()
        second = http.get("/v1/policies/global/revisions", params={"limit": 2, "cursor": first["next"]}).json()
        assert [one["revision"] for one in first["items"] + second["items"]] == [3, 2, 1]
        assert second["next"] is None
        assert http.get("/v1/policies/global/revisions", params={"cursor": "Z2l0"}).json()["code"] == "usage"


@pytest.mark.parametrize("key", POLICY_KEYS)
def test_every_key_is_in_the_docs(key: str) -> None:
    row = POLICY_KEYS[key]
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text().splitlines()
    assert f"| `{key}` | {row.shown} | {str(row.default).lower()} | {row.meaning} |" in page
