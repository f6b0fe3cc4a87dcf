"""The composition, checked as text: valid by the Compose schema, nothing open, nothing without a pin or a password."""

from __future__ import annotations

import re
from typing import Any

import jsonschema_rs
import pytest
import yaml
from deployed import PORT, ROOT, composition, schema, stages

from governance import __version__
from governance.control.roles import DATABASE_NAME, OWNER_ROLE, SERVICE_ROLE
from governance.control.serving import GRACE_SEC

PASSWORDS = {
    "POSTGRES_PASSWORD": "the superuser's",
    "OWNER_PASSWORD": "the owner's",
    "SERVICE_PASSWORD": "the service's",
    "GRAFANA_PASSWORD": "the dashboards'",
}
WHOLE = composition({**PASSWORDS, "COMPOSE_PROFILES": "observe"})
SERVICES: dict[str, dict[str, Any]] = WHOLE["services"]
each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES.keys())


def complaints(document: Any) -> list[str]:
    return [str(error) for error in jsonschema_rs.validator_for(schema("compose-spec.json")).iter_errors(document)]


def test_it_is_valid_by_the_compose_specification() -> None:
    assert complaints(WHOLE) == []
    assert complaints(yaml.safe_load((ROOT / "docker-compose.yml").read_text())) == []
    assert complaints({**WHOLE, "services": {"registry": {**SERVICES["registry"], "read-only": True}}}) != []


@pytest.mark.parametrize("missing", PASSWORDS)
def test_it_does_not_start_without_a_password_and_brings_none(missing: str) -> None:
    with pytest.raises(KeyError, match=missing):
        composition({name: value for name, value in PASSWORDS.items() if name != missing})


def test_no_login_sees_the_password_of_another() -> None:
    held = {
        name: {text for text in service.get("environment", {}).values() if text in PASSWORDS.values()}
        for name, service in SERVICES.items()
    }
    assert held["migrate"] == {"the owner's"}
    assert held["registry"] == {"the service's"}
    assert {name for name, passwords in held.items() if passwords} == {"postgres", "migrate", "registry", "grafana"}


def test_the_job_migrates_as_the_owner_and_the_service_owns_nothing() -> None:
    urls = {name: SERVICES[name]["environment"]["DATABASE_URL"] for name in ("migrate", "registry")}
    assert urls == {
        "migrate": f"postgresql://{OWNER_ROLE}@postgres/{DATABASE_NAME}",
        "registry": f"postgresql://{SERVICE_ROLE}@postgres/{DATABASE_NAME}",
    }
    waits = SERVICES["registry"]["depends_on"]
    assert waits["migrate"] == {"condition": "service_completed_successfully"}
    assert waits["postgres"] == SERVICES["migrate"]["depends_on"]["postgres"] == {"condition": "service_healthy"}


@each_service
def test_every_container_is_pinned_and_holds_no_more_rights_than_it_needs(service: dict[str, Any]) -> None:
    tag = service["image"].rpartition(":")[2]
    assert re.match(r"v?\d", tag), service["image"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert not any("docker.sock" in str(volume) for volume in service.get("volumes", ()))


@each_service
def test_what_is_mounted_from_here_is_read_only_and_is_here(service: dict[str, Any]) -> None:
    for volume in service.get("volumes", ()):
        source, _, rest = volume.partition(":")
        if source.startswith("."):
            assert (ROOT / source).exists(), source
            assert rest.endswith(":ro")
        else:
            assert source in WHOLE["volumes"]


@each_service
def test_ports_are_open_to_this_machine_alone(service: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_what_has_no_port_is_reached_from_inside_alone() -> None:
    assert WHOLE["networks"]["inside"] == {"internal": True}
    assert SERVICES["postgres"]["networks"] == SERVICES["migrate"]["networks"] == ["inside"]
    assert all("front" in service["networks"] for service in SERVICES.values() if "ports" in service)


def test_without_a_profile_it_is_the_registry_and_its_database() -> None:
    assert {name for name, service in SERVICES.items() if "profiles" not in service} == {
        "postgres",
        "migrate",
        "registry",
    }
    assert {tuple(service["profiles"]) for service in SERVICES.values() if "profiles" in service} == {("observe",)}
    assert SERVICES["registry"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://collector:4318"
    alone = composition(PASSWORDS)["services"]["registry"]["environment"]
    assert alone["OTEL_EXPORTER_OTLP_ENDPOINT"] == ""


def test_the_registry_is_this_release_and_is_built_from_here() -> None:
    for name in ("migrate", "registry"):
        assert SERVICES[name]["image"] == f"skill-governance:{__version__}"
        assert SERVICES[name]["build"] == "."


def test_the_registry_writes_to_its_home_and_to_tmp_and_stops_in_time() -> None:
    registry = SERVICES["registry"]
    home = stages((ROOT / "Dockerfile").read_text())[-1].environment()["GOVCTL_HOME"]
    assert registry["volumes"] == [f"home:{home}"]
    assert registry["tmpfs"] == ["/tmp"]
    drain = int(registry["environment"]["GOVCTL_DRAIN_SEC"])
    assert drain + GRACE_SEC < int(registry["stop_grace_period"].removesuffix("s"))
    assert registry["ports"][0].endswith(f":{PORT}")
    assert composition({**PASSWORDS, "REGISTRY_PORTS": "8470-8471"})["services"]["registry"]["ports"] == [
        f"127.0.0.1:8470-8471:{PORT}"
    ]
