"""A database that dies in the middle of a release leaves nothing of it; the same request then goes in whole."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from registry import Manifest

from governance.client import ControlPlane
from governance.control import embedded
from governance.control.serving import Serving, serving
from governance.control.settings import Settings
from governance.errors import GovernanceError, ServiceError

NAMES = [f"shop.t{number}" for number in range(40)]
_WRITTEN = ("skill", "skill_version", "skill_version_state", "catalogue", "catalogue_release", "catalogue_member")

_STOP_IN_THE_MIDDLE = """
CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;
CREATE TRIGGER stand_still BEFORE INSERT ON {table} FOR EACH STATEMENT EXECUTE FUNCTION stand_still();
"""


def written(url: str) -> dict[str, int]:
    entries = "(SELECT count(*) FROM audit_inbox WHERE action IN ('skill.publish', 'catalogue.release'))"
    counts = [f"(SELECT count(*) FROM {table})" for table in _WRITTEN]
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT {', '.join([*counts, entries])}").fetchone()
    assert row is not None
    return dict(zip((*_WRITTEN, "entries"), row, strict=True))


def running_on(server: embedded.Server, home: Path) -> AbstractContextManager[Serving]:
    """A service on a server that is brought up again when it dies."""
    server.keep_up()
    owner_url = server.owner_url
    return serving(Settings(home=home, database_url=server.service_url, database_owner_url=owner_url, port=0))


def eventually(url: str, query: str) -> None:
    """Until ``query`` answers true; a server that is on its way up is asked again."""
    for _ in range(600):
        try:
            with psycopg.connect(url) as connection:
                if connection.execute(query).fetchone() == (True,):
                    return
        except psycopg.OperationalError:
            pass
        time.sleep(0.05)
    raise AssertionError(query)


@pytest.mark.parametrize("table", ["skill_version_state", "catalogue_member"])
def test_a_database_killed_in_the_middle_of_a_release_leaves_nothing_of_it(
    short_home: Path, tmp_path: Path, manifest: Manifest, table: str
) -> None:
    members = [manifest(name, version=None) for name in NAMES]
    answers: list[Any] = []

    def release(address: str, token: str) -> None:
        with ControlPlane(address, token) as client:
            try:
                answers.append(client.put_release("shop", "1.0.0", members))
            except GovernanceError as error:
                answers.append(error)

    with embedded.start(short_home) as server, running_on(server, tmp_path) as running:
        url, owner_url = server.service_url, server.owner_url
        with psycopg.connect(owner_url, autocommit=True) as owner:
            owner.execute(_STOP_IN_THE_MIDDLE.format(table=table))
        thread = threading.Thread(target=release, args=(running.address, running.token))
        thread.start()
        held = f"SELECT FROM pg_locks WHERE relation = '{table}'::regclass AND mode = 'RowExclusiveLock'"
        eventually(url, f"SELECT EXISTS ({held})")
        (pid_file,) = short_home.rglob("postmaster.pid")
        os.kill(int(pid_file.read_text().splitlines()[0]), signal.SIGKILL)
        thread.join(60)
        assert isinstance(answers[0], ServiceError)
        eventually(url, f"SELECT NOT EXISTS ({held})")
        assert written(url) == dict.fromkeys((*_WRITTEN, "entries"), 0)
        with psycopg.connect(owner_url, autocommit=True) as owner:
            owner.execute(f"DROP TRIGGER stand_still ON {table}")
        release(running.address, running.token)
        assert answers[1].created
        count = len(NAMES)
        assert written(url) == {
            "skill": count,
            "skill_version": count,
            "skill_version_state": count,
            "catalogue": 1,
            "catalogue_release": 1,
            "catalogue_member": count,
            "entries": count + 1,
        }
