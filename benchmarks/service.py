"""What the service costs beside bare FastAPI in the same run: publishing, reading a version, resolving.

    .venv/bin/python benchmarks/service.py [ROUNDS]

One embedded Postgres with fsync on, one worker, authentication on, a seeded catalogue. Each subject comes right
after a run of both baselines, and its ratios are to those; medians over the rounds are shown. CPU is that of the
service's and of the database's processes, from /proc. "Cold" is the first time after a start of
the service that a thing is asked for, "warm" each time after. Needs Linux.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from load import Answers, costing, request, send

from governance.control import embedded

SKILLS, CLIENTS = 200, 4
READS = 1_500
PAIRED = 600
"""Requests to each baseline right before a subject: what the machine did meanwhile shows in both."""
VERSIONS = ("1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0")
"""Each minor adds an optional input; the major adds a required one, so that every skill has two lines."""
BARE_READ, BARE_QUERY = "bare FastAPI: hello", "bare FastAPI + psycopg: select 1"
_START_SEC = 60


def manifest(number: int, version: str) -> dict[str, Any]:
    """A skill of ordinary size: about ten fields, one nested, and a rule. Equal arguments give equal skills."""
    major, minor, _ = map(int, version.split("."))
    fields: dict[str, Any] = {
        "query": {"type": "string", "minLength": 1, "description": "What to look for, in the user's own words."},
        "language": {"type": "string", "enum": ["en", "fr", "zh", "de"], "default": "en"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
        "since": {"type": ["string", "null"], "format": "date", "description": "Nothing older than this day."},
        "area": {
            "type": "object",
            "properties": {"country": {"type": "string"}, "city": {"type": "string"}, "radius": {"type": "number"}},
            "required": ["country"],
        },
    }
    for step in range(1, minor + 1):
        fields[f"option_{step}"] = {"type": "boolean", "default": False, "description": f"Choice {step} of the search."}
    for step in range(2, major + 1):
        fields[f"scope_{step}"] = {"type": "string", "description": "Whose documents to look through."}
    hit = {"id": {"type": "string"}, "title": {"type": "string"}, "score": {"type": "number", "minimum": 0}}
    return {
        "name": f"bench.search_{number}",
        "version": version,
        "compatibility": "breaking_change" if (minor, major > 1) == (0, True) else "input_compatible",
        "description": f"Use when somebody wants documents of collection {number} that match a question.",
        "owner": "team-search",
        "tags": ["search", "documents"],
        "side_effects": "read",
        "timeout_sec": 10,
        "input_schema": {
            "type": "object",
            "properties": fields,
            "required": ["query", *(f"scope_{step}" for step in range(2, major + 1))],
            "additionalProperties": False,
        },
        "output_schema": {
            "type": "object",
            "properties": {
                "hits": {"type": "array", "items": {"type": "object", "properties": hit, "required": list(hit)}},
                "total": {"type": "integer", "minimum": 0},
            },
            "required": ["hits", "total"],
        },
    }


@dataclass(frozen=True, kw_only=True)
class Target:
    """A server under load: where it listens, and the process it is."""

    port: int
    pid: int
    token: str = ""

    def ask(self, method: str, path: str, *, body: Any = None, etag: str = "") -> bytes:
        headers = {"Authorization": f"Bearer {self.token}"} | ({"If-None-Match": etag} if etag else {})
        return request(method, path, headers=headers, body=None if body is None else json.dumps(body).encode())

    def publish(self, number: int, version: str) -> bytes:
        return self.ask("PUT", _path(number, version), body=manifest(number, version))

    def resolve(self, *numbers: int, consumer: str | None = None) -> bytes:
        questions = [{"skill": f"bench.search_{number}", "range": "^1.1"} for number in numbers]
        body = {"questions": questions} | ({"consumer": consumer} if consumer else {})
        return self.ask("POST", "/v1/resolve", body=body)


def _path(number: int, version: str) -> str:
    return f"/v1/skills/bench.search_{number}/versions/{version}"


# ── processes ──


@contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        process.wait(_START_SEC)


@contextmanager
def serving(home: Path) -> Iterator[Target]:
    """`govctl serve` in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment |= {"GOVCTL_HOME": str(home)}
    environment.pop("DATABASE_URL", None)
    argv = [str(Path(sys.executable).parent / "govctl"), "serve", "--port", "0"]
    with (home.parent / "serve.log").open("w") as log:
        process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    with _ended(process):
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        if found is None:
            raise SystemExit(f"The service did not start: {said or (home.parent / 'serve.log').read_text()[-2000:]}")
        token: str = json.loads((home / "server.json").read_text())["token"]
        target = Target(port=int(found[1]), pid=process.pid, token=token)
        _await(target, target.ask("GET", "/readyz"))
        yield target


