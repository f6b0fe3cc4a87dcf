"""The clock of a replica may be wrong or step: times that decide are the database's, which all replicas share."""

from __future__ import annotations

import datetime as standard
import sys
import time
from collections.abc import Callable
from itertools import pairwise

import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.errors import Unauthenticated
from governance.wire import Grant, Role

_REAL = standard.datetime
_TIME = time.time


class _AnyDatetime(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _REAL)


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Puts the clock that this process's code looks at forward or back by so many days."""

    def by(days: float) -> None:
        class Stepped(_REAL, metaclass=_AnyDatetime):
            @classmethod
            def now(cls, tz: standard.tzinfo | None = None) -> standard.datetime:  # type: ignore[override]
                return _REAL.now(tz) + standard.timedelta(days=days)

        monkeypatch.setattr(time, "time", lambda: _TIME() + days * 86_400)
        for name, module in list(sys.modules.items()):
            if name.startswith("governance.") and isinstance(getattr(module, "datetime", None), type):
                monkeypatch.setattr(module, "datetime", Stepped)

    return by


def test_a_token_lives_as_long_as_the_database_says(
    service: Service, owner_url: str, step: Callable[[float], None]
) -> None:
    grants = [Grant(role=Role.VIEWER, namespace="team")]
    expired = service.admin.create_token("old", grants)
    with psycopg.connect(service.database_url) as connection:
        now = connection.execute("SELECT now()").fetchone()
    assert now is not None
    for days in (-1_000.0, 1_000.0, -0.5):
        step(days)
        made = service.admin.create_token("new", grants, expires_in_days=1)
        assert (
            standard.timedelta(0) <= made.expires_at - now[0] - standard.timedelta(days=1) < standard.timedelta(hours=1)
        )
        with ControlPlane(service.serving.address, made.token) as client:
            assert client.list_skills().items == []
    with psycopg.connect(owner_url) as owner:
        owner.execute("UPDATE token SET expires_at = now() - interval '1 second' WHERE id = %s", (expired.id,))
    step(-1_000.0)
    with (
        ControlPlane(service.serving.address, expired.token) as client,
        pytest.raises(Unauthenticated, match="expired"),
    ):
        client.list_skills()


def test_entries_and_versions_are_in_the_order_they_were_made(
    service: Service, manifest: Manifest, step: Callable[[float], None]
) -> None:
    for minor, days in enumerate((0.0, 3.0, -3.0, 0.1, -0.1)):
        step(days)
        service.admin.put_version(manifest("shop.cart", f"1.{minor}.0"))
        service.admin.put_release("shop", f"1.{minor}.1", [manifest("shop.cart", version=None)])
    versions = list(reversed(service.admin.versions("shop.cart")))
    for earlier, later in pairwise(versions):
        assert earlier.published_at < later.published_at
    told = [entry["at"] for entry in service.entries()]
    assert told == sorted(told)
    entries = [entry["subject"] for entry in service.entries("skill.publish")]
    assert entries == [f"shop.cart@{version.version}" for version in versions]


def test_a_key_stands_for_its_request_whatever_the_clock_does(
    service: Service, manifest: Manifest, step: Callable[[float], None]
) -> None:
    first = service.admin.check([manifest()], idempotency_key="one")
    for days in (-2.0, 2.0):
        step(days)
        assert service.admin.check([manifest()], idempotency_key="one") == first
