"""A real service on a real database: every test talks HTTP to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control.serving import serving
from governance.control.settings import Settings


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with serving(settings) as running:
        admin = ControlPlane(running.address, running.token)
        with admin:
            yield Service(serving=running, database_url=settings.database_url or "", admin=admin)


@pytest.fixture
def admin(service: Service) -> ControlPlane:
    return service.admin


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
