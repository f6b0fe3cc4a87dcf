"""Webhooks against a real receiver: signed, retried, once each, and never to where only this machine can."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psycopg
import pytest
from conftest import running_service
from registry import Manifest, Service

from governance.control.events import delivering
from governance.control.events.delivering import make_deliveries, prune_deliveries, send_deliveries
from governance.control.jobs import Tools
from governance.control.outbound import Unreachable, check_url, fetched, located
from governance.control.settings import Settings
from governance.errors import Forbidden, InvalidRequest, NotFound, SecretShownOnce, UsageError
from governance.wire import Role


@dataclass
class Receiver:
    """What came, and what is answered."""

    url: str = ""
    came: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    """Statuses to answer with, one a request; then 204."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    hold: threading.Event | None = None
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            kept.arrived.release()
            if kept.hold is not None:
                kept.hold.wait(20)
            try:
                self.send_response(kept.answers.pop(0) if kept.answers else 204)
                for name, value in kept.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(kept.body)
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.url = f"http://127.0.0.1:{server.server_port}/hooks?team=a"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield kept
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture
def hooked(settings: Settings) -> Iterator[Service]:
    """A service whose jobs the test runs by hand, and that may send to this machine."""
    with running_service(replace(settings, webhook_private=True)) as found:
        yield found


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.control.app.JOBS", ())


@dataclass
class Clock:
    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def tools(service: Service, clock: Clock | None = None) -> Tools:
    state = service.serving.app.state
    return Tools(database=state.database, settings=state.settings, telemetry=state.telemetry, now=clock or Clock())


def deliver(service: Service) -> None:
    make_deliveries(tools(service))
    send_deliveries(tools(service))


def make_due(service: Service) -> None:
    """As if the wait between attempts had passed."""
    with psycopg.connect(service.database_url) as connection:
        connection.execute("UPDATE webhook_delivery SET next_at = now() WHERE state = 'waiting'")


