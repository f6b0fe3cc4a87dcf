"""Helpers save time and nothing else: the same answers in the same order, whatever becomes of the helpers."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from governance.cli import crew as crew_module
from governance.cli.crew import MOST_JOBS, Crew, jobs_for
from governance.opinion import CoversWorker
from tests.cli.conftest import GOVCTL, Govctl
from tests.cli.crewwork import killed_elsewhere, refused_at, told, unpicklable
from tests.cli.toollists import NARROWER, OLD, WIDER, tools, write

HERE = os.getpid()


@pytest.fixture(params=["started anew", *(["copied"] if sys.platform == "linux" else [])])
def started(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to start a helper that the platform has."""
    monkeypatch.setattr(crew_module, "_may_copy", lambda: request.param == "copied")


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("started")
def test_answers_come_in_order_from_all_processes() -> None:
    with Crew(2) as crew:
        answers = list(crew.each(told, range(200)))
        again = list(crew.each(told, range(50)))
    assert [square for square, _ in answers] == [item * item for item in range(200)]
    assert [square for square, _ in again] == [item * item for item in range(50)]
    assert len({process for _, process in answers}) > 1


@pytest.mark.usefixtures("started")
def test_helpers_that_are_killed_lose_no_answer() -> None:
    with Crew(3) as crew:
        assert list(crew.each(partial(killed_elsewhere, HERE), range(100))) == [item * item for item in range(100)]
        assert list(crew.each(partial(killed_elsewhere, HERE), range(9))) == [item * item for item in range(9)]


def test_an_error_comes_where_it_would_come_without_helpers() -> None:
    for count in (1, 2, 3):
        with Crew(count) as crew:
            answers = crew.each(partial(refused_at, 40), range(100))
            assert [next(answers) for _ in range(40)] == list(range(40))
            with pytest.raises(ValueError, match="40 is too much"):
                next(answers)


def test_answers_that_cannot_be_sent_are_made_here() -> None:
    with Crew(2) as crew:
        assert [answer() for answer in crew.each(unpicklable, range(40))] == list(range(40))


def test_answers_that_nobody_waits_for_are_never_taken_for_others() -> None:
    with Crew(2) as crew:
        answers = crew.each(told, range(100))
        next(answers)
        del answers
        assert [square for square, _ in crew.each(told, range(30))] == [item * item for item in range(30)]


def test_one_job_has_no_helpers() -> None:
    with Crew(1) as crew:
        assert {process for _, process in crew.each(told, range(20))} == {HERE}
        assert multiprocessing.active_children() == []


def test_little_work_is_worth_no_helper_and_much_is_worth_a_core_each(monkeypatch: pytest.MonkeyPatch) -> None:
    for there in (1, 2, 5, 500):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, there=there: set(range(there)), raising=False)
        assert jobs_for(1000) == 1
        assert jobs_for(100_000_000) == min(there, MOST_JOBS)


@pytest.mark.usefixtures("started")
def test_a_check_says_the_same_to_the_byte_with_any_number_of_jobs(here: Govctl, tmp_path: Path) -> None:
    olds = {f"tool_{at}": OLD for at in range(24)}
    news = {name: (OLD, WIDER, NARROWER)[at % 3] for at, name in enumerate(olds) if at != 7} | {"other": WIDER}
    old, new = write(tmp_path / "old.json", tools(**olds)), write(tmp_path / "new.json", tools(**news))
    words = ("check", new, "--against", old, "--ceiling-ms", "0", "-o", "json", "--jobs")
    one, two = here(*words, "1"), here(*words, "2")
    assert one == two
    assert (one.code, one.json["decision"]) == (1, "block")


def test_a_check_of_too_low_a_version_says_so_with_any_number_of_jobs(here: Govctl, tmp_path: Path) -> None:
    file = write(tmp_path / "tools.json", tools(**{f"tool_{at}": OLD for at in range(30)}))
    words = ("check", file, "--against", file, "--old-version", "2.0.0", "--version", "1.0.0", "--jobs")
    one, two = here(*words, "1"), here(*words, "2")
    assert one == two
    assert (one.code, "tool_0 is 1.0.0 and stands at 2.0.0" in one.err) == (2, True)


def test_on_a_terminal_a_check_shows_how_far_it_is(tmp_path: Path) -> None:
    file = write(tmp_path / "tools.json", tools(**{f"tool_{at}": OLD for at in range(30)}))
    master, slave = pty.openpty()
    words = [str(GOVCTL), "check", str(file), "--against", str(file), "--jobs", "2"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"}, cwd=tmp_path
    ) as process:
        os.close(slave)
        drawn = b""
        with contextlib.suppress(OSError):  # a terminal whose other end closed
            while chunk := os.read(master, 65536):
                drawn += chunk
        os.close(master)
        assert process.stdout is not None
        assert b"\x1b" not in process.stdout.read()
    assert process.returncode == 0
    assert b"checking" in drawn


def test_a_number_of_jobs_is_a_small_number(here: Govctl) -> None:
    for wrong in ("0", "-1", "two", "1e3", "9999"):
        assert here("check", ".", "--jobs", wrong).code == 2, wrong


def test_a_second_opinion_that_is_sent_away_is_set_up_alike() -> None:
    opinion = CoversWorker(timeout_sec=0.5, memory_mb=512, assert_formats=True)
    make, arguments = opinion.__reduce__()
    other = make(*arguments)
    assert isinstance(other, CoversWorker)
    assert other._arguments == opinion._arguments
    assert other._timeout == 0.5


OWNER = """
import os, sys, time
from governance.cli.crew import Crew

def work(item):
    time.sleep(0.2)
    return item

if __name__ == "__main__":
    with Crew(3) as crew:
        print(*[helper._process.pid for helper in crew._helpers], flush=True)
        list(crew.each(work, range(1000)))
"""


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_helper_outlives_its_owner(tmp_path: Path, ending: signal.Signals) -> None:
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    owner: Any = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with owner:
        helpers = [int(word) for word in owner.stdout.readline().split()]
        assert len(helpers) == 2
        time.sleep(0.3)
        if ending is signal.SIGINT:
            os.killpg(owner.pid, ending)  # as a terminal does
        else:
            owner.send_signal(ending)
        said = owner.stderr.read()
        owner.wait()
    assert said.count("Traceback") == (ending is signal.SIGINT)  # the owner's own alone
    deadline = time.monotonic() + 20
    while any(map(is_there, helpers)):
        assert time.monotonic() < deadline, "a helper is still there"
        time.sleep(0.02)
