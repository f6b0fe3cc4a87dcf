"""Somebody else holds what a request needs, for too long: it gives up in time, whole, says so, and may be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from registry import Manifest, Service
from sqlalchemy import text

from governance.client import ControlPlane
from governance.control import database as database_module
from governance.control.database import Database
from governance.control.serving import serving
from governance.control.settings import Settings
from governance.control.skills.service import lock
from governance.errors import ServiceUnavailable

_COUNTS = (
    "SELECT (SELECT count(*) FROM skill_version), (SELECT count(*) FROM catalogue_release), count(*) FROM audit_inbox"
)


@pytest.fixture
def hurried(settings: Settings) -> Iterator[Service]:
    """A service whose statements may take a second."""
    with (
        serving(replace(settings, statement_timeout_sec=1)) as running,
        ControlPlane(running.address, running.token) as admin,
    ):
        yield Service(serving=running, database_url=settings.database_url or "", admin=admin)


def counts(url: str) -> object:
    with psycopg.connect(url) as connection:
        return connection.execute(_COUNTS).fetchone()


@pytest.mark.parametrize(
    "held",
    [
        "SELECT pg_advisory_xact_lock(hashtextextended('skill:shop.cart', 0))",
        "SELECT FROM skill WHERE name = 'shop.cart' FOR UPDATE",
        "LOCK TABLE skill_version_state",
        "LOCK TABLE audit_inbox",
    ],
)
def test_a_lock_that_another_session_holds_is_not_waited_for_without_end(
    hurried: Service, owner_url: str, manifest: Manifest, held: str
) -> None:
    hurried.admin.put_version(manifest("shop.cart"))
    before = counts(hurried.database_url)
    following = manifest("shop.cart", "1.1.0")
    with psycopg.connect(owner_url) as other:
        other.execute(held)
        for attempt in (
            lambda: hurried.admin.put_version(following),
            lambda: hurried.admin.put_release("shop", "1.1.0", [following]),
        ):
            with pytest.raises(ServiceUnavailable, match="Another request holds what this one needs") as caught:
                attempt()
            assert caught.value.fix == "Send the same request again in a moment."
        other.rollback()
    assert counts(hurried.database_url) == before
    assert hurried.admin.put_version(following).created
    assert hurried.admin.put_release("shop", "1.1.0", [following]).created


def test_a_replica_that_stands_still_gives_back_what_it_holds(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, manifest: Manifest
) -> None:
    monkeypatch.setattr(database_module, "_STANDSTILL_SEC", 1)
    assert settings.database_url is not None
    still, other = (Database(settings.database_url, settings) for _ in range(2))
    with (
        pytest.raises(ServiceUnavailable, match="stood still") as caught,
        still.transaction() as stopped,
    ):
        lock(stopped, ["shop.cart"])
        with other.transaction() as waiting:
            lock(waiting, ["shop.cart"])  # until the database takes the lock from the first
        stopped.execute(text("SELECT 1"))
    assert caught.value.status == 503
    for database in (still, other):
        database.close()
