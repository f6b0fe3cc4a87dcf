"""Streamable HTTP by the SDK's transport, over a client that counts, listens along and sends secrets nowhere else."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from governance import __version__
from governance.live.conversation import Conversation
from governance.live.lines import Lines, LineTooLong
from governance.live.model import Address

_CONNECT_SEC: Final = 10.0
_FIELD: Final = b"data:"


@asynccontextmanager
async def http_streams(address: Address, conversation: Conversation) -> AsyncIterator[Any]:
    """What the SDK reads from and writes to."""

    async def listen_along(response: httpx2.Response) -> None:
        if _is_request(response.request):
            conversation.status = response.status_code if response.status_code >= 300 else None
        if response.headers.get("content-encoding", "identity").lower() not in ("identity", ""):
            # a few bytes may unfold to gigabytes, and nobody asked for that
            raise conversation.refuse("compresses its answers, which was not asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Overheard(response, conversation)

    wait = conversation.bounds.answer_sec
    ours = {"User-Agent": f"skill-governance/{__version__}", "Accept-Encoding": "identity"}
    client = httpx2.AsyncClient(
        headers={**ours, **dict(address.headers)},
        timeout=httpx2.Timeout(wait, connect=min(_CONNECT_SEC, wait)),
        verify=True if address.url.startswith("https://") else _trusting_nobody(),
        follow_redirects=False,
        event_hooks={"response": [listen_along]},
    )
    # the size of an event is bounded here, in the same words as every other bound
    async with client, streamable_http_client(address.url, http_client=client, max_sse_event_size=None) as streams:
        yield streams


class _Overheard(httpx2.AsyncByteStream):
    """A response body that is counted and read along, message by message, while the SDK reads it."""

    def __init__(self, response: httpx2.Response, conversation: Conversation) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream = response.stream
        self._conversation = conversation
        # a stream that broke off is taken up again by a GET
        self._ours = _is_request(response.request) or response.request.method == "GET"
        kind = response.headers.get("content-type", "").lower()
        self._events = kind.startswith("text/event-stream")
        self._listens = response.status_code == 200 and (self._events or kind.startswith("application/json"))
        self._lines = Lines(conversation.bounds.answer_bytes + len(_FIELD), message=_FIELD)
        self._data: list[bytes] = []
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._conversation.count(len(chunk))
            if self._listens:
                self._hear(chunk)
            yield chunk
        if self._listens and self._data and not self._events:
            self._take()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _hear(self, chunk: bytes) -> None:
        if not self._events:
            self._keep(chunk)
            return
        try:
            for line in self._lines.feed(chunk):
                if line.startswith(_FIELD):
                    self._keep(line.removeprefix(_FIELD).removeprefix(b" "))
                elif not line and self._data:
                    self._take()
        except LineTooLong:
            raise self._conversation.too_long() from None

    def _keep(self, data: bytes) -> None:
        self._data.append(data)
        self._size += len(data)
        if self._size > self._conversation.bounds.answer_bytes:
            raise self._conversation.too_long()

    def _take(self) -> None:
        text = (b"\n" if self._events else b"").join(self._data)
        self._data, self._size = [], 0
        if text.strip():
            self._conversation.take(text, ours=self._ours)


def _is_request(request: httpx2.Request) -> bool:
    """A message that is answered; its response is the answer, whatever number it bears."""
    try:
        return request.method == "POST" and "id" in json.loads(request.content)
    except (ValueError, TypeError, httpx2.RequestNotRead):
        return False


def _trusting_nobody() -> ssl.SSLContext:
    """For addresses without TLS: the machine's certificates take their time to load, and are not asked."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def unreachable(error: Exception) -> str | None:
    """What a failed connection is, as the end of a sentence; None for another failure."""
    if isinstance(error, httpx2.TimeoutException):
        return "does not answer in time"
    if isinstance(error, httpx2.TransportError | httpx2.InvalidURL | OSError):
        return f"does not answer: {str(error) or type(error).__name__}"
    return None
