"""A real service on a real database: every test talks HTTP to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from governance.client import ControlPlane
from governance.control.serving import Serving, serving
from governance.control.settings import Settings
from governance.wire import Grant, Role


@dataclass(frozen=True, kw_only=True)
class Service:
    """The running service as a test sees it."""

    serving: Serving
    database_url: str
    admin: ControlPlane

    def http(self, token: str | None) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.serving.address, headers=headers, timeout=30)

    def token(self, role: Role, namespace: str = "*") -> str:
        return self.admin.create_token(f"{role} of {namespace}", [Grant(role=role, namespace=namespace)]).token

    def client(self, role: Role, namespace: str = "*") -> ControlPlane:
        return ControlPlane(self.serving.address, self.token(role, namespace))

    def entries(self, action: str | None = None) -> list[dict[str, Any]]:
        """Audit entries, oldest first, as the service's own role reads them."""
        with psycopg.connect(self.database_url) as connection:
            rows = connection.execute("SELECT entry FROM audit_inbox ORDER BY id").fetchall()
        found = [json.loads(bytes(entry)) for (entry,) in rows]
        return [entry for entry in found if action in {None, entry["action"]}]


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with serving(settings) as running:
        admin = ControlPlane(running.address, running.token)
        with admin:
            yield Service(serving=running, database_url=settings.database_url or "", admin=admin)


@pytest.fixture
def admin(service: Service) -> ControlPlane:
    return service.admin


Manifest = Callable[..., dict[str, Any]]


@pytest.fixture
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
        } | fields
        return {key: value for key, value in document.items() if value is not None}

    return build
