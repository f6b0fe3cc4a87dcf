"""One problem shape for everything that goes wrong, and hostile input that gets a clear answer in bounded time."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import httpx
import pytest
from registry import Manifest, Service

from governance.control.settings import Settings
from governance.errors import all_errors


@pytest.fixture
def service(empty_service: Service) -> Service:
    return empty_service


SHAPE = {
    "type", "title", "status", "detail", "code", "fix", "errors", "details", "request_id", "trace_id",
}  # fmt: skip
CODES = {error.code: error for error in all_errors()}


def check_problem(answer: httpx.Response) -> dict[str, Any]:
    """The answer's problem, its shape and its promises tried."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = json.loads(answer.content)
    assert set(problem) == SHAPE
    assert problem["status"] == answer.status_code
    assert problem["type"].endswith(":" + problem["code"])
    assert problem["code"] in CODES
    assert problem["detail"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["trace_id"] == answer.headers["x-trace-id"]
    for fault in problem["errors"]:
        assert set(fault) == {"pointer", "message", "code"}
        assert fault["pointer"] == "" or fault["pointer"].startswith("/")
    return problem


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not-found"),
        ("GET", "/v1/skills/", 404, "not-found"),
        ("DELETE", "/livez", 405, "method-not-allowed"),
        ("PATCH", "/v1/skills", 405, "method-not-allowed"),
        ("GET", "/v1/skills?colour=red", 400, "unknown-parameter"),
        ("GET", "/livez?x=1", 400, "unknown-parameter"),
        ("GET", "/v1/skills?limit=0", 422, "invalid-request"),
        ("GET", "/v1/skills?limit=201", 422, "invalid-request"),
        ("GET", "/v1/skills?limit=1&limit=2", 400, "usage"),
        ("GET", "/v1/skills?state=sleeping", 422, "invalid-request"),
        ("GET", "/v1/skills?cursor=%21%21", 400, "usage"),
        ("GET", "/v1/skills?q=%00", 400, "usage"),
        ("GET", "/v1/skills/Bad-Name", 422, "invalid-name"),
        ("GET", "/v1/skills/a.b%00", 422, "invalid-name"),
        ("GET", "/v1/skills/" + "a" * 5000, 422, "invalid-request"),
        ("GET", "/v1/skills/a.b/versions/1.0", 422, "invalid-version"),
        ("GET", "/v1/skills/a.b/versions?range=%3E%3E1", 422, "invalid-range"),
        ("GET", "/v1/skills/a.b/diff", 422, "invalid-request"),
        ("GET", "/v1/blobs/abc", 422, "invalid-request"),
        ("GET", "/v1/checks/1", 422, "invalid-request"),
        ("DELETE", "/v1/tokens/tok_1%00", 422, "invalid-request"),
    ],
)
def test_errors_of_routing_and_parameters_have_the_one_shape(
    service: Service, method: str, path: str, status: int, code: str
) -> None:
    with service.http(service.serving.token) as http:
        answer = http.request(method, path)
    problem = check_problem(answer)
    assert (answer.status_code, problem["code"]) == (status, code)


def test_a_method_not_allowed_names_those_that_are(service: Service) -> None:
    with service.http(None) as http:
        answer = http.delete("/livez")
    assert answer.headers["allow"] == "GET, HEAD"


def test_a_misspelt_parameter_gets_the_nearest_one_suggested(service: Service) -> None:
    with service.http(service.serving.token) as http:
        problem = check_problem(http.get("/v1/skills?onwer=me"))
    assert "'owner'" in problem["fix"]


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


