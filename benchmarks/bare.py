"""The baselines: FastAPI that says hello, and FastAPI that asks Postgres for 1, served as the service is served.

    .venv/bin/python benchmarks/bare.py DATABASE_URL

Prints its port and serves until it is told to stop; ``service.py`` starts it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool


def create_app(url: str) -> FastAPI:
    pool: AsyncConnectionPool[AsyncConnection[tuple[Any, ...]]] = AsyncConnectionPool(
        url, kwargs={"autocommit": True}, min_size=1, max_size=10, open=False
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with pool:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/hello")
    async def hello() -> dict[str, str]:
        return {"hello": "world"}

    @app.get("/select")
    async def select() -> dict[str, int]:
        async with pool.connection() as connection:
            row = await (await connection.execute("select 1")).fetchone()
        return {"one": row[0] if row else 0}

    return app


def main(url: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(create_app(url), log_config=None, access_log=False, server_header=False, ws="none")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
