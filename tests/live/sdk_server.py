"""A server by the official SDK, as its authors write one."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field


class Refund(BaseModel):
    refunded: bool
    amount: Annotated[float, Field(ge=0)]


def sdk_server() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("Shop Tools", version="1.4.0", log_level="ERROR")

    @server.tool(title="Refund an order", annotations=ToolAnnotations(destructive_hint=True))
    def create_refund(order_id: str, reason: str | None = None) -> Refund:
        """Refund an order. Use it when a customer returns goods."""
        raise NotImplementedError

    @server.tool()
    def find_orders(query: str, limit: int = 20) -> list[str]:
        """Find orders by words."""
        raise NotImplementedError

    return server


if __name__ == "__main__":
    sdk_server().run("stdio")
