"""Cursors of every list there is: what no page of it gave out is refused, and never a failure of the service."""

from __future__ import annotations

import pytest
from registry import Manifest, Service

from governance.control.edge import write_cursor
from governance.wire import ConsumerRequest, NeedRequest

POSITIONS = (
    "", "x", "1", "-1", "1 2", "1 2 3", "9" * 40, "1.0.0", "2026-13-01 msg_1", "2026-01-01", "2026-01-01T00:00:00 x",
    "0001-01-01T00:00:00+23:59 x", "9999-12-31T23:59:59-23:59 x", "-infinity x", "infinity a b", "00ff", "\u221e",
    "\u0663", "\ud7ff", "weather.current zz", "zz" * 200,
)  # fmt: skip
RAW = ("%", "====", "a", "/+", "\ufffd", write_cursor("a\x00b"))
NAMES = {"name": "weather.current", "environment": "test", "scope": "global"}


@pytest.fixture
def listed(service: Service, manifest: Manifest) -> Service:
    service.admin.put_version(manifest())
    service.admin.put_environment("test")
    service.admin.put_deployment("test", "weather.current", "1.0.0")
    service.admin.put_consumer("agents/one", ConsumerRequest(needs=[NeedRequest(skill="weather.current")]))
    return service


def test_a_cursor_that_was_not_given_out_fails_no_list(listed: Service) -> None:
    hook = listed.admin.create_webhook("https://hooks.example.com/")
    with listed.http(listed.serving.token) as http:
        paths = http.get("/openapi.json").json()["paths"]
        lists = [
            path
            for path, told in paths.items()
            if any(one["name"] == "cursor" for one in told.get("get", {}).get("parameters", ()))
        ]
        assert "/v1/webhooks/{webhook}/deliveries" in lists
        for path in lists:
            asked = path.format(**NAMES, webhook=hook.id)
            for cursor in (*map(write_cursor, POSITIONS), *RAW):
                answer = http.get(asked, params={"cursor": cursor})
                assert answer.status_code in (200, 400, 404, 422), (asked, cursor, answer.text)
