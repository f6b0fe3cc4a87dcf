"""A connection lost at any statement of a request: nothing half-written, a true answer, and a retry that is safe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import httpx
import psycopg
import pytest
from cutting import Cut, Wire, wire_to
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control import app
from governance.control.serving import serving
from governance.control.settings import Settings

_TABLES = (
    "skill", "skill_version", "skill_version_state", "catalogue", "catalogue_release", "catalogue_member",
    "gate_check", "token",
)  # fmt: skip
_MAY_BE_LOST = ("FROM verdict", "INTO verdict")
"""A memory and nothing more: a request whose connection to it is lost goes on, and leaves it alone for a while."""


@dataclass(frozen=True, kw_only=True)
class Wired:
    """A service whose every word with its database goes over a wire that a test can cut."""

    service: Service
    wire: Wire


@pytest.fixture
def wired(settings: Settings, short_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wired]:
    short_home.mkdir()
    monkeypatch.setattr(app, "JOBS", ())  # whose statements would come between
    url = settings.database_url or ""
    with (
        wire_to(url, short_home) as (wire, over_the_wire),
        serving(replace(settings, database_url=over_the_wire)) as running,
        ControlPlane(running.address, running.token) as admin,
    ):
        yield Wired(service=Service(serving=running, database_url=url, admin=admin), wire=wire)


def written(service: Service) -> Counter[str]:
    """How many rows every table has, and how many entries of each kind there are."""
    with psycopg.connect(service.database_url) as connection:
        rows = connection.execute(" UNION ALL ".join(f"SELECT '{one}', count(*) FROM {one}" for one in _TABLES))
        found = Counter(dict(rows.fetchall()))
        kinds = connection.execute("SELECT action || ' ' || outcome, count(*) FROM audit_inbox GROUP BY 1")
        return found + Counter(dict(kinds.fetchall()))


Ask = Callable[[httpx.Client, int], httpx.Response]


def publishing(manifest: Manifest) -> Ask:
    def ask(http: httpx.Client, number: int) -> httpx.Response:
        document = manifest(f"shop.s{number}", "1.1.0")
        return http.put(f"/v1/skills/{document['name']}/versions/1.1.0", json=document)

    return ask


def releasing(manifest: Manifest) -> Ask:
    def ask(http: httpx.Client, number: int) -> httpx.Response:
        members = [manifest(f"c{number}.{name}", version=None) for name in ("cart", "stock", "pay")]
        return http.put(f"/v1/catalogues/c{number}/releases/1.0.0", json={"members": members})

    return ask


def checking(manifest: Manifest) -> Ask:
    def ask(http: httpx.Client, number: int) -> httpx.Response:
        body = {"candidates": [manifest(f"shop.s{number}", "1.1.0")]}
        return http.post("/v1/checks", json=body, headers={"Idempotency-Key": f"check-{number}"})

    return ask


def making_a_token(manifest: Manifest) -> Ask:
    def ask(http: httpx.Client, number: int) -> httpx.Response:
        body = {"name": f"t{number}", "grants": [{"role": "viewer"}]}
        return http.post("/v1/tokens", json=body, headers={"Idempotency-Key": f"token-{number}"})

    return ask


@pytest.mark.parametrize("how", Cut)
@pytest.mark.parametrize("kind", [publishing, releasing, checking, making_a_token])
def test_a_connection_lost_at_any_statement_leaves_all_or_nothing_and_the_answer_says_which(
    wired: Wired, manifest: Manifest, kind: Callable[[Manifest], Ask], how: Cut
) -> None:
    ask, service, numbers = kind(manifest), wired.service, count()

    def prepared() -> tuple[int, Counter[str]]:
        number = next(numbers)
        wired.wire.watch()
        for version in ("1.0.0", "1.0.1"):  # whatever was cut before is connected again
            service.admin.put_version(manifest(f"shop.s{number}", version))
        return number, written(service)

    with service.http(service.serving.token) as http:
        number, before = prepared()
        wired.wire.watch()
        assert ask(http, number).status_code in {200, 201}
        turns = wired.wire.said
        commits = [turn for turn in turns if turn.statement == "COMMIT"]
        whole = written(service) - before
        assert whole.total() > 1
        told = Counter[str]()
        for turn in sorted(turns, key=lambda turn: any(text in turn.statement for text in _MAY_BE_LOST)):
            number, before = prepared()
            wired.wire.watch(turn, how)
            answer = ask(http, number)
            was_cut = turn in wired.wire.said
            wired.wire.watch()
            after = written(service)
            if answer.status_code in {200, 201}:
                assert any(text in turn.statement for text in _MAY_BE_LOST), turn
                assert after - before == whole
                continue
            assert was_cut
            problem = answer.json()
            told[problem["code"]] += 1
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), problem
            if problem["code"] == "outcome-unknown":
                assert turn.statement == "COMMIT"
                assert after - before == (whole if how is Cut.AFTER and turn == commits[-1] else Counter()), turn
            else:
                assert problem["code"] == "service-unavailable"
                assert after == before, turn
            again = ask(http, number)
            refusal = Counter[str]()
            if again.status_code not in {200, 201}:
                assert again.json()["code"] == "secret-shown-once", again.text
                refusal["token.create refused"] = 1
            assert written(service) - before == whole + refusal, turn
        assert told["outcome-unknown"] == len(commits)
        assert told.total() > len(turns) / 2
