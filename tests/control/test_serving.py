"""The service as a process: its address, its token file, its end, and a database that dies under it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control.auth.service import new_secret
from governance.control.serving import serving
from governance.control.settings import Settings
from governance.errors import ServiceError, UsageError


def test_the_admin_token_is_in_a_file_for_its_owner_alone(service: Service) -> None:
    path = service.serving.app.state.settings.home / "server.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {"address": service.serving.address, "token": service.serving.token}
    assert service.serving.token not in repr(service.serving)


def test_the_token_outlives_the_process_and_a_lost_file_gets_a_new_one(settings: Settings) -> None:
    with serving(settings) as first:
        kept = first.token
    with serving(settings) as second:
        assert second.token == kept
    path = settings.home / "server.json"
    for damage in (b"", b"{", b"[]", b'{"token": 7}', b'{"token": "govctl_guess"}', b"\xff"):
        path.write_bytes(damage)
        with serving(settings) as again, ControlPlane(again.address, again.token) as client:
            assert client.ready().status == "ok"
            assert again.token not in {kept, "govctl_guess"}


def test_of_two_on_one_home_the_first_stays_the_one_that_is_found(settings: Settings) -> None:
    path = settings.home / "server.json"
    with serving(settings) as first:
        with serving(settings) as second:
            assert first.address != second.address
            assert second.token == first.token
            assert json.loads(path.read_text())["address"] == first.address
        assert json.loads(path.read_text())["address"] == first.address
    with serving(settings) as third:
        assert json.loads(path.read_text())["address"] == third.address


def test_replicas_that_are_given_the_same_secret_share_one_token(settings: Settings, tmp_path: Path) -> None:
    given = new_secret()
    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()
        (home / "server.json").write_text(json.dumps({"token": given}))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda home: token_of(replace(settings, home=home)), homes))
    assert found == [given, given]
    with serving(replace(settings, home=homes[0])) as running, ControlPlane(running.address, given) as client:
        (only,) = client.tokens()
        client.revoke_token(only.id)
    assert token_of(replace(settings, home=homes[1])) != given  # what was revoked is not taken again


def token_of(settings: Settings) -> str:
    with serving(settings) as running:
        return running.token


def test_a_taken_port_is_told_before_anything_is_started(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = replace(settings, port=other.getsockname()[1])
        with pytest.raises(UsageError, match="another program") as caught, serving(taken):
            pass
    assert "--port 0" in caught.value.fix


def test_a_home_that_cannot_be_written_is_told(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match=r"server\.json cannot be written"),
        serving(replace(settings, home=tmp_path / "file" / "home")),
    ):
        pass


def test_an_address_of_nobodys_is_told(settings: Settings) -> None:
    for host in ("192.0.2.1", "no.such.host.invalid"):
        with pytest.raises(UsageError), serving(replace(settings, host=host)):
            pass


def test_the_process_says_where_it_serves_and_ends_cleanly_on_a_signal(settings: Settings, tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with serving_process(settings, tmp_path / "home") as (process, _):
            process.send_signal(number)
            rest, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
        assert rest.endswith("the end\n")
        assert all(json.loads(line)["level"] == "info" for line in errors.splitlines()), errors


@contextmanager
def serving_process(settings: Settings, home: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, ready, and its address. It prints `the end` when serving ended well."""
    code = (
        "import os; from governance.control.serving import serve; from governance.control.settings import Settings;"
        "serve(Settings.from_environment(os.environ)); print('the end')"
    )
    given = {
        **os.environ,
        "DATABASE_URL": settings.database_url or "",
        "DATABASE_OWNER_URL": settings.database_owner_url or "",
        "GOVCTL_HOME": str(home),
        "GOVCTL_PORT": "0",
        **environment,
    }
    with subprocess.Popen(
        [sys.executable, "-c", code], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        address = json.loads((home / "server.json").read_text())["address"]
        assert address in first
        try:
            wait_until_ready(address)
            yield process, address
        finally:
            if process.returncode is None:
                process.kill()


def test_a_replica_that_is_to_stop_says_so_and_serves_on_until_nobody_sends_it_anything(
    settings: Settings, tmp_path: Path
) -> None:
    with serving_process(settings, tmp_path / "home", GOVCTL_DRAIN_SEC="600") as (process, address):
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: is_draining(address))
        assert httpx.get(f"{address}/livez").status_code == 200
        process.send_signal(signal.SIGTERM)  # whoever cannot wait says it twice
        rest, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert rest.endswith("the end\n")


def test_a_drained_replica_ends_by_itself(settings: Settings, tmp_path: Path) -> None:
    with serving_process(settings, tmp_path / "home", GOVCTL_DRAIN_SEC="1") as (process, _):
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert rest.endswith("the end\n")


