"""The client raises the error that a problem names, and ServerUnreachable for everything that is no answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest

from governance.client import ControlPlane, error_from_problem
from governance.errors import (
    GateRefused,
    ServerUnreachable,
    ServiceError,
    Unauthenticated,
    UsageError,
    all_errors,
)
from governance.wire import Problem, write_json


def plane(answer: Callable[[httpx.Request], httpx.Response], token: str | None = "govctl_x") -> ControlPlane:
    return ControlPlane("http://registry.test", token, transport=httpx.MockTransport(answer))


def problem(code: str, status: int = 409, **fields: Any) -> dict[str, Any]:
    return {"type": "urn:x", "title": "T", "status": status, "detail": "D.", "code": code, "fix": "F."} | fields


@pytest.mark.parametrize("error", sorted({e.code: e for e in all_errors()}.values(), key=lambda e: e.code))
def test_every_code_comes_back_as_a_class_with_that_code_and_exit(error: type) -> None:
    raised = error_from_problem(Problem.model_validate(problem(error.code, error.status)))
    assert raised.code == error.code
    assert raised.exit_code == error.exit_code
    assert (raised.message, raised.fix) == ("D.", "F.")


def test_of_two_classes_with_one_code_the_special_one_is_raised() -> None:
    raised = error_from_problem(Problem.model_validate(problem("unauthenticated", 401)))
    assert type(raised) is Unauthenticated


def test_a_code_of_a_newer_server_is_told_by_its_status() -> None:
    assert type(error_from_problem(Problem.model_validate(problem("of-tomorrow", 418)))) is UsageError
    assert type(error_from_problem(Problem.model_validate(problem("of-tomorrow", 507)))) is ServiceError


def test_details_faults_and_the_request_id_arrive() -> None:
    document = problem(
        "gate-refused",
        details={"decision": {"decision": "block"}},
        errors=[{"pointer": "/a", "message": "m", "code": "c"}],
        request_id="req-1",
    )
    with (
        plane(lambda request: httpx.Response(409, content=write_json(document))) as client,
        pytest.raises(GateRefused) as caught,
    ):
        client.put_version({"name": "a.b", "version": "1.0.0"})
    assert caught.value.details["decision"] == {"decision": "block"}
    assert caught.value.details["request_id"] == "req-1"
    assert caught.value.faults[0].pointer == "/a"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<html>Bad Gateway</html>"),
        httpx.Response(404, text="not here"),
        httpx.Response(302, headers={"Location": "https://login.test"}),
        httpx.Response(200, text="<html>Welcome</html>"),
        httpx.Response(200, json={"something": "else"}),
        httpx.Response(200, json=[1, 2]),
        httpx.Response(200, content=b"\xff\xfe"),
        httpx.Response(500, json={"message": "another program"}),
    ],
    ids=lambda answer: f"{answer.status_code} {answer.content[:12]!r}",
)
def test_what_no_control_plane_answers_is_unreachable(answer: httpx.Response) -> None:
    with plane(lambda request: answer) as client, pytest.raises(ServerUnreachable, match=r"registry\.test"):
        client.get_skill("a.b")


@pytest.mark.parametrize("failure", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_network_faults_are_unreachable_with_what_to_do(failure: type[Exception]) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise failure("it is gone")

    with plane(fail) as client, pytest.raises(ServerUnreachable, match="it is gone") as caught:
        client.list_skills()
    assert "govctl serve" in caught.value.fix


def test_a_port_where_nobody_listens_is_unreachable() -> None:
    with ControlPlane("http://127.0.0.1:9", timeout=2) as client, pytest.raises(ServerUnreachable):
        client.ready()


@pytest.mark.parametrize("address", ["", "localhost:8470", "ftp://x", "file:///etc/passwd"])
def test_an_address_that_is_none_is_a_usage_error(address: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        ControlPlane(address)


@pytest.mark.parametrize("token", ["a\nb", "tökén", "a\r\nX-Evil: 1"])
def test_a_token_no_header_can_carry_is_a_usage_error_that_does_not_repeat_it(token: str) -> None:
    with pytest.raises(UsageError) as caught:
        ControlPlane("http://registry.test", token)
    assert token not in caught.value.message + caught.value.fix


def test_names_cannot_leave_their_place_in_the_path() -> None:
    seen: list[bytes] = []

    def note(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(404, content=write_json(problem("not-found", 404)))

    with plane(note) as client:
        for name in ("../../tokens", "a/b", "a?x=1", "a#b", "a b"):
            with pytest.raises(Exception, match=r"D\."):
                client.get_skill(name)
    assert all(path.startswith(b"/v1/skills/") and path.count(b"/") == 3 and b"?" not in path for path in seen)


def test_the_token_is_sent_and_the_body_keeps_every_digit() -> None:
    seen: list[httpx.Request] = []

    def note(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(409, content=write_json(problem("version-exists")))

    document = {"name": "a.b", "version": "1.0.0", "big": 10**400, "exact": Decimal("0.10000000000000000555")}
    with plane(note) as client, pytest.raises(Exception, match=r"D\."):
        client.put_version(document, reason="why", fail_on="risky", transitive=False)
    assert seen[0].headers["authorization"] == "Bearer govctl_x"
    assert str(10**400).encode() in seen[0].content
    assert b"0.10000000000000000555" in seen[0].content
    assert dict(seen[0].url.params) == {"reason": "why", "fail_on": "risky", "transitive": "false"}


def test_pages_are_followed_to_the_end() -> None:
    def card(name: str) -> dict[str, Any]:
        return {
            "name": name, "namespace": "a", "description": "d", "category": "tool", "state": "active",
            "versions": 1, "updated_at": "2026-11-30T00:00:00+00:00",
        }  # fmt: skip

    def answer(request: httpx.Request) -> httpx.Response:
        cursor = request.url.params.get("cursor")
        number = int(cursor or 0)
        return httpx.Response(
            200, json={"items": [card(f"a.s{number}")], "next": str(number + 1) if number < 3 else None}
        )

    with plane(answer) as client:
        assert [one.name for one in client.search("s")] == ["a.s0", "a.s1", "a.s2", "a.s3"]


def test_fields_of_a_newer_server_do_no_harm() -> None:
    body = {"status": "ok", "checks": {}, "of_tomorrow": 1}
    with plane(lambda request: httpx.Response(200, content=json.dumps(body))) as client:
        assert client.ready().status == "ok"
