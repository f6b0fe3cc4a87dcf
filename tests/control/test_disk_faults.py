"""A disk that is really full: what was acknowledged stays, the rest is refused truthfully, and room heals it."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from registry import Manifest

from governance.client import ControlPlane
from governance.control import embedded
from governance.control.serving import serving
from governance.control.settings import Settings
from governance.errors import ServiceError

_DISK_BYTES = 320 * 1024 * 1024
_MANY = 200
"""Publishes of which one must meet the end of the disk."""


@dataclass(kw_only=True)
class Disk:
    """A folder whose room a test can take away. Where no disk can be mounted, the kernel's limit on files stands in."""

    folder: Path
    mounted: bool

    def fill(self, server: embedded.Server) -> None:
        if not self.mounted:
            _limit_files(server, "1")
            return
        with contextlib.suppress(OSError), self._ballast.open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(64 * 1024))

    def free(self, server: embedded.Server) -> None:
        if not self.mounted:
            _limit_files(server, "unlimited")
            return
        self._ballast.unlink()

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"


def _limit_files(server: embedded.Server, size: str) -> None:
    """How large a file the server and its children may make; a write past it fails as one on a full disk does."""
    assert server.pid is not None
    owner = Path(f"/proc/{server.pid}").stat()
    become: dict[str, Any] = {}
    if os.geteuid() == 0:
        become = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    for pid in (str(server.pid), *children):
        subprocess.run(["prlimit", f"--fsize={size}:", "--pid", pid], check=False, **become)


@pytest.fixture
def disk(short_home: Path) -> Iterator[Disk]:
    short_home.mkdir(mode=0o711)
    size = f"size={_DISK_BYTES},mode=711"
    mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(short_home)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield Disk(folder=short_home, mounted=mounted)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(short_home)], check=True)


def test_a_full_disk_loses_nothing_and_is_told(disk: Disk, tmp_path: Path, manifest: Manifest) -> None:
    acknowledged: dict[str, str] = {}

    def publish(number: int) -> None:
        document = manifest(f"full.s{number}", description=f"Use it when you must. {secrets.token_hex(45_000)}")
        published = client.put_version(document)
        acknowledged[published.version.name] = published.version.manifest_digest

    with embedded.start(disk.folder / "home", options={"max_wal_size": "32MB", "min_wal_size": "32MB"}) as server:
        server.keep_up()
        settings = Settings(home=tmp_path, database_url=server.service_url, database_owner_url=server.owner_url, port=0)
        with serving(settings) as running, ControlPlane(running.address, running.token) as client:
            for number in range(3):
                publish(number)
            disk.fill(server)
            with pytest.raises(ServiceError) as caught:
                for number in range(3, _MANY):
                    publish(number)
            assert (caught.value.status, bool(caught.value.fix)) == (503, True), caught.value
            for number in range(_MANY, _MANY + 3):
                with contextlib.suppress(ServiceError):  # a server that gave up over it is back with its limits gone
                    publish(number)
            disk.free(server)
            healed(publish, _MANY + 3)
            for name, digest in acknowledged.items():
                assert client.get_version(name, "1.0.0").manifest_digest == digest
            with psycopg.connect(server.service_url) as connection:
                row = connection.execute(
                    "SELECT (SELECT count(*) FROM skill_version), (SELECT count(*) FROM skill_version_state),"
                    " (SELECT sum(versions) FROM skill),"
                    " count(*) FROM audit_inbox WHERE action = 'skill.publish' AND outcome = 'done'"
                ).fetchone()
    assert row is not None
    assert len(set(row)) == 1
    assert row[0] >= len(acknowledged)


def healed(publish: Any, number: int) -> None:
    for _ in range(300):
        try:
            publish(number)
            return
        except ServiceError:
            time.sleep(0.1)
    publish(number)