def test_a_publish_that_is_under_way_is_finished_before_the_process_ends(
    settings: Settings, tmp_path: Path, owner_url: str, manifest: Manifest
) -> None:
    with ThreadPoolExecutor(1) as pool, serving_process(settings, tmp_path / "home") as (process, address):
        token = json.loads((tmp_path / "home" / "server.json").read_text())["token"]
        with psycopg.connect(owner_url) as owner, ControlPlane(address, token) as client:
            owner.execute("LOCK TABLE skill_version IN ACCESS EXCLUSIVE MODE")
            publish = pool.submit(client.put_version, manifest())
            wait_for(lambda: is_waiting_for_a_lock(owner_url))
            process.send_signal(signal.SIGTERM)
            wait_for(lambda: is_closed(address))
            owner.rollback()
            assert publish.result(timeout=30).created
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors


def is_waiting_for_a_lock(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'skill_version'::regclass"
        ).fetchone()
    return row is not None and row[0] > 0


def is_closed(address: str) -> bool:
    try:
        httpx.get(f"{address}/livez")
    except httpx.ConnectError:
        return True
    return False


def is_draining(address: str) -> bool:
    try:
        with ControlPlane(address) as client:
            client.ready()
    except ServiceError as error:
        return error.status == 503 and "about to stop" in error.message
    return False


def wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            with ControlPlane(address) as client:
                client.ready()
                return
        except ServiceError:
            time.sleep(0.02)
    raise TimeoutError(address)


def test_a_database_that_stands_at_another_revision_is_not_ready(service: Service, owner_url: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(ServiceError, match="revision 0001") as caught:
        service.admin.ready()
    assert caught.value.fix == "Run `govctl migrate`."
    with psycopg.connect(owner_url) as owner:
        owner.execute("DROP TABLE alembic_version")
    with pytest.raises(ServiceError, match="revision None"):
        service.admin.ready()


def test_connections_that_were_cut_are_replaced_and_the_same_request_succeeds(
    service: Service, manifest: Manifest, server: object, database_name: str
) -> None:
    service.admin.put_version(manifest())
    for attempt in range(3):
        cut_all_connections(server, database_name)
        version = f"1.{attempt + 1}.0"
        publish_until_it_succeeds(service.admin, manifest(version=version))
        assert service.admin.get_version("weather.current", version).version == version


def cut_all_connections(server: object, database: str) -> None:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:  # type: ignore[attr-defined]
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database,))


def publish_until_it_succeeds(client: ControlPlane, document: dict[str, object]) -> int:
    """Send the same publish until it is acknowledged; how many times it was refused as unavailable."""
    deadline = time.monotonic() + 60
    refused = 0
    while True:
        try:
            client.put_version(document)
            return refused
        except ServiceError as error:
            refused += 1
            if error.status != 503 or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_a_database_killed_while_many_publish_leaves_nothing_half_written(
    short_home: Path, tmp_path: Path, manifest: Manifest
) -> None:
    """Every acknowledged publish is whole: version, state, card and entry; every other one can be repeated."""
    settings = Settings(home=short_home, port=0)
    acknowledged: list[tuple[str, str]] = []
    stop = threading.Event()

    def publish(number: int) -> None:
        with ControlPlane(running.address, running.token) as client:
            minor = 0
            while not stop.is_set():
                document = manifest(f"crash.s{number}", f"1.{minor}.0")
                try:
                    client.put_version(document)
                except ServiceError:
                    time.sleep(0.02)
                    continue
                acknowledged.append((f"crash.s{number}", f"1.{minor}.0"))
                minor += 1

    with serving(settings) as running:
        threads = [threading.Thread(target=publish, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        url = running.app.state.settings.database_url
        for _ in range(2):
            count = len(acknowledged)
            wait_for(lambda count=count: len(acknowledged) > count + 5)
            kill_postmaster(short_home)
        count = len(acknowledged)
        wait_for(lambda: len(acknowledged) > count + 5)
        stop.set()
        for thread in threads:
            thread.join(60)
        with psycopg.connect(url) as connection:
            versions = connection.execute("SELECT skill, version FROM skill_version").fetchall()
            states = connection.execute("SELECT count(*) FROM skill_version_state").fetchone()
            entries = connection.execute(
                "SELECT subject FROM audit_inbox WHERE action = 'skill.publish' AND outcome = 'done'"
            ).fetchall()
            cards = connection.execute("SELECT sum(versions) FROM skill").fetchone()
    assert set(acknowledged) <= set(versions)
    assert sorted(f"{name}@{version}" for name, version in versions) == sorted(subject for (subject,) in entries)
    assert states == cards == (len(versions),)


def wait_for(happened: object) -> None:
    deadline = time.monotonic() + 90
    while not happened():  # type: ignore[operator]
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.01)


def kill_postmaster(home: Path) -> None:
    (pid_file,) = home.rglob("postmaster.pid")
    os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGKILL)


def test_the_documentation_page_needs_nothing_from_outside(service: Service) -> None:
    with service.http(None) as http:
        page = http.get("/docs")
        assert page.status_code == 200
        sources = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert sources
        for source in sources:
            assert source.startswith("/"), source
            assert http.get(source).status_code == 200