HOSTILE = {
    "nothing": b"",
    "white space": b" \n ",
    "truncated": b'{"name": "a',
    "truncated list": b"[1, 2",
    "not JSON": b"name: a",
    "two documents": b"{} {}",
    "a word": b"null",
    "a number": b"1e5",
    "a list": b"[]",
    "a string": b'"x"',
    "binary": bytes(range(256)),
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
    "broken UTF-8": b'{"name": "\xff\xfe"}',
    "10,000 deep objects": deep(10_000),
    "10,000 deep lists": b"[" * 10_000 + b"]" * 10_000,
    "a million brackets": b"[" * 1_000_000,
    "duplicate keys": b'{"name": "a", "name": "b"}',
    "duplicate keys deep": b'{"x": {"k": 1, "k": 2}}',
    "duplicate keys escaped": b'{"name": "a", "n\\u0061me": "b"}',
    "NaN": b'{"timeout_sec": NaN}',
    "Infinity": b'{"timeout_sec": -Infinity}',
    "lone surrogate": b'{"name": "\\ud800"}',
    "lone surrogate key": b'{"\\udfff": 1}',
    "NUL in a name": b'{"name": "a\\u0000b"}',
    "raw NUL": b'{"name": "a\x00b"}',
    "10^400": b'{"timeout_sec": 1' + b"0" * 400 + b"}",
    "1e999999": b'{"timeout_sec": 1e999999}',
    "a number of 100,000 digits": b'{"timeout_sec": ' + b"9" * 100_000 + b"}",
    "a fraction of 100,000 digits": b'{"timeout_sec": 0.' + b"3" * 100_000 + b"}",
    "trailing comma": b'{"name": "a",}',
    "comments": b'{"name": "a" /* hello */}',
    "single quotes": b"{'name': 'a'}",
    "100,000 keys": b"{" + b",".join(b'"k%d":1' % n for n in range(100_000)) + b"}",
    "100,000 items": b'{"tags": [' + b",".join([b'"t"'] * 100_000) + b"]}",
    "a text of 5 MB": b'{"description": "' + b"x" * 5_000_000 + b'"}',
    "name of another type": b'{"name": {"a": 1}}',
    "version of another type": b'{"name": "a.b", "version": 1.0}',
    "schema of another type": b'{"name": "a.b", "version": "1.0.0", "input_schema": "object"}',
    "schema null": b'{"name": "a.b", "version": "1.0.0", "input_schema": null}',
    "prototype": b'{"__proto__": {"admin": true}, "constructor": 1}',
    "BOM then nothing": b"\xef\xbb\xbf",
    "form": b"name=a&version=1.0.0",
    "XML bomb": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaa">]><x>&a;</x>',
    "YAML bomb": b"a: &a [x, x]\nb: &b [*a, *a]\n",
    "pickle": b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
}


@pytest.mark.timeout(60)
def test_hostile_bodies_get_a_clear_refusal_quickly_everywhere(service: Service) -> None:
    targets = [
        ("PUT", "/v1/skills/a.b/versions/1.0.0"),
        ("POST", "/v1/checks"),
        ("POST", "/v1/resolve"),
        ("POST", "/v1/tokens"),
    ]
    with service.http(service.serving.token) as http:
        for label, body in HOSTILE.items():
            for method, path in targets:
                answer = http.request(method, path, content=body)
                problem = check_problem(answer)
                assert answer.status_code in {400, 413, 422}, (label, path, problem)
                assert len(answer.content) < 50_000, (label, path)
        assert http.get("/readyz").status_code == 200
        assert http.get("/v1/skills").json()["items"] == []


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", **fields}


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"surprise": 1}, "/surprise"),
        ({"input_schema": {"type": "object", "properties": {"a": {"type": "strnig"}}}}, "/input_schema"),
        ({"input_schema": {"$ref": "#/$defs/nowhere"}}, "/input_schema"),
        ({"input_schema": {"$ref": "http://169.254.169.254/latest"}}, "/input_schema"),
        ({"input_schema": {"type": "string"}}, "/input_schema"),
        ({"input_schema": schema(properties={"n": {"minimum": 10**400}})}, "/input_schema"),
        ({"input_schema": schema(properties={"n": {"const": 2**53 + 1}})}, "/input_schema"),
        ({"timeout_sec": 0}, "/timeout_sec"),
        ({"description": None}, "/description"),
        ({"name": "other.skill"}, "/name"),
        ({"version": "9.9.9"}, "/version"),
    ],
)
def test_an_invalid_contract_is_told_with_a_pointer(
    service: Service, manifest: Manifest, fields: dict[str, Any], pointer: str
) -> None:
    with service.http(service.serving.token) as http:
        answer = http.put("/v1/skills/weather.current/versions/1.0.0", json=manifest(**fields))
    problem = check_problem(answer)
    assert (answer.status_code, problem["code"]) == (422, "invalid-contract")
    assert any(fault["pointer"].startswith(pointer) for fault in problem["errors"]), problem["errors"]


