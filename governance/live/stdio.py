"""The streams of a started server as the SDK wants them: bounded, and deaf to noise."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from governance.errors import ToolServerFailed
from governance.live.conversation import Conversation
from governance.live.lines import Lines, LineTooLong
from governance.live.process import ServerProcess

_CHUNK = 65536
Incoming: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing: TypeAlias = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def stdio_streams(process: ServerProcess, conversation: Conversation) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """What the SDK reads from and writes to. The process is not ended here."""
    heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with heard, incoming, outgoing, said, anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, process, conversation, heard)
        tasks.start_soon(_speak, process, conversation, said)
        tasks.start_soon(_overhear, process)
        try:
            yield incoming, outgoing
        finally:
            tasks.cancel_scope.cancel()


async def _listen(
    process: ServerProcess,
    conversation: Conversation,
    heard: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    lines = Lines(conversation.bounds.answer_bytes, message=b"{")
    async with heard:
        try:
            while chunk := await _read(process.stdout):
                conversation.count(len(chunk))
                for line in lines.feed(chunk):
                    await _hear(line, conversation, heard)
            await _hear(lines.end(), conversation, heard)
            conversation.closed = True
        except LineTooLong:
            conversation.too_long()
        except (ToolServerFailed, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the conversation knows, or is over


async def _hear(
    line: bytes, conversation: Conversation, heard: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    if not line.startswith(b"{"):
        if line.strip():
            conversation.hear_noise(line)
        return
    value = conversation.take(line)
    if value is None:
        return
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        conversation.hear_noise(line)
        return
    await heard.send(SessionMessage(message))


async def _speak(
    process: ServerProcess, conversation: Conversation, said: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    async with said:
        try:
            async for message in said:
                if isinstance(message.message, JSONRPCRequest):
                    conversation.asked(message.message.id)
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await _write(process.stdin, text.encode() + b"\n")
        except OSError:
            pass  # it closed its input; whether it is gone, its output tells


async def _overhear(process: ServerProcess) -> None:
    while chunk := await _read(process.stderr):
        process.remember(chunk)


async def _read(descriptor: int) -> bytes:
    while True:
        await anyio.wait_readable(descriptor)
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            return b""


async def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        await anyio.wait_writable(descriptor)
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            continue
