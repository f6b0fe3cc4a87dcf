"""A running MCP server, started or called, asked once for all its tools, and gone again.

The official SDK speaks the protocol; what is kept is what the server really sent, read as strictly as a saved
file. Everything a server does is bounded: time, bytes, pages, tools. The SDK takes two seconds to import, so it
is imported while the server starts, and by nobody who does not ask one.
"""

from __future__ import annotations

from governance.live.conversation import Conversation
from governance.live.model import DEFAULT_BOUNDS, Address, Bounds, Command, Heard, Server, checked_address
from governance.live.process import ServerProcess, started

__all__ = ["DEFAULT_BOUNDS", "Address", "Bounds", "Command", "Heard", "Server", "checked_address", "read_server"]

_MODES = ("legacy", "auto")
"""Every server in use knows the handshake; one that answers it with "unknown" is asked again in the new way."""


def read_server(server: Server, *, bounds: Bounds = DEFAULT_BOUNDS) -> Heard:
    """All tools that the server offers now.

    A started server has ended when this returns, with everything it started in turn.

    Raises:
        UsageError: the command or the address cannot be used as given.
        ToolServerFailed: it died, stayed silent, broke the protocol, never ended its list, or went past a bound.
    """
    *first, last = _MODES
    for mode in first:
        heard = _read(server, bounds, mode=mode, last=False)
        if heard is not None:
            return heard
    heard = _read(server, bounds, mode=last, last=True)
    assert heard is not None
    return heard


def _read(server: Server, bounds: Bounds, *, mode: str, last: bool) -> Heard | None:
    """None: the server does not know this way to begin, and there is another."""
    conversation = Conversation(server=server, bounds=bounds)
    if isinstance(server, Address):
        checked_address(server)
        from governance.live.session import converse_over_http

        return converse_over_http(server, conversation, mode=mode, last=last)
    with started(server) as process:
        return _over_stdio(process, conversation, mode=mode, last=last)


def _over_stdio(process: ServerProcess, conversation: Conversation, *, mode: str, last: bool) -> Heard | None:
    from governance.live.session import converse_over_stdio

    return converse_over_stdio(process, conversation, mode=mode, last=last)
