"""A real service on a real database: every test talks HTTP to it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control import embedded
from governance.control.roles import OWNER_ROLE, SERVICE_ROLE
from governance.control.serving import serving
from governance.control.settings import Settings


@contextmanager
def running_service(settings: Settings) -> Iterator[Service]:
    with serving(settings) as running, ControlPlane(running.address, running.token) as admin:
        yield Service(serving=running, database_url=settings.database_url or "", admin=admin)


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    """A service of the test's own, with nothing published."""
    with running_service(settings) as found:
        yield found


@contextmanager
def service_of_a_module(
    server: embedded.Server, template: str, paths: pytest.TempPathFactory, **settings: Any
) -> Iterator[Service]:
    """One service for all tests of a module that do not mind each other."""
    name = "module_" + secrets.token_hex(4)
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {OWNER_ROLE}")
    chosen = Settings(
        home=paths.mktemp("home"),
        database_url=server.url(role=SERVICE_ROLE, database=name),
        database_owner_url=server.url(role=OWNER_ROLE, database=name),
        port=0,
        session_pool_size=5,
        read_pool_size=5,
        **settings,
    )
    with running_service(chosen) as found:
        yield found


@pytest.fixture(scope="module")
def empty_service(
    server: embedded.Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """One service for a module's tests that publish nothing."""
    with service_of_a_module(server, template, tmp_path_factory) as found:
        yield found


@pytest.fixture
def admin(service: Service) -> ControlPlane:
    return service.admin


@pytest.fixture(scope="session")
def manifest() -> Manifest:
    """A small valid manifest; keywords replace fields, ``None`` removes one."""

    def build(name: str = "weather.current", version: str = "1.0.0", **fields: Any) -> dict[str, Any]:
        document = {
            "name": name,
            "version": version,
            "compatibility": "backward_compatible",
            "description": "Use when somebody asks for the weather now at a place.",
            "input_schema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
            "output_schema": {"type": "object", "properties": {"celsius": {"type": "number"}}},
            "timeout_sec": 10,
            "owner": "team-weather",
        } | fields
        return {key: value for key, value in document.items() if value is not None}

    return build
