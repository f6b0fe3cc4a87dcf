"""``create_app`` wires the service together; nothing else does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI, Request
from fastapi_offline import FastAPIOffline
from starlette.concurrency import run_in_threadpool

from governance import __version__
from governance.comparing import Comparer
from governance.control import problems
from governance.control.audit.service import (
    Unauthenticated,
    append_refusal,
    append_unauthenticated,
)
from governance.control.database import Database
from governance.control.domains import JOBS, ROUTERS
from governance.control.edge import KNOWN_PARAMETERS_ONLY
from governance.control.events.feed import Feed
from governance.control.gates.verdicts import Verdicts
from governance.control.heads import HeadAsGet
from governance.control.health import router as health
from governance.control.identity.issuers import Issuers
from governance.control.jobs import Tools, running
from governance.control.observing import Observing
from governance.control.settings import Settings
from governance.control.skills.judging import Judge
from governance.errors import GovernanceError, ServiceUnavailable
from governance.opinion import CoversWorker
from governance.telemetry import Telemetry

log = logging.getLogger("governance.control")

FLUSH_SEC: Final = 10.0
"""How often requests that nobody could be held to become one audit entry."""

_ABOUT: Final = """
A registry and gate for the skills of AI agents. Every error is an RFC 9457 problem with a stable `code`, JSON
Pointers and a `fix`. Send `Authorization: Bearer TOKEN`; `X-Request-Id` and `traceparent` are kept.
"""


def create_app(settings: Settings) -> FastAPI:
    """The service on ``settings.database_url``, which must be set and migrated (:func:`serve` sees to both)."""
    if settings.database_url is None:
        raise ServiceUnavailable("No database is named.", fix="Set DATABASE_URL, or start it with `govctl serve`.")
    telemetry = Telemetry()
    opinion = CoversWorker()
    # The documentation page brings its own scripts: a service behind a wall shows it too.
    app = FastAPIOffline(
        title="skill-governance",
        version=__version__,
        description=_ABOUT,
        lifespan=_lifespan,
        redirect_slashes=False,
        redoc_url=None,
        dependencies=[KNOWN_PARAMETERS_ONLY],
    )
    app.state.settings = settings
    app.state.draining = False
    app.state.database = Database(settings.database_url, settings)
    app.state.telemetry = telemetry
    app.state.opinion = opinion
    app.state.verdicts = Verdicts(app.state.database)
    # A thread's own work, not the time it waits for others: a busy server would refuse what an idle one lets in.
    comparer = Comparer(opinion=opinion, ceiling_sec=settings.ceiling_ms / 1000 or None, clock=time.thread_time)
    app.state.judge = Judge(comparer=comparer, telemetry=telemetry, kept=app.state.verdicts)
    app.state.unauthenticated = Unauthenticated()
    app.state.issuers = Issuers(private=settings.oidc_private)
    app.state.feed = Feed(app.state.database, most=settings.max_event_streams)
    problems.install(app, _refused)
    app.add_middleware(HeadAsGet)
    app.add_middleware(Observing, telemetry=telemetry, failed=problems.failed)
    app.include_router(health)
    for router in ROUTERS:
        app.include_router(router)
    problems.describe(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    database: Database = app.state.database
    async with database.reading(), app.state.feed.open():
        tools = Tools(database=database, settings=app.state.settings, telemetry=app.state.telemetry)
        flushing = asyncio.create_task(_flush_regularly(app))
        try:
            async with running(JOBS, tools):
                yield
        finally:
            flushing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await flushing
            await run_in_threadpool(flush_unauthenticated, app)
    app.state.opinion.close()
    app.state.verdicts.close()
    database.close()


async def _refused(request: Request, error: GovernanceError) -> None:
    """Put a refusal on record: its entry commits though the attempt was undone.

    What cannot be put on record is answered as ServiceUnavailable.
    """
    telemetry: Telemetry = request.app.state.telemetry
    if error.status == 401:
        cause = str(error.details.get("cause", "unknown"))
        telemetry.count("governance_unauthenticated_total", cause=cause)
        request.app.state.unauthenticated.note(cause)
        return
    attempt = getattr(request.state, "attempt", None)
    caller = getattr(request.state, "caller", None)
    if attempt is None or caller is None:
        return
    if attempt.action == "skill.publish":
        telemetry.count("governance_publishes_total", result=error.code)
    elif attempt.action == "catalogue.release":
        telemetry.count("governance_releases_total", result=error.code)

    def write() -> None:
        with request.app.state.database.transaction() as session:
            append_refusal(session, attempt, error, by=caller)

    await run_in_threadpool(write)
    telemetry.count("governance_refusals_total", action=attempt.action, code=error.code)


def flush_unauthenticated(app: FastAPI) -> None:
    """Write the entry for the requests nobody could be held to since the last flush, if there were any."""
    counted: Unauthenticated = app.state.unauthenticated
    taken = counted.take()
    if taken is None:
        return
    try:
        with app.state.database.transaction() as session:
            append_unauthenticated(session, taken)
    except Exception:
        counted.give_back(taken)
        log.exception("refusals could not be put on record yet")


async def _flush_regularly(app: FastAPI) -> None:
    while True:
        await asyncio.sleep(FLUSH_SEC)
        await run_in_threadpool(flush_unauthenticated, app)