def is_signed(headers: dict[str, str], body: bytes, secret: str) -> bool:
    """As a receiver checks it, from the specification alone."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return wanted in headers["webhook-signature"].split()


# ── who may ──


def test_only_who_administers_a_namespace_has_others_told_of_it(hooked: Service, receiver: Receiver) -> None:
    for role in (Role.VIEWER, Role.PUBLISHER, Role.APPROVER, Role.OPERATOR, Role.AUDITOR):
        with hooked.client(role) as client, pytest.raises(Forbidden):
            client.create_webhook(receiver.url)
    assert {one["outcome"] for one in hooked.entries("webhook.create")} == {"refused"}
    made = hooked.admin.create_webhook(receiver.url, namespace="weather")
    with hooked.client(Role.ADMIN, "maps") as stranger:
        assert stranger.webhooks() == []
        for act in (stranger.remove_webhook, stranger.rotate_webhook, stranger.ping_webhook, stranger.enable_webhook):
            with pytest.raises(NotFound):
                act(made.id)
        with pytest.raises(NotFound):
            list(stranger.deliveries(made.id))
    with hooked.client(Role.ADMIN, "weather") as owner:
        assert [one.id for one in owner.webhooks()] == [made.id]
    assert made.secret not in json.dumps(hooked.entries())


def test_a_secret_is_shown_once(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url, key="one")
    with pytest.raises(SecretShownOnce, match=made.id):
        hooked.admin.create_webhook(receiver.url, key="one")
    assert len(hooked.admin.webhooks()) == 1


def test_types_there_are_not_are_refused(hooked: Service, receiver: Receiver) -> None:
    with pytest.raises(UsageError, match=r"skill\.vanish"):
        hooked.admin.create_webhook(receiver.url, types=["skill.vanish"])


# ── what arrives ──


def test_what_changes_arrives_signed_and_once(hooked: Service, manifest: Manifest, receiver: Receiver) -> None:
    hooked.admin.put_version(manifest("weather.before"))
    made = hooked.admin.create_webhook(receiver.url, namespace="weather", types=["skill.publish"])
    hooked.admin.put_version(manifest())
    hooked.admin.put_version(manifest("maps.route"))
    deliver(hooked)
    deliver(hooked)
    [(headers, body)] = receiver.came
    event = json.loads(body)
    assert (event["type"], event["subject"]) == ("skill.publish", "weather.current@1.0.0")
    assert is_signed(headers, body, made.secret)
    assert not is_signed(headers, body + b" ", made.secret)
    assert headers["host"] == receiver.url.split("/")[2]
    [delivery] = hooked.admin.deliveries(made.id)
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("delivered", 1, 204)
    assert headers["webhook-id"] == delivery.id


def test_two_replicas_and_many_changes_deliver_each_once(
    hooked: Service, manifest: Manifest, receiver: Receiver
) -> None:
    hooked.admin.create_webhook(receiver.url)
    names = [f"crowd.tool_{number}" for number in range(30)]
    stop = threading.Event()

    def replica() -> None:
        while not stop.is_set():
            deliver(hooked)

    with ThreadPoolExecutor(8) as pool:
        replicas = [pool.submit(replica) for _ in range(3)]
        for name in names:
            hooked.admin.put_version(manifest(name))
        for _ in names:
            assert receiver.arrived.acquire(timeout=30)
        stop.set()
        for one in replicas:
            one.result()
    subjects = [json.loads(body)["subject"] for _, body in receiver.came]
    assert sorted(subjects) == sorted(f"{name}@1.0.0" for name in names)


def test_a_ping_arrives_and_a_delivery_can_be_sent_again_under_its_id(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    pinged = hooked.admin.ping_webhook(made.id)
    deliver(hooked)
    hooked.admin.redeliver(made.id, pinged.id)
    deliver(hooked)
    assert [headers["webhook-id"] for headers, _ in receiver.came] == [pinged.id, pinged.id]
    with pytest.raises(NotFound):
        hooked.admin.redeliver(made.id, "msg_0")


def test_after_a_rotation_both_secrets_verify_for_a_day(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    rotated = hooked.admin.rotate_webhook(made.id)
    hooked.admin.ping_webhook(made.id)
    deliver(hooked)
    hooked.admin.ping_webhook(made.id)
    send_deliveries(tools(hooked, Clock(ahead=timedelta(days=2))))
    (during, body), (later, body_later) = receiver.came
    assert is_signed(during, body, made.secret)
    assert is_signed(during, body, rotated.secret)
    assert is_signed(later, body_later, rotated.secret)
    assert not is_signed(later, body_later, made.secret)


# ── what fails ──


def test_a_receiver_that_is_down_gets_it_later_under_the_same_id(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    receiver.answers = [500, 503]
    hooked.admin.ping_webhook(made.id)
    for _ in range(3):
        make_due(hooked)
        send_deliveries(tools(hooked))
    assert len({headers["webhook-id"] for headers, _ in receiver.came}) == 1
    [delivery] = hooked.admin.deliveries(made.id)
    assert (delivery.state, delivery.attempts) == ("delivered", 3)


def test_a_receiver_says_how_long_to_wait(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    receiver.answers, receiver.headers = [503], {"Retry-After": "5000"}
    hooked.admin.ping_webhook(made.id)
    deliver(hooked)
    [delivery] = hooked.admin.deliveries(made.id)
    assert delivery.next_at is not None
    assert delivery.next_at > datetime.now(UTC) + timedelta(seconds=4_000)


def test_redirects_are_not_followed_and_answers_without_end_are_not_read(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    receiver.answers, receiver.headers = [302], {"Location": receiver.url}
    receiver.body = b"x" * 3_000_000
    hooked.admin.ping_webhook(made.id)
    deliver(hooked)
    assert len(receiver.came) == 1
    [delivery] = hooked.admin.deliveries(made.id)
    assert delivery.last_error == "a redirect, which is not followed"


def test_a_webhook_that_is_gone_is_switched_off_and_can_be_switched_on(
    hooked: Service, manifest: Manifest, receiver: Receiver
) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    receiver.answers = [410]
    hooked.admin.put_version(manifest())
    deliver(hooked)
    [webhook] = hooked.admin.webhooks()
    assert webhook.disabled == "it answered 410: gone"
    hooked.admin.put_version(manifest(version="1.0.1", title="New"))
    deliver(hooked)
    assert len(receiver.came) == 1
    hooked.admin.enable_webhook(made.id)
    deliver(hooked)
    assert json.loads(receiver.came[1][1])["subject"] == "weather.current@1.0.1"
    assert [one["actor"]["name"] for one in hooked.entries("webhook.disable")] == ["system"]


def test_a_webhook_that_takes_nothing_to_the_end_is_switched_off(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    receiver.answers = [500] * (len(delivering.RETRY_SEC) + 1)
    hooked.admin.ping_webhook(made.id)
    for _ in range(len(delivering.RETRY_SEC) + 1):
        make_due(hooked)
        send_deliveries(tools(hooked))
    [delivery] = hooked.admin.deliveries(made.id)
    assert delivery.state == "given_up"
    [webhook] = hooked.admin.webhooks()
    assert webhook.disabled is not None
    assert webhook.disabled.startswith("it took nothing since")


def test_a_replica_that_dies_after_sending_leaves_it_to_another_under_the_same_id(
    hooked: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    hooked.admin.ping_webhook(made.id)

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(delivering, "_record", dies)
        send_deliveries(tools(hooked))
    send_deliveries(tools(hooked))
    assert len(receiver.came) == 1, "the lease still holds"
    make_due(hooked)
    send_deliveries(tools(hooked))
    assert len({headers["webhook-id"] for headers, _ in receiver.came}) == 1
    [delivery] = hooked.admin.deliveries(made.id)
    assert (delivery.state, delivery.attempts) == ("delivered", 2)


def test_a_replica_that_dies_while_it_makes_deliveries_makes_none(
    hooked: Service, manifest: Manifest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    hooked.admin.put_version(manifest())

    def dies(*_: Any) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(delivering, "write_json", dies)
        make_deliveries(tools(hooked))
    assert list(hooked.admin.deliveries(made.id)) == []
    deliver(hooked)
    assert len(receiver.came) == 1


def test_an_outcome_that_comes_after_the_lease_does_not_overwrite_a_later_one(
    hooked: Service, receiver: Receiver
) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    hooked.admin.ping_webhook(made.id)
    receiver.hold = threading.Event()
    receiver.answers = [500]
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(send_deliveries, tools(hooked))
        assert receiver.arrived.acquire(timeout=20)
        hold, receiver.hold, receiver.answers = receiver.hold, None, []
        make_due(hooked)
        send_deliveries(tools(hooked))
        receiver.answers = [500]
        hold.set()
        slow.result()
    [delivery] = hooked.admin.deliveries(made.id)
    assert (delivery.state, delivery.attempts) == ("delivered", 2)


def test_what_is_under_way_when_it_is_asked_for_again_does_not_pass_for_the_new_attempt(
    hooked: Service, receiver: Receiver
) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    pinged = hooked.admin.ping_webhook(made.id)
    receiver.hold = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(send_deliveries, tools(hooked))
        assert receiver.arrived.acquire(timeout=20)
        hold, receiver.hold, receiver.answers = receiver.hold, None, [500]
        hooked.admin.redeliver(made.id, pinged.id)
        send_deliveries(tools(hooked))
        hold.set()
        slow.result()
    [delivery] = hooked.admin.deliveries(made.id)
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("waiting", 2, 500)


def test_a_webhook_of_a_restored_database_is_told_of_what_happens_from_then_on(
    hooked: Service, manifest: Manifest, receiver: Receiver
) -> None:
    hooked.admin.create_webhook(receiver.url, types=["skill.publish"])
    with psycopg.connect(hooked.database_url) as connection:
        connection.execute("UPDATE webhook SET position_xact = 900000000000, position_id = 7")
    hooked.admin.put_version(manifest())
    deliver(hooked)
    deliver(hooked)
    assert [json.loads(body)["subject"] for _, body in receiver.came] == ["weather.current@1.0.0"]


def test_deliveries_of_a_month_ago_are_forgotten(hooked: Service, receiver: Receiver) -> None:
    made = hooked.admin.create_webhook(receiver.url)
    hooked.admin.ping_webhook(made.id)
    deliver(hooked)
    hooked.admin.ping_webhook(made.id)
    owner = hooked.serving.app.state.settings.database_owner_url
    with psycopg.connect(owner) as connection:
        connection.execute("UPDATE webhook_delivery SET created_at = now() - interval '31 days'")
    assert prune_deliveries(tools(hooked)) == 1
    assert [one.state for one in hooked.admin.deliveries(made.id)] == ["waiting"]


# ── where it may go ──


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://10.1.2.3/hook",
        "https://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/hook",
        "https://[64:ff9b::a00:1]/hook",
        "https://[::127.0.0.1]/hook",
        "https://user:secret@example.com/hook",
        "https://example.com/hook#part",
        "https://example.com:0/hook",
        "https://example.com:99999/hook",
        "ftp://example.com/hook",
        "file:///etc/passwd",
        "https:///hook",
        "https://exa mple.com",
        "https://example.com/\r\nX: y",
        "hook",
    ],
)
def test_an_address_inside_or_none_at_all_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check_url(url, private=False, setting="GOVCTL_WEBHOOK_PRIVATE")
    assert refused.value.faults[0].pointer == "/url"
    assert "GOVCTL_WEBHOOK_PRIVATE=true" in (refused.value.fix or "")


Look = Callable[..., list[Any]]


@contextmanager
def names_lead_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> Iterator[None]:
    with monkeypatch.context() as patched:
        found = [(0, 0, 0, "", (address, 443)) for address in addresses]
        patched.setattr("socket.getaddrinfo", lambda *_, **__: found)
        yield


@pytest.mark.parametrize(
    "inside", ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:10.0.0.1",
               "100.64.0.1", "0.0.0.0", "224.0.0.1", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::7f00:1",
               "64:ff9b:1::1", "2002:a00:1::1", "fec0::1", "ff0e::1"]
)  # fmt: skip
def test_a_name_that_leads_inside_is_not_called_though_another_address_of_it_lies_outside(
    inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with names_lead_to(monkeypatch, "93.184.215.14", inside), pytest.raises(Unreachable, match="inside"):
        located("https://hooks.example.com/x", private=False)


@pytest.mark.parametrize("outside", ["93.184.215.14", "2606:4700::1", "64:ff9b::5db8:d70e", "::ffff:93.184.215.14"])
def test_a_name_that_leads_outside_is_called(outside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with names_lead_to(monkeypatch, outside):
        assert located("https://hooks.example.com/x", private=False).server_name == "hooks.example.com"


def test_who_answers_a_byte_at_a_time_keeps_nobody_for_longer_than_a_call_may_take() -> None:
    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for number in range(50):
                connection.sendall(b"x-%d: y\r\n" % number)
                threading.Event().wait(0.1)
            connection.sendall(b"content-length: 2\r\n\r\n{}")

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        dripped = pool.submit(drip, listener)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(Unreachable, match="does not answer"):
            fetched(url, private=True, most_bytes=100, timeout_sec=0.5)
        dripped.result()


def test_what_is_called_is_the_address_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with names_lead_to(monkeypatch, "93.184.215.14"):
        found = located("https://hooks.example.com:8443/x?y=1", private=False)
    assert (found.url, found.host, found.server_name) == (
        "https://93.184.215.14:8443/x?y=1", "hooks.example.com:8443", "hooks.example.com",
    )  # fmt: skip


def test_a_service_that_is_not_told_otherwise_sends_nothing_to_this_machine(
    service: Service, receiver: Receiver
) -> None:
    with pytest.raises(InvalidRequest, match="not https"):
        service.admin.create_webhook(receiver.url)
