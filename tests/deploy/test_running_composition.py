"""The composition, run without an engine: its commands, logins and environments, on a real Postgres of its own.

A process of it sees what its container would: no HOME, `/` as its folder, and every write refused but those to its
home and to /tmp.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from deployed import DEPLOY, PORT, ROOT, composition, manifests, stages

from governance.client import ControlPlane
from governance.control import embedded
from governance.control.auth.service import new_secret
from governance.control.migrating import current_revision, head_revision
from governance.control.roles import DATABASE_NAME, OWNER_ROLE, SERVICE_ROLE
from governance.errors import ServiceError

PASSWORDS = {
    "POSTGRES_PASSWORD": "unused: the superuser comes in by the socket",
    "OWNER_PASSWORD": "o'w:n@e/r?",
    "SERVICE_PASSWORD": 's"e%20r$vice',
    "GRAFANA_PASSWORD": "unused",
}
SERVICES = composition(PASSWORDS)["services"]
IMAGE = stages((ROOT / "Dockerfile").read_text())[-1]
INIT_SCRIPT: str = next(
    one["command"][-1]
    for document in manifests()
    if document["kind"] == "Deployment"
    for one in document["spec"]["template"]["spec"]["initContainers"]
)
HBA = f"""
local {DATABASE_NAME} {OWNER_ROLE},{SERVICE_ROLE} scram-sha-256
local all all trust
"""
READ_ONLY = """
import errno, os, sys

WRITABLE = (*os.environ["WRITABLE"].split(":"), "/dev")
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.chown"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def refuse(event, arguments):
    if not (event in CHANGES or (event == "open" and arguments[2] & WRITES)):
        return
    if isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if not any(path == folder or path.startswith(folder + "/") for folder in WRITABLE):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


