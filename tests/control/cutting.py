"""A wire to Postgres that breaks where it is told to: between the service and the server, message by message.

Every turn of the conversation (a statement and its answer) goes through it, on every connection, so that a test can
lose the connection at each of them: before the statement reaches the server, or after the server has carried it out and
before its answer is heard.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from psycopg import conninfo

_SOCKET = ".s.PGSQL.5432"
_PARSE, _BIND, _QUERY, _SYNC, _TERMINATE = b"P", b"B", b"Q", b"S", b"X"
_READY = b"Z"


class Cut(Enum):
    BEFORE = "the server never heard of it"
    AFTER = "the server did it, and nobody heard"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A statement, and which of its like it is since the wire was told to watch."""

    statement: str
    number: int


class Wire:
    """Notes every turn since the last :meth:`watch`, and cuts the connection that takes the one it is told to cut."""

    def __init__(self, folder: Path, target: str) -> None:
        self._target = target
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen(64)
        self._lock = threading.Lock()
        self._said: list[Turn] = []
        self._cut: Turn | None = None
        self._how = Cut.BEFORE
        threading.Thread(target=self._accept, daemon=True).start()

    def watch(self, cut: Turn | None = None, how: Cut = Cut.BEFORE) -> None:
        """Begin anew; with ``cut``, lose the connection at that turn."""
        with self._lock:
            self._said, self._cut, self._how = [], cut, how

    @property
    def said(self) -> list[Turn]:
        with self._lock:
            return list(self._said)

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            _Line(self, client, server).start()

    def take(self, statement: str) -> Cut | None:
        """Note a turn; how it is to be cut, if it is."""
        with self._lock:
            turn = Turn(statement=statement, number=sum(one.statement == statement for one in self._said) + 1)
            self._said.append(turn)
            return self._how if turn == self._cut else None


class _Line:
    """One connection: the client's messages are followed, the server's handed on until it is cut."""

    def __init__(self, wire: Wire, client: socket.socket, server: socket.socket) -> None:
        self._wire, self._client, self._server = wire, client, server
        self._prepared: dict[bytes, str] = {}
        self._deaf = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._up, daemon=True).start()
        threading.Thread(target=self._down, daemon=True).start()

    def _up(self) -> None:
        """Client to server. The first message alone has no type."""
        with contextlib.suppress(OSError, EOFError):
            length = _exactly(self._client, 4)
            self._server.sendall(length + _exactly(self._client, int.from_bytes(length) - 4))
            held, statement = b"", ""
            while True:
                kind, message = _message(self._client)
                held += message
                statement = self._statement(kind, message[5:]) or statement
                if kind not in (_QUERY, _SYNC, _TERMINATE):
                    continue
                how = self._wire.take(statement) if kind != _TERMINATE else None
                if how is Cut.BEFORE:
                    break
                if how is Cut.AFTER:
                    self._deaf.set()
                self._server.sendall(held)
                if how is Cut.AFTER:
                    return
                held = b""
        self._hang_up()

    def _statement(self, kind: bytes, body: bytes) -> str | None:
        """The text that a message names or carries."""
        if kind == _QUERY:
            return body.rstrip(b"\0").decode()
        if kind == _PARSE:
            name, text, _ = body.split(b"\0", 2)
            self._prepared[name] = text.decode()
            return self._prepared[name]
        return self._prepared[body.split(b"\0", 2)[1]] if kind == _BIND else None

    def _down(self) -> None:
        """Server to client; once deaf, read on until the server is ready again, and hang up."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                kind, message = _message(self._server)
                if not self._deaf.is_set():
                    self._client.sendall(message)
                elif kind == _READY:
                    break
        self._hang_up()

    def _hang_up(self) -> None:
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    head = _exactly(source, 5)
    return head[:1], head + _exactly(source, int.from_bytes(head[1:]) - 4)


def _exactly(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = source.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


@contextmanager
def wire_to(url: str, folder: Path) -> Iterator[tuple[Wire, str]]:
    """A wire, and the URL by which the database of ``url`` is reached over it. ``folder`` has a short name."""
    parts = conninfo.conninfo_to_dict(url)
    wire = Wire(folder, f"{parts['host']}/{_SOCKET}")
    try:
        yield wire, conninfo.make_conninfo(url, host=str(folder))
    finally:
        wire.close()
