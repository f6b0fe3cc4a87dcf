"""A creating POST that is sent again with its key makes nothing twice."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control.idempotency.service import MOST_KEYS
from governance.errors import RequestRunning, SecretShownOnce
from governance.wire import Grant, Role

GRANTS = [Grant(role=Role.VIEWER, namespace="team")]


def post(service: Service, path: str, body: dict[str, Any], key: str, token: str | None = None) -> httpx.Response:
    with service.http(token or service.serving.token) as http:
        return http.post(path, json=body, headers={"Idempotency-Key": key})


def checks(service: Service) -> int:
    return len(service.entries("check.run"))


def test_a_stranger_is_refused_before_a_key_is_taken(service: Service) -> None:
    assert post(service, "/v1/tokens", {"name": "x", "grants": []}, "k", token="govctl_nobody").status_code == 401
    with psycopg.connect(service.database_url) as connection:
        assert connection.execute("SELECT count(*) FROM idempotency_key").fetchone() == (0,)


def test_the_same_check_again_is_the_same_answer_to_the_byte(service: Service, manifest: Manifest) -> None:
    body = {"candidates": [manifest()]}
    first = post(service, "/v1/checks", body, '"one"')
    again = post(service, "/v1/checks", body, "one")
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert checks(service) == 1
    assert post(service, "/v1/checks", body, "two").json()["id"] != first.json()["id"]


def test_a_key_stands_for_one_request_of_one_caller(service: Service, manifest: Manifest) -> None:
    body = {"candidates": [manifest()]}
    first = post(service, "/v1/checks", body, "one").json()
    for path, other in (("/v1/checks", {"candidates": [manifest(tags=["x"])]}), ("/v1/tokens", {"name": "x"})):
        if path == "/v1/tokens":
            other |= {"grants": [grant.model_dump(mode="json") for grant in GRANTS]}
        answer = post(service, path, other, "one")
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency-key-reused")
    other_caller = post(service, "/v1/checks", body, "one", token=service.token(Role.PUBLISHER))
    assert other_caller.json()["id"] != first["id"]


def test_a_token_is_made_once_and_its_secret_stands_nowhere(service: Service) -> None:
    made = service.admin.create_token("ci", GRANTS, idempotency_key="deploy 7")
    with pytest.raises(SecretShownOnce) as caught:
        service.admin.create_token("ci", GRANTS, idempotency_key="deploy 7")
    assert caught.value.details["id"] == made.id
    assert f"govctl token revoke {made.id}" in caught.value.fix
    assert [token.name for token in service.admin.tokens()].count("ci") == 1
    with psycopg.connect(service.database_url) as connection:
        (row,) = connection.execute("SELECT k::text FROM idempotency_key AS k").fetchall()
    assert made.token not in row[0]


def test_a_refused_request_leaves_its_key_free(service: Service, manifest: Manifest) -> None:
    token = service.token(Role.VIEWER)
    body = {"candidates": [manifest()]}
    assert [post(service, "/v1/checks", body, "one", token=token).status_code for _ in range(2)] == [403, 403]
    with psycopg.connect(service.database_url) as connection:
        assert connection.execute("SELECT count(*) FROM idempotency_key").fetchone() == (0,)


@pytest.mark.parametrize("key", ['""', '"a"b"', "a, b", "x" * 300, '"' + "x" * 256 + '"', "a;b", '"\\"'])
def test_what_is_no_key_is_refused(empty_service: Service, manifest: Manifest, key: str) -> None:
    answer = post(empty_service, "/v1/checks", {"candidates": [manifest()]}, key)
    assert answer.status_code in {400, 422}
    assert answer.json()["fix"]


def test_two_keys_are_no_key(empty_service: Service, manifest: Manifest) -> None:
    with empty_service.http(empty_service.serving.token) as http:
        answer = http.post(
            "/v1/checks",
            json={"candidates": [manifest()]},
            headers=[("Idempotency-Key", "a"), ("Idempotency-Key", "b")],
        )
    assert answer.status_code == 400


def test_of_many_at_once_one_does_the_work(service: Service, manifest: Manifest) -> None:
    body = {"candidates": [manifest()]}
    answers: list[httpx.Response] = []
    start = threading.Barrier(6)

    def work() -> None:
        start.wait()
        answers.append(post(service, "/v1/checks", body, "one"))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"request-running"}
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 200}) == 1
    with psycopg.connect(service.database_url) as connection:
        assert connection.execute("SELECT count(*) FROM gate_check").fetchone() == (1,)


def left_behind(service: Service, *, age: str) -> None:
    """A claim like the one of a process that died while it worked."""
    with psycopg.connect(service.database_url) as connection:
        connection.execute(
            "UPDATE idempotency_key SET made = NULL, claim = 'a dead one',"
            f" claimed_at = now() - interval '{age}', expires_at = now() + interval '1 hour'"
        )


def test_the_claim_of_a_dead_process_is_free_again_after_a_while(service: Service) -> None:
    service.admin.create_token("ci", GRANTS, idempotency_key="one")
    left_behind(service, age="10 seconds")
    with pytest.raises(RequestRunning):
        service.admin.create_token("ci", GRANTS, idempotency_key="one")
    left_behind(service, age="10 minutes")
    assert service.admin.create_token("ci", GRANTS, idempotency_key="one").token


def test_a_key_expires_and_is_swept(service: Service, manifest: Manifest) -> None:
    post(service, "/v1/checks", {"candidates": [manifest()]}, "old")
    with psycopg.connect(service.database_url) as connection:
        connection.execute("UPDATE idempotency_key SET expires_at = now() - interval '1 second'")
    assert post(service, "/v1/checks", {"candidates": [manifest(tags=["x"])]}, "new").status_code == 200
    with psycopg.connect(service.database_url) as connection:
        assert connection.execute("SELECT key FROM idempotency_key").fetchall() == [("new",)]


def test_a_caller_may_have_so_many_keys_and_no_more(service: Service, manifest: Manifest) -> None:
    post(service, "/v1/checks", {"candidates": [manifest()]}, "one")
    with psycopg.connect(service.database_url) as connection:
        connection.execute(
            "INSERT INTO idempotency_key SELECT caller, 'k' || n, fingerprint, claim, made, claimed_at, expires_at"
            f" FROM idempotency_key, generate_series(1, {MOST_KEYS}) AS n"
        )
    answer = post(service, "/v1/checks", {"candidates": [manifest()]}, "another")
    assert (answer.status_code, answer.json()["code"]) == (429, "too-many-requests")
    assert post(service, "/v1/checks", {"candidates": [manifest()]}, "one").status_code == 200


def test_the_key_is_described(empty_service: Service) -> None:
    with empty_service.http(None) as http:
        paths = http.get("/openapi.json").json()["paths"]
    for path in ("/v1/checks", "/v1/tokens"):
        operation = paths[path]["post"]
        assert "Idempotency-Key" in {one["name"] for one in operation["parameters"] if one["in"] == "header"}
        assert {"409", "422"} <= set(operation["responses"])


def test_a_client_with_a_key_may_ask_twice(service: Service, manifest: Manifest) -> None:
    with ControlPlane(service.serving.address, service.serving.token) as client:
        assert client.check([manifest()], idempotency_key="x") == client.check([manifest()], idempotency_key="x")
