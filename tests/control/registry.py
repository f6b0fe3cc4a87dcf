"""The running service as tests see it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg

from governance.client import ControlPlane
from governance.control.serving import Serving
from governance.errors import GovernanceError
from governance.wire import Grant, Role

Manifest = Callable[..., dict[str, Any]]


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


def together(*acts: Callable[[], Any]) -> list[Any]:
    """What each came to: its answer, or the error that refused it. All start at once."""
    start = threading.Barrier(len(acts))

    def act(one: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return one()
        except GovernanceError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))
