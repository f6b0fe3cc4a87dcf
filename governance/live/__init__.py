"""A running MCP server, started or called, asked once for all its tools, and gone again.

The official SDK speaks the protocol; what is kept is what the server really sent, read as strictly as a saved
file. Everything a server does is bounded: time, bytes, pages, tools. The SDK takes two seconds to import, so it
is imported while the server starts, and by nobody who does not ask one.
"""

from __future__ import annotations

from governance.live.conversation import Conversation, Manner, NoHandshake
from governance.live.model import DEFAULT_BOUNDS, Address, Bounds, Command, Heard, Server, checked_address
from governance.live.process import started

__all__ = ["DEFAULT_BOUNDS", "Address", "Bounds", "Command", "Heard", "Server", "checked_address", "read_server"]


def read_server(server: Server, *, bounds: Bounds = DEFAULT_BOUNDS) -> Heard:
    """All tools that the server offers now.

    A started server has ended when this returns, with everything it started in turn.

    Raises:
        UsageError: the command or the address cannot be used as given.
        ToolServerFailed: it died, stayed silent, broke the protocol, never ended its list, or went past a bound.
    """
    try:
        return _read(server, bounds, Manner.HANDSHAKE)
    except NoHandshake:
        return _read(server, bounds, Manner.DISCOVER)


def _read(server: Server, bounds: Bounds, manner: Manner) -> Heard:
    conversation = Conversation(server=server, bounds=bounds, manner=manner)
    if isinstance(server, Address):
        checked_address(server)
        from governance.live.session import converse_over_http

        return converse_over_http(server, conversation)
    with started(server) as process:
        from governance.live.session import converse_over_stdio

        return converse_over_stdio(process, conversation)
