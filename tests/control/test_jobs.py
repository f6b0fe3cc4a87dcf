"""Jobs run while the service does, and what has begun is waited for when it ends."""

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path
from typing import cast

from governance.control.database import Database
from governance.control.jobs import Job, Tools, running, spread
from governance.control.settings import Settings
from governance.telemetry import Telemetry


def tools(home: Path) -> Tools:
    return Tools(database=cast(Database, None), settings=Settings(home=home), telemetry=Telemetry())


def test_a_run_that_has_begun_is_waited_for(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()
    finished: list[bool] = []

    def run(_: Tools) -> int:
        begun.set()
        finished.append(go_on.wait(30))
        return 1

    async def service() -> None:
        async with running([Job(name="slow", every_sec=0.01, run=run, meaning="")], tools(tmp_path)):
            await asyncio.to_thread(begun.wait, 30)
            asyncio.get_running_loop().call_later(0.05, go_on.set)
        assert finished == [True]

    asyncio.run(service())


def test_a_job_that_fails_is_counted_and_tried_again(tmp_path: Path) -> None:
    tried = threading.Semaphore(0)
    given = tools(tmp_path)

    def run(_: Tools) -> int:
        tried.release()
        raise RuntimeError("nobody foresaw this")

    async def service() -> None:
        async with running([Job(name="broken", every_sec=0.01, run=run, meaning="")], given):
            for _ in range(2):
                assert await asyncio.to_thread(tried.acquire, True, 30)

    asyncio.run(service())
    assert b'governance_job_runs_total{job="broken",result="failed"}' in given.telemetry.render()


def test_a_job_that_is_not_due_yet_does_not_hold_the_end_up(tmp_path: Path) -> None:
    runs: list[int] = []

    async def service() -> None:
        job = Job(name="rare", every_sec=3_600, run=lambda _: runs.append(1) or 1, meaning="")
        async with asyncio.timeout(30), running([job], tools(tmp_path)):
            pass

    asyncio.run(service())
    assert runs == []


def test_the_interpreters_chance_is_left_alone() -> None:
    """A thread of the service must not disturb what somebody else repeats from a seed."""
    random.seed(7)
    before = random.getstate()
    waits = {spread(10.0) for _ in range(100)}
    assert random.getstate() == before
    assert len(waits) > 90
    assert all(8.0 <= wait <= 12.0 for wait in waits)
