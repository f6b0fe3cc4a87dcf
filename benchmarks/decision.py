"""Whether a decision stays as quick and as few in queries when the registry grows.

    .venv/bin/python benchmarks/decision.py [SKILLS]

Two registries on one embedded Postgres, seeded: 10 skills, and SKILLS (1,000), each of 20 versions in three lines with
200 consumers, half of which say which fields they use. The same questions go to skills of both, in turns, over HTTP:
a check of the next minor and of the next major, may the newest line retire, and the matrix. Before that, one check is
asked over and over, without consumers and with them. Latencies are medians and 95th percentiles in milliseconds;
statements, of which the median is shown, are counted where they leave the service.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import event

from governance.client import ControlPlane
from governance.control import embedded
from governance.control.serving import Serving, serving
from governance.control.settings import Settings
from governance.core.canonical import canonical_bytes
from governance.core.contract import manifest_from_document

CONSUMERS, ROUNDS, SMALL = 200, 60, 10
VERSIONS = [f"{major}.{minor}.0" for major in (1, 2, 3) for minor in range(7 if major < 3 else 6)]


_COPIED = (
    "sort_key, namespace, declared, computed, level, verdict, baseline, opens_line, decision, opened_by, published_at,"
    " published_by"
)
_VERSION = f"""
INSERT INTO skill_version (skill, version, manifest, manifest_digest, contract_digest, {_COPIED})
VALUES (%s, %s, %s, %s, %s, {", ".join(["%s"] * 12)})
"""
_CARD = """
INSERT INTO skill SELECT %(name)s, namespace, %(short)s, title, description, owner, category, tags, fields, search,
latest, state, versions, created_at, updated_at, sunset FROM skill WHERE name = 'bench.skill_0'
"""
_STATES = """
INSERT INTO skill_version_state (skill, sort_key, state, revision, updated_at)
SELECT %(name)s, sort_key, state, revision, updated_at FROM skill_version_state WHERE skill = 'bench.skill_0'
"""
_CONSUMER = """
INSERT INTO consumer (name, owner, revision, created_at, updated_at, updated_by)
VALUES (%s, %s, 1, now(), now(), 'seed') ON CONFLICT DO NOTHING
"""
_NEEDS = """
COPY consumer_need (skill, consumer, environment, source, range, reads, sends, first_seen_at, last_seen_at) FROM STDIN
"""


def manifest(number: int, version: str) -> dict[str, Any]:
    """A skill of a dozen fields; each minor adds an optional input, each major a required one."""
    major, minor, _ = map(int, version.split("."))
    options = {f"option_{step}": {"type": "boolean"} for step in range(minor)}
    scopes = {f"scope_{step}": {"type": "string"} for step in range(1, major)}
    fields = {f"field_{letter}": {"type": "string", "maxLength": 200} for letter in "abcdef"}
    return {
        "name": f"bench.skill_{number}",
        "version": version,
        "compatibility": "breaking_change" if minor == 0 and major > 1 else "input_compatible",
        "description": f"Use when somebody wants the documents of collection {number} that match a question.",
        "owner": "team-search",
        "side_effects": "read",
        "timeout_sec": 10,
        "input_schema": {
            "type": "object",
            "properties": {**fields, **options, **scopes},
            "required": ["field_a", *scopes],
        },
        "output_schema": {
            "type": "object",
            "properties": {f"out_{letter}": {"type": "string"} for letter in "uvwxyz"},
            "required": ["out_u", "out_v"],
        },
    }


def seed(url: str, skills: range) -> None:
    """Skills like number 0, which was published through the gate, and the consumers of each."""
    chance = random.Random(7)
    with psycopg.connect(url) as connection:
        template = connection.execute(
            f"SELECT {_COPIED}, version FROM skill_version WHERE skill = 'bench.skill_0' ORDER BY sort_key"
        ).fetchall()
        for number in filter(None, skills):
            name = f"bench.skill_{number}"
            connection.execute(_CARD, {"name": name, "short": f"skill_{number}"})
            for *copied, version in template:
                one = manifest_from_document(manifest(number, version))
                content = canonical_bytes(one.to_document())
                digests = (one.manifest_digest, one.contract_digest)
                connection.execute(_VERSION, (name, version, content, *digests, *copied))
            connection.execute(_STATES, {"name": name})
        for number in range(CONSUMERS):
            connection.execute(_CONSUMER, (f"agent-{number}", f"team-{number % 20}"))
        with connection.cursor() as cursor, cursor.copy(_NEEDS) as copy:
            now = datetime.now(UTC)
            for number in skills:
                for consumer in range(CONSUMERS):
                    uses = consumer % 2 == 0
                    reads = chance.sample(["/out_u", "/out_v", "/out_w", "/out_x"], 2) if uses else None
                    sends = ["/field_a", "/field_b"] if uses else None
                    row = (f"bench.skill_{number}", f"agent-{consumer}", "", "declared", f"^{1 + consumer % 3}.0.0")
                    copy.write_row((*row, reads, sends, now, now))


@contextmanager
def counting(running: Serving) -> Iterator[Callable[[], int]]:
    """Statements that the service has sent so far, over both of its pools."""
    count, lock = [0], threading.Lock()

    def one(*_: Any) -> None:
        with lock:
            count[0] += 1

    event.listen(running.app.state.database.engine, "before_cursor_execute", one)
    execute = psycopg.AsyncCursor.execute

    async def counted(self: Any, *given: Any, **named: Any) -> Any:
        one()
        return await execute(self, *given, **named)

    psycopg.AsyncCursor.execute = counted  # type: ignore[method-assign]
    try:
        yield lambda: count[0]
    finally:
        psycopg.AsyncCursor.execute = execute  # type: ignore[method-assign]
        event.remove(running.app.state.database.engine, "before_cursor_execute", one)


QUESTIONS: dict[str, Callable[[ControlPlane, int], object]] = {
    "check of the next minor": lambda plane, number: plane.check([manifest(number, "3.6.0")]),
    "check of the next major": lambda plane, number: plane.check([manifest(number, "4.0.0")]),
    "may the newest line retire": lambda plane, number: plane.can_i_retire(f"bench.skill_{number}", "3.5.0"),
    "matrix, 20 by 200": lambda plane, number: plane.matrix(f"bench.skill_{number}"),
}


def again(plane: ControlPlane) -> list[float]:
    """Seconds of one check, asked over and over."""
    found = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        plane.check([manifest(0, "3.6.0")])
        found.append(time.perf_counter() - started)
    return found[1:]


def consumers() -> tuple[list[float], list[float]]:
    """Seconds of a check that was asked before: where nobody relies on the skill, and with all consumers."""
    with (
        tempfile.TemporaryDirectory() as home,
        embedded.start(Path(home)) as database,
        serving(Settings(home=Path(home), port=0)) as running,
        ControlPlane(running.address, running.token) as plane,
    ):
        for version in VERSIONS:
            plane.put_version(manifest(0, version))
        alone = again(plane)
        seed(database.owner_url, range(1))
        return alone, again(plane)


def shown(seconds: list[float]) -> str:
    """Median and 95th percentile, in milliseconds."""
    return f"{statistics.median(seconds) * 1e3:.1f}, {sorted(seconds)[int(len(seconds) * 0.95)] * 1e3:.1f}"


def measure(skills: int) -> dict[str, tuple[list[float], list[int]]]:
    """Seconds and statements of every question, each asked of another skill each time."""
    with tempfile.TemporaryDirectory() as home, embedded.start(Path(home)) as database:
        settings = Settings(home=Path(home), port=0)
        with serving(settings) as running, ControlPlane(running.address, running.token) as plane:
            for version in VERSIONS:
                plane.put_version(manifest(0, version))
            seed(database.owner_url, range(skills))
            with psycopg.connect(database.owner_url, autocommit=True) as connection:
                connection.execute("ANALYZE")
            found: dict[str, tuple[list[float], list[int]]] = {name: ([], []) for name in QUESTIONS}
            with counting(running) as statements:
                for turn in range(ROUNDS):
                    for name, ask in QUESTIONS.items():
                        before, started = statements(), time.perf_counter()
                        ask(plane, (turn * 7 + 1) % skills)
                        found[name][0].append(time.perf_counter() - started)
                        found[name][1].append(statements() - before)
    return found


def main(skills: int) -> None:
    alone, relied_on = map(shown, consumers())
    print(f"A check that was asked before: nobody relies on it {alone}; {CONSUMERS} consumers {relied_on}\n")
    few, many = measure(SMALL), measure(skills)
    print(f"| question | {SMALL} skills: median, p95 | {skills} skills: median, p95 | statements |")
    print("| --- | --- | --- | --- |")
    for name in QUESTIONS:
        cells = [shown(seconds) for seconds, _ in (few[name], many[name])]
        counts = " / ".join(str(round(statistics.median(one[name][1]))) for one in (few, many))
        print(f"| {name} | {cells[0]} | {cells[1]} | {counts} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
