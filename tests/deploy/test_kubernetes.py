"""The Kubernetes manifests, checked as text: valid by its strict schemas, restricted, and true to the composition."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import jsonschema_rs
import pytest
import yaml
from deployed import DEPLOY, PORT, ROOT, composition, manifests, schema, stages

from governance import __version__
from governance.control.auth.service import is_whole
from governance.control.roles import DATABASE_NAME, OWNER_ROLE, SERVICE_ROLE
from governance.control.serving import GRACE_SEC
from governance.control.settings import Settings

KUBERNETES = schema("kubernetes-1.37.json")
OBJECTS = manifests()
IMAGE = stages((ROOT / "Dockerfile").read_text())[-1]
KUSTOMIZATION = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())


def label(document: dict[str, Any]) -> str:
    return f"{document['kind']}/{document['metadata']['name']}"


def complaints(document: Any) -> list[str]:
    kind = KUBERNETES["kinds"][f"{document['apiVersion']}/{document['kind']}"]
    wanted = {"$schema": KUBERNETES["$schema"], "$ref": f"#/$defs/{kind}", "$defs": KUBERNETES["$defs"]}
    return [str(error) for error in jsonschema_rs.validator_for(wanted).iter_errors(document)]


def named(kind: str, name: str) -> dict[str, Any]:
    (found,) = (one for one in OBJECTS if label(one) == f"{kind}/{name}")
    return found


JOB = named("Job", "migrate-" + __version__.replace(".", "-"))
DEPLOYMENT = named("Deployment", "registry")
PODS = {"job": JOB["spec"]["template"]["spec"], "deployment": DEPLOYMENT["spec"]["template"]["spec"]}
(REGISTRY,) = PODS["deployment"]["containers"]
PASSWORDS = ("POSTGRES_PASSWORD", "OWNER_PASSWORD", "SERVICE_PASSWORD", "GRAFANA_PASSWORD")
each_pod = pytest.mark.parametrize("pod", PODS.values(), ids=PODS.keys())


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", ()), *pod["containers"]]


@pytest.mark.parametrize("document", OBJECTS, ids=label)
def test_every_object_is_valid_by_the_strict_schema_of_its_kind(document: dict[str, Any]) -> None:
    assert complaints(document) == []


def test_the_schemas_refuse_a_word_that_kubernetes_does_not_know() -> None:
    wrong = yaml.safe_load(yaml.safe_dump(DEPLOYMENT))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readonlyRootFilesystem"] = True
    assert len(complaints(wrong)) == 1


def test_all_is_applied_but_the_template_of_the_secrets() -> None:
    files = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")}
    assert set(KUSTOMIZATION["resources"]) == files - {"kustomization.yaml", "secrets.template.yaml"}
    assert {one["metadata"].get("namespace") for one in OBJECTS} - {None} == {KUSTOMIZATION["namespace"]}
    assert named("Namespace", KUSTOMIZATION["namespace"])["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
    }


def test_no_secret_is_written_down() -> None:
    secrets = [one for one in OBJECTS if one["kind"] == "Secret"]
    assert {one["metadata"]["name"] for one in secrets} == {"database-owner", "database-service", "local-admin"}
    assert {value for one in secrets for value in one["stringData"].values()} == {""}


def test_the_secret_that_the_guide_makes_is_a_whole_token() -> None:
    lines = (ROOT / "docs" / "deploy.md").read_text().splitlines()
    wanted = [line for line in lines if line.startswith("token=") or "generic local-admin" in line]
    script = "\n".join(["kubectl() { printf '%s' \"${!#}\"; }", *wanted])
    made = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    key, _, content = made.partition("=")
    assert key == "--from-literal"
    name, _, document = content.partition("=")
    assert name in named("Secret", "local-admin")["stringData"]
    assert is_whole(json.loads(document)["token"])


@each_pod
def test_pods_are_restricted(pod: dict[str, Any]) -> None:
    uid, gid = (int(part) for part in IMAGE.only("USER").split(":"))
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": uid,
        "runAsGroup": gid,
        "fsGroup": gid,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    for one in containers(pod):
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= one["resources"].keys()
        assert "memory" in one["resources"]["limits"]
        writable = {mount["name"] for mount in one["volumeMounts"]}
        assert writable <= {volume["name"] for volume in pod["volumes"]}
    assert all("sizeLimit" in volume["emptyDir"] for volume in pod["volumes"] if "emptyDir" in volume)
    mounts = [mount for one in containers(pod) for mount in one["volumeMounts"]]
    secret = {volume["name"] for volume in pod["volumes"] if "secret" in volume}
    assert all(mount.get("readOnly") for mount in mounts if mount["name"] in secret)


@each_pod
def test_every_image_is_this_release(pod: dict[str, Any]) -> None:
    assert {one["image"] for one in containers(pod)} == {f"skill-governance:{__version__}"}
    (image,) = KUSTOMIZATION["images"]
    assert (image["name"], image["newTag"]) == ("skill-governance", __version__)


def variables(one: dict[str, Any]) -> dict[str, str]:
    """A container's variables; a secret's value is the secret's name."""
    found: dict[str, str] = {}
    for source in one.get("envFrom", ()):
        found |= named("ConfigMap", source["configMapRef"]["name"])["data"]
    for entry in one["env"]:
        ((kind, reference),) = entry["valueFrom"].items()
        if kind == "configMapKeyRef":
            found[entry["name"]] = named("ConfigMap", reference["name"])["data"][reference["key"]]
        else:
            assert reference["key"] in named("Secret", reference["name"])["stringData"]
            found[entry["name"]] = reference["name"]
    return found


