"""Running the service: database, migrations, the local admin token, a socket, uvicorn, and a clean stop.

Authentication is always on, so a non-loopback address needs no switch; it is said aloud, for TLS ends elsewhere.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Final

import httpx
import uvicorn
from fastapi import FastAPI

from governance.control.app import create_app
from governance.control.database import Database, bring_up, provision
from governance.control.observing import log_to
from governance.control.settings import Settings
from governance.control.tokens.service import local_admin
from governance.errors import ServiceError, UsageError
from governance.telemetry import export_traces

log = logging.getLogger("governance.control")

SERVER_FILE: Final = "server.json"
_LIVES_SEC: Final = 1.0
_BACKLOG: Final = 512
GRACE_SEC: Final = 15
"""How long requests under way may take to end once nobody is let in any more."""
_START_SEC: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Serving:
    """A service that answers: its address, and the secret of the local admin token."""

    address: str
    token: str = field(repr=False)
    app: FastAPI


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def serve(settings: Settings, *, announce: Callable[[str], None] = _say) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are finished first (:data:`GRACE_SEC`).

    Raises UsageError where the port is taken, DatabaseSetupFailed where no database can be had.
    """
    log_to(sys.stderr)
    export_traces(settings.otlp_endpoint)
    for name in settings.unknown:
        log.warning("nobody reads this variable", extra={"variable": name})
    with _stopping_by_signal(), _prepared(settings) as (server, listener, ready):
        announce(f"govctl serves {ready.address} (API: {ready.address}/docs)")
        announce(f"The admin token of this machine is in {settings.home / SERVER_FILE}")
        if not _is_loopback(settings.host):
            announce(f"{settings.host} is reachable from elsewhere: put TLS in front of it.")
        server.run(sockets=[listener])


@contextmanager
def _stopping_by_signal() -> Iterator[None]:
    """End the block, its clean-up done, on SIGINT or SIGTERM; the server sends on the signal that stopped it."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        log.info("stopped")
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def serving(settings: Settings) -> Iterator[Serving]:
    """A service in a thread of this process, for as long as the block lasts."""
    with _prepared(settings) as (server, listener, ready):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="govctl", daemon=True)
        thread.start()
        try:
            deadline = time.monotonic() + _START_SEC
            while not server.started:
                if not thread.is_alive() or time.monotonic() > deadline:
                    raise ServiceError("The service did not start.", fix="See its log lines.")
                time.sleep(0.005)
            yield ready
        finally:
            server.should_exit = True
            thread.join(GRACE_SEC + 5)


class _Server(uvicorn.Server):
    """Uvicorn's, which after a SIGTERM first serves on for ``drain_sec`` while /readyz answers 503.

    It would else refuse connections at once, which whoever balances the load has not yet heard of. A second
    signal, and Ctrl-C, do not wait.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI, drain_sec: int) -> None:
        super().__init__(config)
        self._state = app.state
        self._drain_sec = drain_sec
        self._leave_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGTERM and self._drain_sec and not self._state.draining:
            self._state.draining = True
            self._leave_at = time.monotonic() + self._drain_sec
            return
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._state.feed.close()  # streams would else be waited for, and cut
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if self._leave_at is not None and time.monotonic() >= self._leave_at and not self.should_exit:
            super().handle_exit(signal.SIGTERM, None)
        return await super().on_tick(counter)


@contextmanager
def _prepared(settings: Settings) -> Iterator[tuple[uvicorn.Server, socket.socket, Serving]]:
    listener = _bind(settings.host, settings.port)
    with listener, provision(settings) as urls:
        bring_up(urls.owner)
        settings = replace(settings, database_url=urls.service)
        address = _address(settings.host, listener)
        secret = _local_token(settings, urls.service, address)
        app = create_app(settings)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SEC,
            timeout_keep_alive=30,
            ws="none",
            lifespan="on",
        )
        yield _Server(config, app, settings.drain_sec), listener, Serving(address=address, token=secret, app=app)


def _bind(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except socket.gaierror:
        raise UsageError(f"{host!r} is no address of this machine.", fix="Set GOVCTL_HOST to one.") from None
    except OSError as error:
        reason = "another program listens there" if error.errno in _BUSY else os.strerror(error.errno or 0)
        raise UsageError(
            f"{host} port {port} cannot be used: {reason}.",
            fix="Stop that program, choose another port with --port, or let one be chosen with --port 0.",
        ) from None
    # Accepted sockets inherit it; asyncio sets it only where the protocol number is given, which it is not here.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener


_BUSY: Final = frozenset({48, 98})
"""EADDRINUSE on macOS and on Linux."""


def _address(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    if host in {"0.0.0.0", "::"}:
        return f"http://127.0.0.1:{port}"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _local_token(settings: Settings, url: str, address: str) -> str:
    """The local admin token, kept in the home's server.json with the address, for its owner alone to read."""
    path = settings.home / SERVER_FILE
    database = Database(url, settings)
    try:
        with database.transaction() as session:
            secret = local_admin(session, _kept(path, "token"))
    finally:
        database.close()
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        first = _kept(path, "address")
        if first is not None and first != address and _lives(first):
            address = first  # who came first stays the one that is found: this one may end before it
        _write_private(path, json.dumps({"address": address, "token": secret}, indent=2) + "\n")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.",
            fix="Set GOVCTL_HOME to a folder of yours: the token of this machine is kept there.",
        ) from None
    return secret


def _kept(path: Path, field: str) -> str | None:
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    value = kept.get(field) if isinstance(kept, dict) else None
    return value if isinstance(value, str) and value.isascii() else None


def _lives(address: str) -> bool:
    """Does a service of ours answer there?"""
    try:
        answer = httpx.get(f"{address}/livez", timeout=_LIVES_SEC, trust_env=False)
        return answer.status_code == 200 and answer.json().get("status") == "ok"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, AttributeError):
        return False


def _write_private(path: Path, content: str) -> None:
    """Write whole or not at all, readable by the owner alone from the first byte."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(content)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
