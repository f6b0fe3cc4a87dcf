"""Fifty clients publish at once over two replicas: one winner a version, none lost, none twice, each told the truth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from registry import Manifest, Service

from governance.control.settings import Settings
from governance.core.versioning import Version

CLIENTS = 50
_SERVE = (
    "import os; from governance.control.serving import serve; from governance.control.settings import Settings;"
    "serve(Settings.from_environment(os.environ))"
)


@dataclass(frozen=True, kw_only=True)
class Replica:
    address: str
    token: str


@contextmanager
def replica(settings: Settings, home: Path) -> Iterator[Replica]:
    """Another service process on the same database."""
    environment = {
        **os.environ,
        "DATABASE_URL": settings.database_url or "",
        "DATABASE_OWNER_URL": settings.database_owner_url or "",
        "GOVCTL_HOME": str(home),
        "GOVCTL_PORT": "0",
    }
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield Replica(**json.loads((home / "server.json").read_text()))
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.fixture
def replicas(service: Service, settings: Settings, tmp_path: Path) -> Iterator[Sequence[Replica]]:
    with replica(settings, tmp_path / "other") as other:
        yield [Replica(address=service.serving.address, token=service.serving.token), other]


def at_once(replicas: Sequence[Replica], ask: Callable[[httpx.Client, int], httpx.Response]) -> list[httpx.Response]:
    """The answers of all clients, by their number; each has a connection of its own to one of the replicas."""
    start = threading.Barrier(CLIENTS)
    answers: dict[int, httpx.Response] = {}

    def work(number: int) -> None:
        chosen = replicas[number % len(replicas)]
        headers = {"Authorization": f"Bearer {chosen.token}"}
        with httpx.Client(base_url=chosen.address, headers=headers, timeout=120) as http:
            start.wait()
            answers[number] = ask(http, number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(CLIENTS)]


def put(http: httpx.Client, document: dict[str, object]) -> httpx.Response:
    return http.put(f"/v1/skills/{document['name']}/versions/{document['version']}", json=document)


def outcomes(service: Service, action: str) -> Counter[str]:
    return Counter(entry["outcome"] for entry in service.entries(action))


def test_on_one_skill_each_version_has_one_winner(
    service: Service, replicas: Sequence[Replica], manifest: Manifest
) -> None:
    def ask(http: httpx.Client, number: int) -> httpx.Response:
        return put(http, manifest("shop.cart", f"1.{number // 2}.0", tags=[f"of {number}"]))

    answers = at_once(replicas, ask)
    assert Counter(answer.status_code for answer in answers) == {201: CLIENTS // 2, 409: CLIENTS // 2}
    for first, second in zip(answers[::2], answers[1::2], strict=True):
        winner, loser = sorted((first, second), key=lambda answer: answer.status_code)
        assert loser.json()["code"] == "version-exists"
        stored = winner.json()["version"]["manifest_digest"]
        assert loser.json()["details"]["manifest_digest"] == stored
    assert outcomes(service, "skill.publish") == {"done": CLIENTS // 2, "refused": CLIENTS // 2}
    assert service.admin.get_skill("shop.cart").versions == CLIENTS // 2
    with psycopg.connect(service.database_url) as connection:
        written = connection.execute("SELECT version, opens_line FROM skill_version ORDER BY published_at").fetchall()
        entries = connection.execute(
            "SELECT split_part(subject, '@', 2) FROM audit_inbox WHERE outcome = 'done' AND action = 'skill.publish'"
            " ORDER BY xact, id"
        ).fetchall()
    assert [version for version, _ in written] == [version for (version,) in entries]
    numbers = [Version.parse(version) for version, _ in written]
    lowest_yet = [all(one < other for other in numbers[:index]) for index, one in enumerate(numbers)]
    assert [opens for _, opens in written] == lowest_yet, "only what has nothing below it opens a line"


def test_the_same_bytes_at_once_are_one_version_and_fifty_successes(
    service: Service, replicas: Sequence[Replica], manifest: Manifest
) -> None:
    answers = at_once(replicas, lambda http, number: put(http, manifest("shop.cart")))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: CLIENTS - 1}
    assert len({answer.json()["version"]["published_at"] for answer in answers}) == 1
    assert outcomes(service, "skill.publish") == {"done": 1}


def test_on_fifty_skills_nobody_waits_in_a_circle(
    service: Service, replicas: Sequence[Replica], manifest: Manifest
) -> None:
    """Half publish a skill each, half release catalogues that hold all of these."""
    names = [f"shop.s{number}" for number in range(CLIENTS // 2)]

    def ask(http: httpx.Client, number: int) -> httpx.Response:
        if number < len(names):
            return put(http, manifest(names[number], "1.0.1"))
        members = [manifest(name, version=None) for name in reversed(names)]
        return http.put(f"/v1/catalogues/shop/releases/1.{number}.0", json={"members": members})

    answers = at_once(replicas, ask)
    assert Counter(answer.status_code for answer in answers) == {201: CLIENTS}, [one.text for one in answers][-1]
    releases = CLIENTS - len(names)
    assert outcomes(service, "catalogue.release") == {"done": releases}
    assert outcomes(service, "skill.publish") == {"done": len(names) * (releases + 1)}
    assert all(service.admin.get_skill(name).versions == releases + 1 for name in names)
