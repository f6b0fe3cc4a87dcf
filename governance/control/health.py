"""``/livez /readyz /metrics``: open to all, for they tell nothing about anybody's skills."""

from __future__ import annotations

import asyncio
from typing import Final

import psycopg
from fastapi import APIRouter, Request
from fastapi.responses import Response

from governance.control.database import Database, head_revision
from governance.control.edge import NO_STORE, JSONAnswer
from governance.control.problems import responses
from governance.errors import ServiceUnavailable
from governance.telemetry import METRICS_MEDIA_TYPE, Telemetry
from governance.wire import Health

router = APIRouter(tags=["operations"])

_PATIENCE_SEC: Final = 3.0


@router.get("/livez", response_model=Health)
async def livez() -> Response:
    """The process answers."""
    return JSONAnswer(Health(status="ok"), headers={"Cache-Control": NO_STORE})


@router.get("/readyz", response_model=Health, responses=responses(ServiceUnavailable))
async def readyz(request: Request) -> Response:
    """The database answers and stands at the revision this code needs, and the service is not about to stop.

    Else 503, which says what is amiss.
    """
    if request.app.state.draining:
        raise ServiceUnavailable("This service is about to stop.", fix="Ask another replica.")
    database: Database = request.app.state.database
    try:
        async with asyncio.timeout(_PATIENCE_SEC), database.read() as connection:
            cursor = await connection.execute("SELECT version_num FROM alembic_version")
            row = await cursor.fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    except TimeoutError:
        raise ServiceUnavailable("The database does not answer.", fix="Check that Postgres runs.") from None
    current = None if row is None else str(row[0])
    if current != head_revision():
        raise ServiceUnavailable(
            f"The database is at revision {current}, this release needs {head_revision()}.",
            fix="Run `govctl migrate`.",
        )
    ready = Health(status="ok", checks={"database": "reachable", "migrations": f"at head ({current})"})
    return JSONAnswer(ready, headers={"Cache-Control": NO_STORE})


@router.get("/metrics", responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def metrics(request: Request) -> Response:
    """All samples in the Prometheus text format."""
    telemetry: Telemetry = request.app.state.telemetry
    database: Database = request.app.state.database
    idle, used = database.engine.pool.checkedin(), database.engine.pool.checkedout()  # type: ignore[attr-defined]
    reads = database.reads.get_stats()
    reads_idle = reads.get("pool_available", 0)
    for pool, state, number in (
        ("session", "idle", idle),
        ("session", "used", used),
        ("read", "idle", reads_idle),
        ("read", "used", reads.get("pool_size", 0) - reads_idle),
    ):
        telemetry.set("governance_db_pool_connections", number, pool=pool, state=state)
    return Response(telemetry.render(), media_type=METRICS_MEDIA_TYPE, headers={"Cache-Control": NO_STORE})
