"""Work that nobody asks for at the moment it is due: each job once over all replicas, whatever their number.

Every replica runs every job's loop. What is done is claimed in the database, in the transaction that does it: by
:func:`alone`, or by locking the rows themselves. So a replica that dies in the middle leaves nothing half done,
and the next one takes it up.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import text
from sqlmodel import Session
from starlette.concurrency import run_in_threadpool

from governance.control.database import Database
from governance.control.settings import Settings
from governance.telemetry import Telemetry, span

log = logging.getLogger("governance.control")

_CHANCE = random.Random()
"""Of its own: whoever seeds the interpreter's chance, to repeat what it did, is not disturbed by a thread of ours."""

_CLAIM = text("SELECT pg_try_advisory_xact_lock(hashtextextended('job:' || :name, 0))")


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a job works with. ``now`` is the replica's clock; what must agree over replicas asks the database's."""

    database: Database
    settings: Settings
    telemetry: Telemetry
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Job:
    """``run`` does what is due and tells how many things that were; it may be run at any time, any number of times."""

    name: str
    every_sec: float
    run: Callable[[Tools], int]
    meaning: str


def spread(seconds: float) -> float:
    """``seconds``, a fifth more or less: those who wait for the same do not all come at once."""
    return seconds * _CHANCE.uniform(0.8, 1.2)


def alone(session: Session, name: str) -> bool:
    """Is this transaction the only one that does ``name`` now? It stays so until the transaction ends."""
    return bool(session.execute(_CLAIM, {"name": name}).scalar())


def run_job(job: Job, tools: Tools) -> int:
    """Run a job now. What it raises is logged and counted; the loop goes on."""
    with span("governance.job", **{"governance.job": job.name}):
        try:
            done = job.run(tools)
        except Exception:
            log.exception("the job %s failed; it is tried again", job.name)
            tools.telemetry.count("governance_job_runs_total", job=job.name, result="failed")
            return 0
    tools.telemetry.count("governance_job_runs_total", job=job.name, result="done" if done else "idle")
    return done


@asynccontextmanager
async def running(jobs: Sequence[Job], tools: Tools) -> AsyncIterator[None]:
    """Run the jobs' loops for the block; a run that has begun is waited for."""
    ending = asyncio.Event()
    loops = [asyncio.create_task(_loop(job, tools, ending), name=f"job {job.name}") for job in jobs]
    try:
        yield
    finally:
        # not cancelled: a thread goes on all the same, and would find the database closed
        ending.set()
        await asyncio.gather(*loops)


async def _loop(job: Job, tools: Tools, ending: asyncio.Event) -> None:
    while True:
        # spread over the interval, so that replicas started together do not all knock at once
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ending.wait(), spread(job.every_sec))
        if ending.is_set():
            return
        await run_in_threadpool(run_job, job, tools)
