"""Servers to ask: started by hand or by the SDK, over standard input and output or over HTTP."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from governance.live import Address, Bounds, Command, Heard, read_server
from tests.live.raw_server import answers
from tests.live.sdk_server import sdk_server

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOON = Bounds(answer_sec=20, whole_sec=60)
"""Wide enough for a busy machine; what is to run out is set by each test."""


def started(habit: str, *argv: object, **options: Any) -> Command:
    """The server by hand, with that habit."""
    words = (sys.executable, str(HERE / "raw_server.py"), habit, *map(str, argv))
    return Command(argv=words, **{"environment": dict(os.environ), **options})


def heard_from(habit: str, *argv: object, bounds: Bounds = SOON, **options: Any) -> Heard:
    """What it says when it is read."""
    return read_server(started(habit, *argv, **options), bounds=bounds)


@pytest.fixture
def by_hand_over_http() -> Iterator[Callable[..., HttpServer]]:
    """``by_hand_over_http(habit, events=…)``: the same server over HTTP, answering as JSON or as events."""
    servers: list[HttpServer] = []

    def make(habit: str, **options: Any) -> HttpServer:
        servers.append(HttpServer(habit, **options))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


class HttpServer:
    """A habit over HTTP. ``requests``: method, path and headers of each, in lower case.

    ``clings``: it lets nobody end a session.
    """

    def __init__(
        self,
        habit: str,
        *,
        events: bool = False,
        clings: bool = False,
        status: int = 200,
        headers: dict[str, str] | None = None,
        body: Callable[[dict[str, Any]], Iterator[bytes]] | None = None,
    ) -> None:
        requests: list[tuple[str, str, dict[str, str]]] = []
        clinging = threading.Event()
        if not clings:
            clinging.set()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments: object) -> None:
                pass

            def do_POST(self) -> None:
                self._note()
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if status != 200:
                    self._send(status, "text/plain", [b"no"])
                elif "id" not in message:
                    self._send(202, "text/plain", [])
                elif body is not None and message["method"] == "tools/list":
                    self._send(200, "text/event-stream" if events else "application/json", body(message))
                else:
                    self._send(200, *told(message))

            def do_GET(self) -> None:
                self._note()
                self._send(405, "text/plain", [])

            def do_DELETE(self) -> None:
                clinging.wait()
                self.do_GET()

            def _note(self) -> None:
                lower = {name.lower(): value for name, value in self.headers.items()}
                requests.append((self.command, self.path, lower))

            def _send(self, code: int, kind: str, parts: Any) -> None:
                self.send_response(code)
                self.send_header("content-type", kind)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("connection", "close")
                self.end_headers()
                try:
                    for part in parts:
                        self.wfile.write(part)
                except OSError:
                    pass  # the client had enough

        def told(message: dict[str, Any]) -> tuple[str, list[bytes]]:
            texts = [one if isinstance(one, str) else json.dumps(one) for one in answers(message, habit)]
            if events:
                return "text/event-stream", [f"event: message\r\ndata: {text}\r\n\r\n".encode() for text in texts]
            return "application/json", [texts[-1].encode()]

        self.requests = requests
        self._clinging = clinging
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/mcp"

    @property
    def address(self) -> Address:
        return Address(url=self.url)

    def close(self) -> None:
        """Every request has been dealt with afterwards; safe to repeat."""
        self._clinging.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(scope="session")
def sdk_url() -> Iterator[str]:
    """The SDK's server over streamable HTTP, by a real uvicorn."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(sdk_server().streamable_http_app(), log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    server.should_exit = server.force_exit = True
    thread.join()
    listener.close()
