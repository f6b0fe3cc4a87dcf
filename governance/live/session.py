"""One session by the official SDK: the handshake, the list, and what its failures are in words."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, Final, NoReturn

import anyio
from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    UNSUPPORTED_PROTOCOL_VERSION,
    Implementation,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from governance import __version__
from governance.errors import AuthError, GovernanceError, ToolServerFailed
from governance.live.conversation import Conversation, Manner, NoHandshake, told
from governance.live.http import http_streams, unreachable
from governance.live.listing import Changes, whole_list
from governance.live.model import Address, Heard
from governance.live.process import ServerProcess
from governance.live.stdio import stdio_streams

Streams = Callable[[], AbstractAsyncContextManager[Any]]

_GOODBYE_SEC: Final = 2.0
"""For taking leave, once everything was heard."""
_LOGGERS: Final = ("mcp", "client", "httpx2", "httpcore2")
_PATH: Final = "Check the path, which is /mcp as a rule; the older transport with two endpoints is not spoken."
_NO_HANDSHAKE: Final = (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)


def converse_over_stdio(process: ServerProcess, conversation: Conversation) -> Heard:
    """As :func:`governance.live.read_server`.

    Raises:
        NoHandshake: the server wants to be asked in another manner.
    """
    try:
        return _converse(lambda: stdio_streams(process, conversation), conversation)
    except ToolServerFailed as error:
        _add_circumstances(error, process, conversation)
        raise


def converse_over_http(address: Address, conversation: Conversation) -> Heard:
    """As :func:`converse_over_stdio`."""
    return _converse(lambda: http_streams(address, conversation), conversation)


def _converse(streams: Streams, conversation: Conversation) -> Heard:
    with _quiet():
        return anyio.run(_bounded, streams, conversation, backend="asyncio")


async def _bounded(streams: Streams, conversation: Conversation) -> Heard:
    bounds = conversation.bounds
    with anyio.CancelScope(deadline=anyio.current_time() + bounds.whole_sec) as scope:
        conversation.stop = scope.cancel
        try:
            async with _session(streams, conversation) as (client, changes):
                conversation.heard = await _heard(client, changes, conversation)
                scope.deadline = anyio.current_time() + _GOODBYE_SEC
        except Exception as error:
            if conversation.heard is None:
                _explain(error, conversation)
    if conversation.heard is not None:
        return conversation.heard
    if conversation.failure is None:
        conversation.refuse(f"was not done with `{conversation.stage}` after {bounds.whole_sec:g} seconds in all")
    assert conversation.failure is not None
    raise conversation.failure


@asynccontextmanager
async def _session(streams: Streams, conversation: Conversation) -> AsyncIterator[tuple[Client, Changes]]:
    changes = Changes()

    async def notice(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changes.told += 1

    client = Client(
        streams(),
        mode=conversation.manner.value,
        cache=None,
        client_info=Implementation(name="govctl", version=__version__),
        read_timeout_seconds=conversation.bounds.answer_sec,
        message_handler=notice,
    )
    async with client:
        yield client, changes


async def _heard(client: Client, changes: Changes, conversation: Conversation) -> Heard:
    offers = client.server_capabilities
    if offers.tools is None:
        named = ", ".join(sorted(offers.model_dump(exclude_none=True))) or "nothing at all"
        raise conversation.refuse(f"offers no tools; it offers {told(named)}", fix="Ask a server that has tools.")

    async def ask(cursor: str | None) -> Any:
        conversation.ask("tools/list")
        with suppress(ValidationError):  # one odd tool; the importer says which, and takes the others
            await client.list_tools(cursor=cursor, cache_mode="bypass")
        return conversation.result

    listing = await whole_list(ask, conversation, changes)
    info = client.server_info
    return Heard(
        label=conversation.server.label,
        server={} if info is None else info.model_dump(mode="json", by_alias=True, exclude_none=True),
        protocol=client.protocol_version,
        tools=tuple(listing.tools),
        pages=listing.pages,
        noise=conversation.noise,
        first_noise=conversation.first_noise,
    )


def _explain(error: Exception, conversation: Conversation) -> NoReturn:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if conversation.failure is not None:
        raise conversation.failure from None
    if isinstance(error, GovernanceError):
        raise error from None
    begins = conversation.stage == "initialize" and conversation.manner is Manner.HANDSHAKE
    if begins and isinstance(error, MCPError) and error.code in _NO_HANDSHAKE:
        raise NoHandshake from None
    raise _failed(conversation, error) from None


def _failed(conversation: Conversation, error: BaseException) -> GovernanceError:
    label, stage = conversation.server.label, f"`{conversation.stage}`"
    if conversation.status in (401, 403):
        return AuthError(
            f"{label} answered {conversation.status}: it wants to know who asks.",
            fix="Give a token with --header-env 'Authorization=VARIABLE', whose value is `Bearer …`.",
        )
    if isinstance(error, MCPError):
        if error.code == REQUEST_TIMEOUT:
            complaint = f"did not answer {stage} within {conversation.bounds.answer_sec:g} seconds"
            return conversation.refuse(complaint, fix="Give it more time with --timeout, or look at what it logs.")
        if conversation.status is not None:
            complaint = f"answered {stage} with HTTP {conversation.status}: {told(error.message, 400)}"
            return conversation.refuse(complaint, fix=_PATH if conversation.status in (404, 405) else "")
        if conversation.closed:
            return conversation.refuse(f"closed its output before it answered {stage}")
        if error.code == CONNECTION_CLOSED and isinstance(conversation.server, Address):
            return conversation.refuse(f"did not answer {stage}: {told(error.message, 400)}")
        return conversation.refuse(f"answered {stage} with error {error.code}: {told(error.message, 400)}")
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(map(str, first["loc"]))
        return conversation.refuse(f"answered {stage} with what is no such answer: {told(where)}: {first['msg']}")
    if isinstance(error, Exception) and (why := unreachable(error)) is not None:
        return conversation.refuse(told(why, 300), fix="Check the address, and that the server runs.")
    return conversation.refuse(f"could not be asked: {told(error, 300)}")


def _add_circumstances(error: ToolServerFailed, process: ServerProcess, conversation: Conversation) -> None:
    """How the process ended, if it did by itself, what it printed in place of messages, and the end of its log."""
    outcome = process.outcome() if conversation.closed else None
    if outcome is not None:
        how = f"signal {-outcome}" if outcome < 0 else f"exit code {outcome}"
        error.message = f"{error.message.removesuffix('.')}; it ended with {how}."
        error.details["exit_code"] = outcome
    if conversation.noise:
        error.fix += f" It printed what is no message: {conversation.first_noise}"
    words = process.last_words()
    if words:
        error.details["stderr"] = words[-2000:]
        error.fix += f" Its last words: {told(words[-400:], 400)}"
    error.args = (error.message,)


@contextmanager
def _quiet() -> Iterator[None]:
    """The SDK logs what we tell in our own words; it must not reach a terminal unread."""
    handler = logging.NullHandler()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate
