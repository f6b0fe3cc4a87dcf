"""Every route that changes something, called by somebody who may not: refused, on record, and nothing changed."""

from __future__ import annotations

from typing import Any, Final

import httpx
import psycopg
import pytest
from registry import Manifest, Service

from governance.wire import Role

NAMES: Final = {
    "name": "weather.current",
    "skill": "weather.current",
    "version": "1.0.0",
    "environment": "prod",
    "scope": "namespace:weather",
    "acceptance_id": "acc_0011223344556677",
    "exception_id": "exc_0011223344556677",
    "token_id": "tok_0011223344556677",
    "publisher": "pub_0011223344556677",
    "webhook": "whk_0011223344556677",
    "delivery": "msg_0011223344556677",
    "digest": "sha256:" + "0" * 64,
    "rollout_id": "rol_0011223344556677",
}

SCHEMA: Final = {"type": "object", "properties": {"city": {"type": "string"}}}
MANIFEST: Final = {
    "name": "weather.current", "version": "1.0.0", "compatibility": "backward_compatible",
    "description": "Use when somebody asks for the weather now.",
    "input_schema": SCHEMA, "output_schema": {"type": "object"}, "timeout_sec": 5,
}  # fmt: skip
GRANT: Final = {"role": "publisher", "namespace": "weather"}

BODIES: Final[dict[str, Any]] = {
    "PUT /v1/skills/{name}/versions/{version}": MANIFEST,
    "PUT /v1/skills/{name}/attestations/{digest}": {"passed": 3},
    "PUT /v1/skills/{name}/versions/{version}/deprecation": {"sunset": "2099-01-01", "replacement": "none"},
    "POST /v1/skills/{name}/deprecations": {"range": "^1", "sunset": "2099-01-01", "replacement": "none"},
    "PUT /v1/skills/{name}/versions/{version}/retirement": {"reason": "old"},
    "PUT /v1/skills/{name}/versions/{version}/yank": {"reason": "wrong"},
    "PUT /v1/skills/{name}/versions/{version}/disablement": {"reason": "wrong"},
    "PUT /v1/catalogues/{name}/releases/{version}": {"members": [MANIFEST]},
    "POST /v1/checks": {"candidates": [MANIFEST]},
    "POST /v1/exceptions": {
        "check": "chk_" + "0" * 24, "fingerprints": ["0" * 16], "reason": "needed", "expires_in_days": 7,
    },
    "POST /v1/exceptions/{exception_id}/approval": {},
    "POST /v1/rollouts": {"skill": "weather.current", "candidate": "1.0.0"},
    **{
        f"POST /v1/rollouts/{{rollout_id}}/{action}": {"reason": "needed"}
        for action in ("hold", "resume", "advance", "fall-back", "cancel")
    },
    "POST /v1/rollouts/{rollout_id}/outcomes": {
        "sender": "host-1", "buckets": [{"side": "candidate", "minute": "2026-11-30T12:00:00Z", "calls": 1}],
    },
    "PUT /v1/environments/{environment}/deployments/{skill}": {"version": "1.0.0"},
    "PUT /v1/consumers/{name}": {"needs": [{"skill": "weather.current", "range": "^1"}]},
    "PUT /v1/environments/{environment}": {"protected": True},
    "PUT /v1/policies/{scope}": {"settings": {"mode": "off"}},
    "POST /v1/tokens": {"name": "more", "grants": [GRANT]},
    "POST /v1/trusted-publishers": {
        "name": "ci", "issuer": "https://ci.example.com", "claims": {"repository": "a/b"}, "grants": [GRANT],
    },
    "POST /v1/webhooks": {"url": "https://hooks.example.com/x", "namespace": "weather"},
}  # fmt: skip
"""A sound body for each route that takes one."""

QUERIES: Final = {"DELETE /v1/exceptions/{exception_id}": {"reason": "over"}}
"""And what stands in the address of one that takes something there."""

OPEN: Final = {
    "POST /v1/resolve": "asking changes nothing but what is on record of the caller itself",
    "POST /v1/auth/oidc/exchange": "it is for those who have no token yet; tests of CI identity hold it",
}
"""Routes that are not refused here, and why."""


def changing(service: Service) -> list[str]:
    found = []
    for path, operations in service.serving.app.openapi()["paths"].items():
        found += [f"{method.upper()} {path}" for method in operations if method in ("post", "put", "delete", "patch")]
    return [one for one in found if one not in OPEN]


def attempt(http: httpx.Client, route: str) -> httpx.Response:
    method, path = route.split()
    given = {"json": BODIES.get(route), "params": QUERIES.get(route), "headers": {"If-Match": "*"}}
    return http.request(method, path.format(**NAMES), **given)


def test_every_attempt_of_a_caller_who_may_not_is_refused_and_on_record(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    token, wrong = service.token(Role.VIEWER, "maps"), []
    with service.http(token) as http:
        for route in changing(service):
            before = len(service.entries())
            answer = attempt(http, route)
            told = [(one["outcome"], one["actor"]["name"]) for one in service.entries()[before:]]
            if answer.status_code not in (403, 404) or told != [("refused", "viewer of maps")]:
                wrong.append(f"{route}: {answer.status_code}, on record {told}, {answer.text[:200]}")
    assert wrong == []


def test_without_a_token_nothing_is_changed_and_all_attempts_are_one_entry(service: Service) -> None:
    service.serving.app.state.unauthenticated.take()
    routes = changing(service)
    with service.http(None) as http:
        for route in routes:
            answer = attempt(http, route)
            assert answer.status_code == 401, route
    assert service.serving.app.state.unauthenticated.take()["causes"] == {"missing": len(routes)}
    assert [one["action"] for one in service.entries()] == ["token.create"]


@pytest.mark.parametrize("state", ["expired", "revoked"])
def test_a_token_that_ran_out_or_was_revoked_changes_nothing(state: str, service: Service) -> None:
    created = service.admin.create_token("late", [{"role": "admin", "namespace": "*"}])  # type: ignore[list-item]
    if state == "revoked":
        service.admin.revoke_token(created.id)
    else:
        with psycopg.connect(service.serving.app.state.settings.database_owner_url) as connection:
            connection.execute("UPDATE token SET expires_at = now() WHERE id = %s", (created.id,))
    with service.http(created.token) as http:
        for route in changing(service):
            answer = attempt(http, route)
            assert (answer.status_code, answer.json()["details"]["cause"]) == (401, state), route
