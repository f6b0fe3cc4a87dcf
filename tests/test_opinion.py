"""The second opinion answers what it can prove, and never takes its owner down with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from governance.opinion import MAX_REQUEST_BYTES, CoversWorker

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
SLOW_ONE = {
    "allOf": [
        {
            "anyOf": [
                {"properties": {f"p{i}": {"type": "string"}}, "required": [f"p{i}"]},
                {"properties": {f"q{i}": {"type": "integer"}}, "minProperties": i},
            ]
        }
        for i in range(18)
    ]
}


@pytest.fixture
def worker() -> Iterator[CoversWorker]:
    worker = CoversWorker(timeout_sec=5)
    yield worker
    worker.close()


def test_it_says_yes_for_a_subset_and_never_yes_for_the_reverse(worker: CoversWorker) -> None:
    assert worker(INTEGER, NUMBER) is True
    assert worker(NUMBER, INTEGER) is not True


def test_schemas_of_two_drafts_get_no_answer(worker: CoversWorker) -> None:
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "integer"}
    assert worker(draft_7, NUMBER) is None


def test_a_named_draft_decides_how_a_schema_without_one_is_read(worker: CoversWorker) -> None:
    tuple_items = {"type": "array", "items": [INTEGER]}
    assert worker(tuple_items, {"type": "array"}, "7") is True
    assert worker(tuple_items, {"type": "array"}) is None


def test_formats_are_annotations_unless_asserted(worker: CoversWorker) -> None:
    date, text = {"type": "string", "format": "date"}, {"type": "string"}
    assert worker(text, date, "7") is True
    strict = CoversWorker(timeout_sec=5, assert_formats=True)
    assert strict(text, date, "7") is not True
    strict.close()


@pytest.mark.parametrize(
    "schema",
    [
        None,
        5,
        {"type": "nothing-known"},
        {"$ref": "http://example.invalid/never-fetched"},
        {"const": "\ud800"},
        {"pattern": "("},
        {"$ref": "#/$defs/missing"},
    ],
)
def test_what_is_no_usable_schema_gets_no_answer_and_the_next_question_is_served(
    worker: CoversWorker, schema: Any
) -> None:
    assert worker(schema, schema) is None
    assert worker(INTEGER, NUMBER) is True


def test_numbers_beyond_doubles_reach_it_exactly(worker: CoversWorker) -> None:
    assert worker({"const": 10**400}, INTEGER) is True
    assert worker({"const": Decimal("0.1000000000000000055")}, {"const": Decimal("0.1")}) is not True


def test_a_question_that_takes_too_long_is_given_up_and_its_process_killed() -> None:
    worker = CoversWorker(timeout_sec=0.2)
    worker(INTEGER, NUMBER)
    began = time.monotonic()
    assert worker(SLOW_ONE, {"allOf": SLOW_ONE["allOf"][:17]}) is None
    assert time.monotonic() - began < 3
    patient = CoversWorker(timeout_sec=5)
    assert patient(INTEGER, NUMBER) is True
    worker.close()
    patient.close()


def test_a_process_that_dies_midway_is_replaced(worker: CoversWorker) -> None:
    worker(INTEGER, NUMBER)
    process = worker._process
    assert process is not None
    os.kill(process.pid, signal.SIGABRT)
    process.wait(timeout=10)
    assert worker(INTEGER, NUMBER) is True
    assert worker._process is not None
    assert worker._process.pid != process.pid


def test_memory_is_limited_so_that_a_greedy_question_kills_only_the_worker() -> None:
    worker = CoversWorker(timeout_sec=10, memory_mb=1)
    assert worker(INTEGER, NUMBER) is None
    worker.close()


def test_a_question_that_is_too_big_or_too_deep_is_not_asked(worker: CoversWorker) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"not": deep}
    assert worker(deep, {}) is None
    assert worker({"description": "x" * (MAX_REQUEST_BYTES + 1)}, {}) is None
    assert worker._process is None


def test_threads_may_share_it(worker: CoversWorker) -> None:
    answers: list[tuple[bool | None, bool | None]] = []

    def ask() -> None:
        for _ in range(20):
            answers.append((worker(INTEGER, NUMBER), worker({"type": "boolean"}, {"type": "string"})))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 80
    assert all(yes is True and no is not True for yes, no in answers)


def test_an_interpreter_that_ends_leaves_no_worker_behind() -> None:
    program = (
        "from governance.opinion import CoversWorker\n"
        "worker = CoversWorker(timeout_sec=5)\n"
        "assert worker({'type': 'integer'}, {'type': 'number'}) is True\n"
        "print(worker._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
