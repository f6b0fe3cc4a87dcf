"""Events over HTTP: what is told to whom, in which order, and that nobody misses any."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from registry import Manifest, Service

from governance.control.audit.service import AUDIT_ACTIONS
from governance.control.events.types import SILENT
from governance.errors import TooManyRequests, UsageError
from governance.wire import Event, Grant, Role


def test_what_is_silent_is_an_action_there_is() -> None:
    assert AUDIT_ACTIONS.keys() >= SILENT


def test_a_token_hears_of_its_own_namespaces_alone(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest())
    service.admin.put_version(manifest("weather_maps.route"))
    service.admin.put_version(manifest("weather.deep.route"))
    with service.client(Role.VIEWER, "weather") as viewer:
        heard = [event.subject for event in viewer.events(after="0-0")]
    assert heard == ["weather.current@1.0.0", "weather.deep.route@1.0.0"]
    with service.client(Role.VIEWER) as all_seeing:
        deep = all_seeing.events(after="0-0", namespace="weather.deep")
        assert [event.subject for event in deep] == ["weather.deep.route@1.0.0"]


def test_an_event_tells_who_what_and_when_and_no_refusal_is_one(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest(), reason="first of all")
    with service.client(Role.VIEWER) as viewer, pytest.raises(Exception, match="may not publish"):
        viewer.put_version(manifest(version="1.1.0"))
    [event] = service.admin.events(after="0-0")
    assert (event.type, event.namespace, event.reason) == ("skill.publish", "weather", "first of all")
    assert event.data["state"] == "active"
    assert list(service.admin.events(after=event.id)) == []
    assert list(service.admin.events(after="0-0", types=["policy.set"])) == []


def test_places_and_types_that_are_none_are_refused(service: Service) -> None:
    with pytest.raises(UsageError, match="no event"):
        list(service.admin.events(after="yesterday"))
    with pytest.raises(UsageError, match="token\\.create"):
        list(service.admin.events(after="0-0", types=["token.create"]))
    with service.http(None) as http:
        assert http.get("/v1/events").status_code == 401


@contextmanager
def listening(service: Service) -> Iterator[list[Event]]:
    heard: list[Event] = []
    begun = threading.Event()

    def listen() -> None:
        with service.http(service.serving.token) as http, http.stream("GET", "/v1/events") as answer:
            for line in answer.iter_lines():
                begun.set()
                if line.startswith("data: "):
                    heard.append(Event.model_validate_json(line[6:]))
                    if heard[-1].subject.startswith("last."):
                        return

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert begun.wait(20)
    yield heard
    thread.join(30)
    assert not thread.is_alive()


def test_nothing_is_missed_or_told_twice_while_twenty_publish_at_once(service: Service, manifest: Manifest) -> None:
    names = [f"crowd.tool_{number}" for number in range(20)]
    with listening(service) as heard:
        with ThreadPoolExecutor(20) as pool:
            for name in names:
                pool.submit(service.admin.put_version, manifest(name))
        service.admin.put_version(manifest("last.one"))
    assert sorted(event.subject for event in heard[:-1]) == sorted(f"{name}@1.0.0" for name in names)
    assert len({event.id for event in heard}) == 21


def test_a_stream_says_from_the_start_where_to_go_on(service: Service, manifest: Manifest) -> None:
    with service.http(service.serving.token) as http, http.stream("GET", "/v1/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        place = next(lines).removeprefix("id: ")
    service.admin.put_version(manifest())
    assert [event.subject for event in service.admin.events(after=place)] == ["weather.current@1.0.0"]


def test_an_entry_of_a_transaction_still_open_holds_the_stream_back(service: Service, manifest: Manifest) -> None:
    """What began earlier and commits later would else appear behind a reader."""
    with psycopg.connect(service.database_url) as slow:
        slow.execute("SELECT pg_current_xact_id()")
        service.admin.put_version(manifest())
        assert list(service.admin.events(after="0-0")) == []
        slow.rollback()
    assert len(list(service.admin.events(after="0-0"))) == 1


def test_a_stream_ends_when_its_token_is_revoked(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.control.events.feed.HEARTBEAT_SEC", 0.2)
    created = service.admin.create_token("listener", [{"role": "viewer", "namespace": "*"}])  # type: ignore[list-item]
    with service.http(created.token) as http, http.stream("GET", "/v1/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        service.admin.revoke_token(created.id)
        assert [line for line in lines if line.startswith("data")] == []


def test_a_busy_stream_ends_too_when_its_token_is_revoked(
    service: Service, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("governance.control.events.feed.HEARTBEAT_SEC", 2.0)
    monkeypatch.setattr("governance.control.events.feed.POLL_SEC", 0.05)
    created = service.admin.create_token("listener", [Grant(role=Role.VIEWER, namespace="*")])
    over = threading.Event()

    def keep_busy() -> None:
        for number in range(600):
            if over.is_set():
                return
            service.admin.put_version(manifest("busy.tool", version=f"1.0.{number}"))

    with (
        ThreadPoolExecutor(1) as pool,
        service.http(created.token) as http,
        http.stream("GET", "/v1/events") as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        busy = pool.submit(keep_busy)
        service.admin.revoke_token(created.id)
        heard = sum(line.startswith("data") for line in lines)
        over.set()
        busy.result()
    assert heard < 600


def test_a_stream_of_which_nothing_is_theirs_stays_warm_and_goes_along(
    service: Service, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("governance.control.events.feed.HEARTBEAT_SEC", 0.3)
    with (
        service.http(service.token(Role.VIEWER, "weather")) as http,
        http.stream("GET", "/v1/events?after=0-0") as answer,
    ):
        service.admin.put_version(manifest("maps.route"))
        places = (line for line in answer.iter_lines() if line.startswith("id: "))
        while next(places) == "id: 0-0":
            pass


def test_streams_are_bounded_and_end_with_the_service(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.serving.app.state.feed, "_most", 1)
    with service.http(service.serving.token) as http, http.stream("GET", "/v1/events") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 2000"
        with pytest.raises(TooManyRequests):
            list(service.admin.events(after="0-0"))
        # the fixture stops the service while this stream is open: it must not have to wait for it


def test_a_database_that_was_restored_into_another_server_tells_what_happens_there(
    service: Service, manifest: Manifest
) -> None:
    """Transactions are counted anew there: entries of the old life lie ahead of all that is to come."""
    service.admin.put_version(manifest("weather.before"))
    with psycopg.connect(service.serving.app.state.settings.database_owner_url) as connection:
        connection.execute(
            "INSERT INTO audit_inbox (namespace, at, action, outcome, actor, subject, request_id, entry, xact)"
            " SELECT namespace, at, action, outcome, actor, subject, request_id, entry, 900000000000"
            " FROM audit_inbox WHERE action = 'skill.publish'"
        )
    with listening(service) as heard:
        service.admin.put_version(manifest("last.one"))
    assert [event.subject for event in heard] == ["last.one@1.0.0"]
    known = [event.subject for event in service.admin.events(after="900000000000-1")]
    assert known == ["weather.before@1.0.0", "last.one@1.0.0"]