def test_unknown_fields_of_a_message_are_errors_with_their_pointer(service: Service) -> None:
    with service.http(service.serving.token) as http:
        problem = check_problem(http.post("/v1/resolve", json={"questions": [{"skill": "a", "rnage": "^1"}]}))
    assert problem["errors"] == [
        {"pointer": "/questions/0/rnage", "message": "nobody knows this field", "code": "unknown-field"}
    ]


def test_a_body_past_the_limit_is_refused_whether_its_length_is_declared_or_not(service: Service) -> None:
    limit = Settings(home=service.serving.app.state.settings.home).max_body_bytes

    def chunks() -> Any:
        for _ in range(limit // 65536 + 2):
            yield b" " * 65536

    url = "/v1/skills/a.b/versions/1.0.0"
    with service.http(service.serving.token) as http:
        streamed = http.put(url, content=chunks())
        assert check_problem(streamed)["code"] == "document-too-large"
    with socket.create_connection(tuple(service.serving.address.removeprefix("http://").split(":"))) as raw:
        raw.sendall(
            f"PUT {url} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.serving.token}\r\n"
            f"Content-Length: {10**15}\r\n\r\n".encode()
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_breaks_off_changes_nothing(service: Service) -> None:
    host, port = service.serving.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(
            f"PUT /v1/skills/a.b/versions/1.0.0 HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {service.serving.token}\r\nContent-Length: 1000\r\n\r\n{{".encode()
        )
    assert service.admin.list_skills().items == []


def test_too_many_members_of_a_batch_are_refused(service: Service) -> None:
    with service.http(service.serving.token) as http:
        for path, body in (
            ("/v1/checks", {"candidates": [{}] * 1001}),
            ("/v1/resolve", {"questions": [{"skill": "a"}] * 1001}),
        ):
            assert check_problem(http.post(path, json=body))["code"] == "document-too-large"


def test_a_request_id_and_a_trace_are_kept_where_plain_and_made_where_not(service: Service) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with service.http(None) as http:
        kept = http.get("/livez", headers={"X-Request-Id": "ci-7", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        assert (kept.headers["x-request-id"], kept.headers["x-trace-id"]) == ("ci-7", trace)
        hostile = http.get("/livez", headers={"X-Request-Id": "a b;" + "x" * 500, "traceparent": "00-0-0-0"})
        assert hostile.headers["x-request-id"].startswith("req-")
        assert len(hostile.headers["x-trace-id"]) == 32
        plain = http.get("/livez")
        assert plain.headers["x-request-id"] != http.get("/livez").headers["x-request-id"]


def test_the_api_describes_every_error_with_an_example(service: Service) -> None:
    with service.http(None) as http:
        document = http.get("/openapi.json").json()
    described: set[str] = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            answers = operation["responses"]
            if path.startswith("/v1"):
                assert {"401", "400", "422", "500", "503"} <= set(answers), (method, path)
            for status, response in answers.items():
                if int(status) < 400:
                    continue
                assert set(response["content"]) == {"application/problem+json"}, (method, path, status)
                examples = response["content"]["application/problem+json"]["examples"]
                assert examples, (method, path, status)
                for code, example in examples.items():
                    assert CODES[code].status == int(status)
                    assert set(example["value"]) == SHAPE
                    described.add(code)
    expected = {
        "unauthenticated", "forbidden", "unknown-parameter", "invalid-request", "invalid-name",
        "invalid-version", "invalid-range", "invalid-contract", "malformed-document", "document-too-large",
        "not-found", "ambiguous-name", "gate-refused", "version-exists", "service-unavailable", "internal",
        "usage",
    }  # fmt: skip
    assert expected <= described


def test_the_log_has_no_secret_in_it(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    from governance.control.observing import JSONLines

    caplog.set_level("INFO", logger="governance.request")
    with service.http(service.serving.token) as http:
        http.get(f"/v1/skills/{service.serving.token}")
        http.get("/v1/skills")
    deadline = time.monotonic() + 10  # a line is written after its answer has left
    while len(written := [one for one in caplog.records if one.name == "governance.request"]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    lines = [JSONLines().format(record) for record in written]
    assert not any(service.serving.token in line for line in lines)
    last = json.loads(lines[-1])
    assert (last["method"], last["route"], last["status"]) == ("GET", "/v1/skills", 200)
    assert last["caller"].startswith("tok_")
    assert last["request_id"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.def", "abc.def"),
        ("postgresql://user:pass@host/db", "pass"),
        ("token govctl_AAAABBBBCCCCDDDD given", "AAAABBBB"),
        ("password=hunter2 rest", "hunter2"),
    ],
)
def test_redaction_takes_secrets_out_of_text(text: str, secret: str) -> None:
    from governance.control.observing import redacted

    assert secret not in redacted(text)


@pytest.mark.parametrize("path", ["/livez", "/openapi.json", "/v1/skills", "/nowhere", "/v1/skills/a.b"])
def test_head_answers_as_get_does_without_a_body(empty_service: Service, path: str) -> None:
    with empty_service.http(empty_service.serving.token) as http:
        got, head = http.get(path), http.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    if got.status_code == 200:
        assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Content-Type": "application/vnd.tools+json", "Content-Encoding": "identity"}, 200),
        ({}, 200),
    ],
)
def test_a_body_that_is_declared_as_something_else_is_refused(
    empty_service: Service, headers: dict[str, str], status: int
) -> None:
    with empty_service.http(empty_service.serving.token) as http:
        answer = http.post("/v1/checks", content=b'{"candidates": [{}]}', headers=headers)
    assert answer.status_code == status
    if status == 415:
        assert check_problem(answer)["code"] == "unsupported-media-type"


def test_whoever_holds_any_representation_is_told_that_nothing_is_new(
    empty_service: Service, manifest: Manifest
) -> None:
    check = empty_service.admin.check([manifest()])
    with empty_service.http(empty_service.serving.token) as http:
        url = f"/v1/checks/{check.id}"
        assert http.get(url, headers={"If-None-Match": "*"}).status_code == 304
        assert http.get(url, headers={"If-None-Match": '"*"'}).status_code == 200


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "a\x7f", "a\u2028b", ""])
def test_a_tokens_name_is_one_line_that_moves_no_terminal(empty_service: Service, name: str) -> None:
    with empty_service.http(empty_service.serving.token) as http:
        answer = http.post("/v1/tokens", json={"name": name, "grants": [{"role": "viewer", "namespace": "a"}]})
    assert answer.status_code == 422


def test_a_method_not_allowed_names_those_of_every_route_of_its_path(service: Service) -> None:
    with service.http(None) as http:
        answer = http.options("/v1/skills/a.b/versions/1.0.0")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, PUT")
    assert "GET and HEAD and PUT" in check_problem(answer)["detail"]


def test_an_id_that_is_none_is_told_without_the_pattern_of_ids(service: Service) -> None:
    with service.http(service.serving.token) as http:
        for path in ("/v1/webhooks/nosuch/ping", "/v1/exceptions/exc_nosuch/approval"):
            problem = http.post(path, json={}).json()
            assert problem["code"] == "invalid-request"
            assert "nothing of this kind is called so" in problem["detail"]
            assert problem["fix"].startswith("List what there is")