def test_the_job_alone_holds_the_owners_login() -> None:
    (migrate,) = JOB["spec"]["template"]["spec"]["containers"]
    assert migrate["args"] == composition(dict.fromkeys(PASSWORDS, "x"))["services"]["migrate"]["command"]
    held = variables(migrate)
    assert held["PGPASSWORD"] == "database-owner"
    assert held["DATABASE_URL"].startswith(f"postgresql://{OWNER_ROLE}@")
    for one in containers(PODS["deployment"]):
        held = variables(one)
        assert held["PGPASSWORD"] == "database-service"
        assert held["DATABASE_URL"].startswith(f"postgresql://{SERVICE_ROLE}@")
        assert f"/{DATABASE_NAME}?sslmode=verify-full" in held["DATABASE_URL"]
        assert "DATABASE_OWNER_URL" not in held


def test_the_service_can_read_what_it_is_given_and_knows_every_variable() -> None:
    settings = Settings.from_environment({**IMAGE.environment(), **variables(REGISTRY)})
    assert settings.unknown == ()
    assert settings.otlp_endpoint is None
    assert PODS["deployment"]["terminationGracePeriodSeconds"] > settings.drain_sec + GRACE_SEC
    readiness = REGISTRY["readinessProbe"]
    assert readiness["periodSeconds"] * readiness["failureThreshold"] < settings.drain_sec
    mounts = {mount["name"]: mount["mountPath"] for mount in REGISTRY["volumeMounts"]}
    assert mounts == {"home": str(settings.home), "tmp": "/tmp"}


def test_the_probes_ask_what_they_are_for() -> None:
    (port,) = REGISTRY["ports"]
    assert str(port["containerPort"]) == PORT
    asked = {name: REGISTRY[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")}
    assert asked == {
        "startup": {"path": "/livez", "port": port["name"]},
        "readiness": {"path": "/readyz", "port": port["name"]},
        "liveness": {"path": "/livez", "port": port["name"]},
    }


def test_one_replica_at_a_time_may_go_and_they_stand_apart() -> None:
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert DEPLOYMENT["spec"]["replicas"] == 2
    assert DEPLOYMENT["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert named("PodDisruptionBudget", "registry")["spec"]["maxUnavailable"] == 1
    selectors = [
        DEPLOYMENT["spec"]["selector"]["matchLabels"],
        named("PodDisruptionBudget", "registry")["spec"]["selector"]["matchLabels"],
        named("Service", "registry")["spec"]["selector"],
        *(spread["labelSelector"]["matchLabels"] for spread in PODS["deployment"]["topologySpreadConstraints"]),
    ]
    assert all(selector == labels for selector in selectors)
    assert labels != JOB["spec"]["template"]["metadata"]["labels"]  # the Service must not send callers to the Job
    keys = [spread["topologyKey"] for spread in PODS["deployment"]["topologySpreadConstraints"]]
    assert keys == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]


def test_the_network_lets_in_the_registrys_port_alone() -> None:
    policy = named("NetworkPolicy", "registry")["spec"]
    assert policy["podSelector"] == {}
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    assert [port["port"] for rule in policy["ingress"] for port in rule["ports"]] == [int(PORT)]
    assert sorted({port["port"] for rule in policy["egress"] for port in rule["ports"]}) == [53, 4318, 5432]