sys.addaudithook(refuse)
"""


@dataclass(frozen=True, kw_only=True)
class Container:
    """What a process in a container is given. ``home`` is what stands for the image's home."""

    argv: list[str]
    environment: Mapping[str, str] = field(repr=False)
    home: Path

    def execute(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        """As `docker compose exec`, in the same environment."""
        return subprocess.run(
            list(argv) or self.argv,
            env={**self.environment, **more},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def container(name: str, server: embedded.Server, folder: Path) -> Container:
    """The service ``name`` of the composition, its database's host being ``server`` and its home in ``folder``."""
    service = SERVICES[name]
    command = service.get("command", json.loads(IMAGE.only("CMD")))
    home, guard = folder / "home", folder / "guard"
    home.mkdir(parents=True, exist_ok=True)
    guard.mkdir(exist_ok=True)
    (guard / "sitecustomize.py").write_text(READ_ONLY)
    environment = {**IMAGE.environment(), **service["environment"]}
    assert environment["GOVCTL_HOME"] == "/var/lib/govctl"
    url = urlsplit(environment["DATABASE_URL"])
    assert url.hostname == "postgres"
    assert url.username is not None
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
        "PYTHONPATH": str(guard),
        "WRITABLE": f"{home}:/tmp",
        "GOVCTL_HOME": str(home),
        "DATABASE_URL": server.url(role=url.username, database=url.path.removeprefix("/")),
        "GOVCTL_PORT": "0",
        "GOVCTL_DRAIN_SEC": "1",  # the composition's few seconds are for load balancers, which are not here
    }
    return Container(argv=[*json.loads(IMAGE.only("ENTRYPOINT")), *command], environment=environment, home=home)


@pytest.fixture(scope="module")
def postgres() -> Iterator[embedded.Server]:
    """A server as the composition's: passwords are asked for, and roles.sql has made the logins."""
    folder = Path(tempfile.mkdtemp(prefix="gov-", dir="/tmp"))
    folder.chmod(0o711)  # the server runs as another user when root starts it
    try:
        (folder / "hba.conf").write_text(HBA)
        with embedded.start(folder / "home", options={"hba_file": str(folder / "hba.conf"), "fsync": "off"}) as server:
            with psycopg.connect(server.superuser_url, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {DATABASE_NAME}")
                connection.execute(f"DROP ROLE {OWNER_ROLE}, {SERVICE_ROLE}")
            made = subprocess.run(
                [
                    server.binaries.program("psql"),
                    *("-v", "ON_ERROR_STOP=1", "--no-password", "--no-psqlrc"),
                    *("-f", str(DEPLOY / "postgres" / "roles.sql"), server.superuser_url),
                ],
                env={**os.environ, **SERVICES["postgres"]["environment"]},
                capture_output=True,
                text=True,
                check=False,
            )
            assert made.returncode == 0, made.stderr
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def may_enter(server: embedded.Server, role: str, password: str) -> bool:
    try:
        psycopg.connect(server.url(role=role, database=DATABASE_NAME), password=password).close()
    except psycopg.OperationalError:
        return False
    return True


def test_each_login_has_a_password_of_its_own_and_the_service_owns_nothing(postgres: embedded.Server) -> None:
    owner, service = PASSWORDS["OWNER_PASSWORD"], PASSWORDS["SERVICE_PASSWORD"]
    assert may_enter(postgres, OWNER_ROLE, owner)
    assert may_enter(postgres, SERVICE_ROLE, service)
    assert not may_enter(postgres, OWNER_ROLE, service)
    assert not may_enter(postgres, SERVICE_ROLE, owner)
    with psycopg.connect(postgres.superuser_url) as connection:
        rights = connection.execute(
            "SELECT bool_or(rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls) FROM pg_roles"
            " WHERE rolname IN (%s, %s)",
            [OWNER_ROLE, SERVICE_ROLE],
        ).fetchone()
        acl = connection.execute("SELECT datacl::text FROM pg_database WHERE datname = %s", [DATABASE_NAME]).fetchone()
    assert rights == (False,)
    assert acl is not None
    assert "{=" not in acl[0]
    assert ",=" not in acl[0]


@pytest.fixture(scope="module")
def migrated(postgres: embedded.Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int | str]:
    """A first start in the wrong order, then in the right one: how each process ended."""
    registry = container("registry", postgres, tmp_path_factory.mktemp("early"))
    job = container("migrate", postgres, tmp_path_factory.mktemp("migrate"))
    check = re.findall(r"until ([^;]*);", INIT_SCRIPT)[0].split()
    early, waits = registry.execute(), registry.execute(*check)
    done = job.execute()
    return {
        "registry before": early.returncode,
        "told": early.stderr,
        "check before": waits.returncode,
        "job": done.returncode,
    }


def test_the_job_migrates_once_and_whoever_comes_too_early_is_told(
    migrated: dict[str, int | str], postgres: embedded.Server
) -> None:
    assert "`govctl migrate`" in str(migrated.pop("told"))
    assert migrated == {
        "registry before": 5,
        "check before": 1,
        "job": 0,
    }
    with psycopg.connect(
        postgres.url(role=OWNER_ROLE, database=DATABASE_NAME), password=PASSWORDS["OWNER_PASSWORD"]
    ) as connection:
        assert current_revision(connection) == head_revision()
        owned = connection.execute(
            "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = %s", [SERVICE_ROLE]
        ).fetchone()
    assert owned == (0,)


@contextmanager
def started(boxes: Sequence[Container]) -> Iterator[list[tuple[subprocess.Popen[str], str]]]:
    """The containers' processes, started at once and all ready, with their addresses."""
    processes = [
        subprocess.Popen(
            box.argv, env=dict(box.environment), cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for box in boxes
    ]
    try:
        yield [(process, address_of(process, box)) for process, box in zip(processes, boxes, strict=True)]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                process.communicate()


def address_of(process: subprocess.Popen[str], box: Container) -> str:
    assert process.stdout is not None
    if not process.stdout.readline():
        raise AssertionError(process.communicate()[1])
    address = str(json.loads((box.home / "server.json").read_text())["address"])
    wait_until_ready(address)
    return address


def wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with ControlPlane(address) as client:
                client.ready()
                return
        except ServiceError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def probes() -> dict[str, list[str]]:
    image = json.loads(IMAGE.only("HEALTHCHECK").partition(" CMD ")[2])
    return {"image": image, "composition": SERVICES["registry"]["healthcheck"]["test"][1:]}


@pytest.mark.usefixtures("migrated")
def test_two_replicas_serve_as_one_and_one_of_them_may_go(postgres: embedded.Server, tmp_path: Path) -> None:
    boxes = [container("registry", postgres, tmp_path / name) for name in ("one", "two")]
    given = new_secret()
    (tmp_path / "server.json").write_text(json.dumps({"token": given}))
    script = INIT_SCRIPT.replace("/run/local-admin", str(tmp_path)).replace("/var/lib/govctl", str(boxes[0].home))
    assert boxes[0].execute("sh", "-c", script).returncode == 0  # as the Deployment's pods begin
    shutil.copy(tmp_path / "server.json", boxes[1].home)
    with started(boxes) as ((first, one), (_, two)):
        made = boxes[0].execute("govctl", "token", "create", "ci", "--grant", "publisher", "-o", "json")
        assert made.returncode == 0, made.stderr
        secret = json.loads(made.stdout)["token"]
        with ControlPlane(one, given) as client:
            assert sorted(token.name for token in client.tokens()) == ["ci", "local admin"]
        with ControlPlane(one, secret) as client:
            client.put_version(MANIFEST)
        with ControlPlane(two, secret) as client:
            assert client.get_version("weather.current", "1.0.0").version == "1.0.0"
        port = one.rpartition(":")[2]
        for name, probe in probes().items():
            command = [part.replace(PORT, port) for part in probe]
            assert boxes[0].execute(*command, http_proxy="http://127.0.0.1:9").returncode == 0, name
        first.send_signal(signal.SIGTERM)
        _, errors = first.communicate(timeout=30)
        assert first.returncode == 0, errors
        assert all(json.loads(line)["level"] == "info" for line in errors.splitlines()), errors
        for name, probe in probes().items():
            command = [part.replace(PORT, port) for part in probe]
            assert boxes[0].execute(*command).returncode != 0, name
        wait_until_ready(two)


MANIFEST = {
    "name": "weather.current",
    "version": "1.0.0",
    "compatibility": "backward_compatible",
    "description": "Use when somebody asks for the weather now at a place.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "output_schema": {"type": "object", "properties": {"celsius": {"type": "number"}}},
    "timeout_sec": 10,
}


def test_a_write_elsewhere_is_refused_as_by_a_file_system_that_is_read_only(
    postgres: embedded.Server, tmp_path: Path
) -> None:
    box = container("registry", postgres, tmp_path / "box")
    write = "import sys; open(sys.argv[1], 'w')"
    assert box.execute("python", "-c", write, str(box.home / "file")).returncode == 0
    elsewhere = Path("/usr/written-by-a-test")  # this checkout may itself lie below /tmp
    refused = box.execute("python", "-c", write, str(elsewhere))
    assert os.strerror(errno.EROFS) in refused.stderr
    assert not elsewhere.exists()
