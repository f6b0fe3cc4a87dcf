"""Every route does what its description says: no 500, no undeclared status, type or shape, whoever asks.

schemathesis reads the description and asks; a new route is asked by being described.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest
from registry import Manifest, Service

from governance.wire import ConsumerRequest, Grant, NeedRequest, Role

TESTER = Path(sys.prefix) / "schemathesis" / "bin" / "schemathesis"
_USUAL = 100
"""Examples of a property test that is not fuzzing."""
_SETTINGS = """
[checks]
# What is no name, version, range or cursor is refused, and no schema in the description could have told.
positive_data_acceptance.enabled = false

[phases.coverage]
unexpected-methods = ["PATCH", "DELETE", "OPTIONS", "QUERY"]
"""

ALL = "examples,coverage,fuzzing,stateful"
CALLERS = {
    "a maker": ([Grant(role=role, namespace="*") for role in Role if role is not Role.ADMIN], "examples,coverage", 4),
    # An admin of all could revoke the token it asks with.
    "an admin": (
        [Grant(role=Role.ADMIN, namespace="weather"), Grant(role=Role.AUDITOR, namespace="*")],
        "fuzzing,stateful",
        4,
    ),
    "a viewer": ([Grant(role=Role.VIEWER, namespace="weather")], "fuzzing", 2),
    "a stranger": (None, "fuzzing", 1),
}
"""What each may do, what it tries in a usual run, and how many examples a route gets from it then."""


def configuration(folder: Path, known: dict[str, list[str]]) -> Path:
    """Half of the parameters of these names get values of what there is."""
    lines = [_SETTINGS, "[dictionaries]"]
    lines += [f"{name.replace('.', '-')} = {{ values = {json.dumps(values)} }}" for name, values in known.items()]
    lines += ["[parameters]"]
    lines += [f'"{name}" = {{ dictionary = "{name.replace(".", "-")}", probability = 0.5 }}' for name in known]
    path = folder / "schemathesis.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def filled(service: Service, manifest: Manifest) -> dict[str, list[str]]:
    """Two versions and releases, a check, exceptions, a consumer, environments, rollouts, tokens: ids by parameter."""
    versions = ["1.0.0", "1.1.0"]
    digests = [service.admin.put_version(manifest(version=one, tags=[one])).version.manifest_digest for one in versions]
    for version in versions:
        service.admin.put_release("shop", version, [manifest("shop.cart", version=None)])
    check = service.admin.check([manifest(version="1.2.0", input_schema={"type": "object", "required": ["at"]})])
    broken = list(check.decisions[0]["surroundings"])
    exceptions = [service.admin.ask_for_exception(check.id, broken, reason="r", expires_in_days=9) for _ in range(3)]
    for environment, protected in (("prod", True), ("test", False)):
        service.admin.put_environment(environment, protected=protected)
        service.admin.put_deployment(environment, "weather.current", "1.0.0")
    needs = [NeedRequest(skill="weather.current", range="^1")]
    service.admin.put_consumer("agents/one", ConsumerRequest(needs=needs))
    service.admin.put_policy("namespace:weather", {"mode": "warn"}, revision=0)
    rollouts = [service.admin.start_rollout("weather.current", "1.1.0", environment=one).id for one in ("prod", "test")]
    service.admin.fall_back(rollouts[0], "r")
    spare = [service.admin.create_token("spare", [Grant(role=Role.VIEWER, namespace="weather")]) for _ in range(3)]
    return {
        "path.name": ["weather.current", "current", "shop.cart", "shop", "agents/one"],
        "path.skill": ["weather.current", "shop.cart"],
        "path.environment": ["prod", "test"],
        "path.exception_id": [one.id for one in exceptions],
        "path.rollout_id": rollouts,
        "path.scope": ["global", "namespace:weather", "skill:weather.current"],
        "path.version": versions,
        "query.from": versions,
        "query.to": versions,
        "path.digest": digests,
        "path.check_id": [check.id],
        "path.token_id": [token.id for token in spare],
    }


@pytest.mark.fuzzes
@pytest.mark.parametrize("who", CALLERS)
def test_the_service_answers_as_its_description_says(
    service: Service, manifest: Manifest, tmp_path: Path, who: str
) -> None:
    grants, phases, examples = CALLERS[who]
    many = hypothesis.settings().max_examples // _USUAL
    command = [str(TESTER), "--config-file", str(configuration(tmp_path, filled(service, manifest)))]
    command += ["run", f"{service.serving.address}/openapi.json", "--phases", phases if many == 1 else ALL]
    command += ["--max-examples", str(examples * many), "--continue-on-failure", "--warnings", "off", "--no-color"]
    command += ["--seed", "1"] if many == 1 else []
    token = None if grants is None else service.admin.create_token(who, grants).token
    if token is not None:
        command += ["--header", f"Authorization: Bearer {token}"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    with service.http(token) as http:  # it still may ask: nothing was tried as somebody else
        assert http.get("/v1/skills").status_code == (200 if token else 401)