@contextmanager
def bare(url: str) -> Iterator[Target]:
    argv = [sys.executable, str(Path(__file__).with_name("bare.py")), url]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    with _ended(process):
        assert process.stdout is not None
        target = Target(port=int(process.stdout.readline()), pid=process.pid)
        _await(target, target.ask("GET", "/select"))
        yield target


def _await(target: Target, question: bytes) -> None:
    deadline = time.monotonic() + _START_SEC
    while True:
        try:
            if send(target.port, [question], clients=1).last.keys() == {200}:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


# ── measuring ──


@dataclass(kw_only=True)
class Row:
    """What one subject cost in each round."""

    rates: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    """CPU seconds a request; ``database`` alike."""
    database: list[float] = field(default_factory=list)
    ratios: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """By baseline: this rate in the baseline's, and the baseline's CPU in this one's, both best at 1."""
    queries: float | None = None

    @property
    def cpu(self) -> float:
        """Of the latest run."""
        return self.server[-1] + self.database[-1]


@dataclass(kw_only=True)
class Bench:
    """``plain`` answers the baselines, which go before each subject."""

    database: embedded.Server
    plain: Target
    rows: dict[str, Row] = field(default_factory=dict)

    def beside(
        self, name: str, target: Target, requests: Sequence[bytes], *, status: int = 200, clients: int = CLIENTS
    ) -> None:
        """:meth:`run` after both baselines, with the ratios."""
        self.run(BARE_READ, self.plain, [self.plain.ask("GET", "/hello")] * PAIRED, clients=clients)
        self.run(BARE_QUERY, self.plain, [self.plain.ask("GET", "/select")] * PAIRED, clients=clients)
        self.run(name, target, requests, status=status, clients=clients)
        row = self.rows[name]
        for other in (BARE_READ, BARE_QUERY):
            base = self.rows[other]
            row.ratios.setdefault(other, []).append((row.rates[-1] / base.rates[-1], base.cpu / row.cpu))

    def run(
        self, name: str, target: Target, requests: Sequence[bytes], *, status: int = 200, clients: int = CLIENTS
    ) -> Answers:
        """Send the requests and note what they cost. Stops where another status than ``status`` comes back."""
        assert self.database.pid is not None
        with costing(target.pid, self.database.pid) as cost:
            answers = send(target.port, requests, clients=clients)
        unwanted = [answer for other, answer in answers.last.items() if other != status]
        if unwanted:
            raise SystemExit(f"{name}: {unwanted[0][0][:12]!r} instead of {status}: {unwanted[0][1][:2000]!r}")
        row = self.rows.setdefault(name, Row())
        row.rates.append(answers.rate)
        row.p50.append(answers.percentile(0.5))
        row.p99.append(answers.percentile(0.99))
        row.server.append(cost.server / len(requests))
        row.database.append(cost.database / len(requests))
        return answers

    def count(self, name: str, target: Target, requests: Sequence[bytes]) -> None:
        """Note how many statements a request sends, from the database's own log."""
        log = self.database.data.parent / "log" / "server.log"
        with psycopg.connect(self.database.superuser_url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET log_statement = 'all'")
            connection.execute("SELECT pg_reload_conf()")
            time.sleep(0.3)
            mark = log.stat().st_size
            send(target.port, requests, clients=1)
            time.sleep(0.1)
            with log.open("rb") as file:
                file.seek(mark)
                said = re.findall(rb"LOG:  (?:statement|execute [^:]*): ?(.*)", file.read())
            connection.execute("ALTER SYSTEM RESET log_statement")
            connection.execute("SELECT pg_reload_conf()")
        self.rows[name].queries = len(said) / len(requests)


def publish(bench: Bench, home: Path) -> None:
    """Seed the catalogue, which measures publishing as well."""
    with serving(home) as service:
        for version in VERSIONS:
            kind = "publish: first version" if version == VERSIONS[0] else "publish: next version"
            requests = [service.publish(number, version) for number in range(SKILLS)]
            bench.beside(f"{kind}, {CLIENTS} clients", service, requests, status=201)
        for version in ("2.2.0", "2.3.0", "2.4.0"):
            requests = [service.publish(number, version) for number in range(SKILLS)]
            bench.beside("publish: next version, 1 client", service, requests, status=201, clients=1)
        requests = [service.publish(number, "2.5.0") for number in range(20)]
        bench.count("publish: next version, 1 client", service, requests)


def read(bench: Bench, home: Path, *, last: bool) -> None:
    """One round of everything that reads."""
    with serving(home) as service:
        every = [(number, version) for version in VERSIONS for number in range(SKILLS)]
        versions = [service.ask("GET", _path(*one)) for one in every]
        head, body = send(service.port, versions[:1], clients=1).last[200]
        digest, etag = json.loads(body)["manifest_digest"], _header(head, b"etag")
        alone = [service.resolve(number % SKILLS) for number in range(READS)]
        named = [service.resolve(number % SKILLS, consumer="bench") for number in range(READS)]
        batches = [service.resolve(*range(start, start + 50)) for start in range(0, SKILLS - 50, 2)]
        fresh = f"cold-{time.time_ns()}"
        subjects: dict[str, Sequence[bytes]] = {
            "GET version, cold": versions[1:],
            "GET version, warm": versions[1:] * 2,
            "GET version, 304": [service.ask("GET", _path(0, VERSIONS[0]), etag=etag)] * READS,
            "GET blob": [service.ask("GET", f"/v1/blobs/{digest}")] * READS,
            "resolve, anonymous, cold": alone[:SKILLS],
            "resolve, anonymous, warm": alone,
            "resolve, named, first contact": [service.resolve(number, consumer=fresh) for number in range(SKILLS)],
            "resolve, named, known": named,
            "resolve, batch of 50, warm": batches,
        }
        send(service.port, named[:SKILLS], clients=CLIENTS)  # from here on the consumer is known
    with serving(home) as service:
        subjects = {name: [_with(service.token, one) for one in requests] for name, requests in subjects.items()}
        for name, requests in subjects.items():
            bench.beside(name, service, requests, status=304 if name.endswith("304") else 200)
        if last:
            for name in ("GET version, warm", "GET version, 304", "GET blob", *list(subjects)[5:]):
                bench.count(name, service, subjects[name][:20])
    if last:
        bench.count(BARE_QUERY, bench.plain, [bench.plain.ask("GET", "/select")] * 20)


def _with(token: str, question: bytes) -> bytes:
    """A start of the service may have made another token."""
    return re.sub(rb"Bearer \S+", b"Bearer " + token.encode(), question, count=1)


def _header(head: bytes, name: bytes) -> str:
    found = re.search(rb"\r\n" + name + rb": ([^\r]+)", head)
    assert found is not None
    return found[1].decode()


# ── telling ──


def table(rows: dict[str, Row]) -> Iterator[str]:
    """Medians over the runs. Ratios to hello and to select: of rates, and of CPU (Python and Postgres together)."""
    middle: Callable[[Iterable[float]], float] = statistics.median
    yield "| subject | req/s | p50 / p99 ms | CPU µs: Python + Postgres | statements | rate ÷ | CPU ÷ |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, row in sorted(rows.items(), key=lambda item: item[0] not in {BARE_READ, BARE_QUERY}):
        ratios = [
            ", ".join(f"{middle(pair[which] for pair in pairs):.2f}" for pairs in row.ratios.values())
            for which in (0, 1)
        ]
        latency = f"{middle(row.p50) * 1e3:.1f} / {middle(row.p99) * 1e3:.1f}"
        cpu = f"{middle(row.server) * 1e6:,.0f} + {middle(row.database) * 1e6:,.0f}"
        queries = "" if row.queries is None else f"{row.queries:.0f}"
        yield f"| {name} | {middle(row.rates):,.0f} | {latency} | {cpu} | {queries} | {ratios[0]} | {ratios[1]} |"


def main(rounds: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="gov-bench-", dir="/tmp"))
    folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
    try:
        with embedded.start(folder / "home") as database, bare(database.service_url) as plain:
            bench = Bench(database=database, plain=plain)
            publish(bench, folder / "home")
            for number in range(rounds):
                read(bench, folder / "home", last=number == rounds - 1)
            with psycopg.connect(database.superuser_url) as connection:
                fsync, version = connection.execute(
                    "SELECT current_setting('fsync'), current_setting('server_version')"
                ).fetchone() or ("?", "?")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{SKILLS} skills x {len(VERSIONS)} versions and more, {CLIENTS} clients unless said, {rounds} rounds;")
    print(f"Python {sys.version.split()[0]}, Postgres {version}, fsync {fsync}, {os.cpu_count()} cores\n")
    print("\n".join(table(bench.rows)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
