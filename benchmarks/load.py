"""Sending requests as fast as they are answered, and telling what they cost in CPU: what the benchmarks share.

The client is a plain asyncio protocol on kept-alive connections, so that it stays cheap beside what it measures.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE_SEC = 60


def request(method: str, path: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> bytes:
    """One HTTP/1.1 request as bytes."""
    head = {"Host": "127.0.0.1", "Accept": "application/json"} | dict(headers or {})
    if body is not None:
        head |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a run of requests met: latencies in seconds, sorted; seconds for all; the last answer of each status."""

    seconds: float
    latencies: Sequence[float]
    last: Mapping[int, tuple[bytes, bytes]]
    """Head (lower case) and body by status."""

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * share))]


@dataclass
class _Client(asyncio.Protocol):
    """One connection: sends the next request when the answer to the last has come whole."""

    requests: Iterator[bytes]
    latencies: list[float] = field(default_factory=list)
    last: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._received = bytearray()
        self._sent = 0.0
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._next()

    def _next(self) -> None:
        assert self._transport is not None
        following = next(self.requests, None)
        if following is None:
            self._transport.close()
            if not self.done.done():
                self.done.set_result(None)
            return
        self._sent = time.perf_counter()
        self._transport.write(following)

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        at = head.find(b"content-length:")
        length = 0 if at < 0 else int(head[at + 15 :].split(b"\r\n", 1)[0])
        if len(self._received) < end + 4 + length:
            return
        self.latencies.append(time.perf_counter() - self._sent)
        self.last[int(head[9:12])] = head, bytes(self._received[end + 4 : end + 4 + length])
        self._received.clear()
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server closed the connection"))


async def _send(port: int, shares: Sequence[Iterable[bytes]]) -> Answers:
    loop = asyncio.get_running_loop()
    clients: list[_Client] = []
    started = time.perf_counter()
    for share in shares:
        client = _Client(requests=iter(share))
        clients.append(client)
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    async with asyncio.timeout(_PATIENCE_SEC):
        await asyncio.gather(*(client.done for client in clients))
    return Answers(
        seconds=time.perf_counter() - started,
        latencies=sorted(latency for client in clients for latency in client.latencies),
        last={status: answer for client in clients for status, answer in client.last.items()},
    )


def send(port: int, requests: Sequence[bytes], *, clients: int) -> Answers:
    """Send all requests over so many connections, each waiting for its answer before the next (closed loop)."""
    return asyncio.run(_send(port, [requests[index::clients] for index in range(clients)]))


# ── CPU ──


def _family(root: int) -> list[int]:
    """``root`` and all that descend from it."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found, stack = [], [root]
    while stack:
        found.append(stack[-1])
        stack.extend(children.get(stack.pop(), ()))
    return found


def cpu_seconds(root: int) -> float:
    """CPU that a process and its descendants have used so far, the reaped ones too. Reads /proc, so Linux only."""
    total = 0
    for pid in _family(root):
        try:
            fields = (Path("/proc") / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


@dataclass
class Cost:
    """CPU of two process families over a block, in seconds."""

    server: float = 0.0
    database: float = 0.0


@contextmanager
def costing(server: int, database: int) -> Iterator[Cost]:
    cost = Cost()
    before = cpu_seconds(server), cpu_seconds(database)
    yield cost
    cost.server, cost.database = cpu_seconds(server) - before[0], cpu_seconds(database) - before[1]
