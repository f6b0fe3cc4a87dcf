"""A receiver of webhooks that counts what came, and may keep the senders waiting."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Mailbox:
    """Deliveries by their ``webhook-id``."""

    url: str
    came: Counter[str] = field(default_factory=Counter)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    open: threading.Event = field(default_factory=threading.Event)
    """Until it is set, nobody gets an answer."""


@contextmanager
def receiving(*, answers: bool = True) -> Iterator[Mailbox]:
    """A mailbox that listens on loopback for the block; without ``answers`` it keeps silent until it is opened."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            box.came[self.headers["webhook-id"]] += 1
            box.arrived.release()
            box.open.wait(30)
            try:
                self.send_response(204)
                self.end_headers()
            except OSError:  # who sent it is gone
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    box = Mailbox(url=f"http://127.0.0.1:{server.server_port}/")
    if answers:
        box.open.set()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield box
    finally:
        box.open.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
