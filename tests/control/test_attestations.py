"""Tests of a contract go on record, and make a high-risk skill ready while the last run passed."""

from __future__ import annotations

from typing import Any

import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.errors import Forbidden, GateRefused, InvalidName
from governance.wire import Role

EXAMPLES = [{"input": {"city": "Paris"}, "output": {}}, {"input": {"city": ""}, "error": "unknown_city"}]
RISKY: dict[str, Any] = {
    "side_effects": "external",
    "examples": EXAMPLES,
    "errors": [{"code": "unknown_city", "meaning": "Nobody knows the city."}],
}


def missing(admin: ControlPlane, document: dict[str, Any]) -> list[str]:
    """What the gate says is not ready."""
    reasons = admin.check([document]).decisions[0]["reasons"]
    return [reason["message"] for reason in reasons if reason["code"] == "not-ready"]


def test_only_publishers_of_the_namespace_attest_and_readers_read(service: Service) -> None:
    digest = "sha256:" + "0" * 64
    for role, namespace in ((Role.CALLER, "weather"), (Role.APPROVER, "weather"), (Role.PUBLISHER, "maps")):
        with service.client(role, namespace) as client, pytest.raises(Forbidden):
            client.put_attestation("weather.current", digest, passed=1)
    with service.client(Role.PUBLISHER, "weather") as client:
        client.put_attestation("weather.current", digest, passed=1)
        with pytest.raises(Forbidden):
            list(client.attestations("maps.route"))
        with pytest.raises(InvalidName):
            client.put_attestation("No Name", digest, passed=1)
    refused = [one for one in service.entries("attestation.record") if one["outcome"] == "refused"]
    assert len(refused) == 3


def test_the_last_run_of_the_very_contract_counts(service: Service, manifest: Manifest) -> None:
    admin, document = service.admin, manifest(**RISKY)
    digest = admin.put_version(document).version.contract_digest
    again = manifest(version="1.0.1", **RISKY)
    assert len(missing(admin, again)) == 1
    made = admin.put_attestation("weather.current", digest, passed=12, source="https://ci.example/1")
    assert admin.put_attestation("weather.current", digest, passed=12, source="https://ci.example/1") == made
    assert missing(admin, again) == []
    assert len(missing(admin, manifest(version="1.1.0", timeout_sec=20, **RISKY))) == 1
    admin.put_attestation("weather.current", digest, passed=11, failed=1)
    assert len(missing(admin, again)) == 1
    runs = list(admin.attestations("weather.current"))
    assert [(one.passed, one.failed) for one in runs] == [(11, 1), (12, 0)]
    assert list(admin.attestations("weather.current", digest="sha256:" + "0" * 64)) == []
    done = service.entries("attestation.record")
    assert [(one["subject"], one["after"]["failed"]) for one in done] == [
        ("weather.current", 0),
        ("weather.current", 1),
    ]


def test_a_protected_environment_takes_a_risky_skill_once_it_is_tested(service: Service, manifest: Manifest) -> None:
    admin = service.admin
    digest = admin.put_version(manifest(**RISKY)).version.contract_digest
    admin.put_environment("prod", protected=True)
    with pytest.raises(GateRefused, match="no passed tests"):
        admin.put_deployment("prod", "weather.current", "1.0.0")
    admin.put_attestation("weather.current", digest, passed=3)
    assert admin.put_deployment("prod", "weather.current", "1.0.0").created


def test_pages_go_on_where_they_ended(service: Service) -> None:
    for passed in range(3):
        service.admin.put_attestation("weather.current", "sha256:" + "0" * 64, passed=passed)
    with service.http(service.serving.token) as http:
        path = "/v1/skills/weather.current/attestations"
        first = http.get(path, params={"limit": 2}).json()
        second = http.get(path, params={"limit": 2, "cursor": first["next"]}).json()
        assert [one["passed"] for one in first["items"] + second["items"]] == [2, 1, 0]
        assert http.get(path, params={"cursor": "Z2l0"}).json()["code"] == "usage"
        assert http.put(f"{path}/sha256:{'0' * 64}", json={"passed": -1}).status_code == 422
