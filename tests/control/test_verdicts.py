"""A comparison is computed once for all replicas; what is wrong with its row costs a computation and nothing else."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from conftest import running_service
from registry import Manifest, Service

from governance.comparing import Comparer
from governance.control.database import Database
from governance.control.gates import verdicts as module
from governance.control.gates.verdicts import Verdicts
from governance.control.settings import Settings
from governance.control.skills.judging import Judge
from governance.core.compat.engine import DEFAULT_SETTINGS, check
from governance.core.compat.engine import Settings as Comparing
from governance.core.compat.model import JSON, Comparison, Reading, Side, Verdict
from governance.core.contract import manifest_from_document
from governance.core.skill import SkillManifest
from governance.opinion import CoversWorker
from governance.telemetry import Telemetry

BROKEN = {"type": "object", "properties": {"city": {"type": "string", "minLength": 2}}, "required": ["city"]}


@pytest.fixture
def verdicts(database: Database) -> Iterator[Verdicts]:
    opened = Verdicts(database)
    yield opened
    opened.close()


@pytest.fixture
def pair(manifest: Manifest) -> tuple[SkillManifest, SkillManifest]:
    return manifest_from_document(manifest()), manifest_from_document(manifest(version="2.0.0", input_schema=BROKEN))


def kept(url: str) -> int:
    with psycopg.connect(url) as connection:
        return int(connection.execute("SELECT count(*) FROM verdict").fetchone()[0])  # type: ignore[index]


def get(verdicts: Verdicts, old: str, new: str, settings: Comparing) -> Comparison | None:
    return verdicts.get([(old, new)], settings).get((old, new))


def put(verdicts: Verdicts, old: str, new: str, settings: Comparing, comparison: Comparison) -> None:
    verdicts.put({(old, new): comparison}, settings)


def comparisons(service: Service) -> dict[str, float]:
    """How many comparisons came from where, since the service started."""
    with service.http(None) as http:
        text = http.get("/metrics").text
    found = re.findall(r'^governance_comparisons_total\{source="(\w+)"\} (\S+)$', text, re.M)
    return {source: float(count) for source, count in found}


def test_a_second_check_computes_nothing_even_after_a_restart(settings: Settings, manifest: Manifest) -> None:
    candidate = manifest(version="2.0.0", input_schema=BROKEN)
    with running_service(settings) as service:
        service.admin.put_version(manifest())
        first = service.admin.check([candidate]).decisions
        assert comparisons(service) == {"computed": 1}
        service.admin.check([candidate])
        assert comparisons(service) == {"computed": 1, "memory": 1}
    with running_service(settings) as restarted:
        second = restarted.admin.check([candidate]).decisions
        assert comparisons(restarted) == {"stored": 1}
    assert second == first
    assert first[0]["compared"][0]["findings"][0]["witness"]["payload"]


@pytest.mark.parametrize(
    "damage",
    [
        "comparison = 'not json'",
        "comparison = convert_to(replace(convert_from(comparison, 'UTF8'), 'breaking', 'compatible'), 'UTF8')",
        "comparison = ''",
        "seal = ''",
        "comparison = '[1]', seal = sha256(key || '[1]')",
        'comparison = \'{"verdict": "fine"}\', seal = sha256(key || \'{"verdict": "fine"}\')',
    ],
)
def test_a_corrupt_row_is_passed_over_and_written_anew(
    verdicts: Verdicts, database_url: str, pair: tuple[SkillManifest, SkillManifest], damage: str
) -> None:
    old, new = pair
    judge = Judge(comparer=Comparer(), telemetry=Telemetry(), kept=verdicts)
    comparison = judge.compare(old, new)
    with psycopg.connect(database_url) as connection:
        assert connection.execute(f"UPDATE verdict SET {damage}").rowcount == 1
    assert get(verdicts, old.manifest_digest, new.manifest_digest, DEFAULT_SETTINGS) is None
    assert Judge(comparer=Comparer(), telemetry=Telemetry(), kept=verdicts).compare(old, new) == comparison
    assert get(verdicts, old.manifest_digest, new.manifest_digest, DEFAULT_SETTINGS) == comparison


def test_a_row_that_was_moved_to_another_key_does_not_count(
    verdicts: Verdicts, database_url: str, pair: tuple[SkillManifest, SkillManifest]
) -> None:
    old, new = (one.manifest_digest for one in pair)
    put(verdicts, old, new, DEFAULT_SETTINGS, check(*pair))
    put(verdicts, new, old, DEFAULT_SETTINGS, check(*reversed(pair)))
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE verdict SET (comparison, seal) = (SELECT comparison, seal FROM verdict LIMIT 1)")
    found = [get(verdicts, old, new, DEFAULT_SETTINGS), get(verdicts, new, old, DEFAULT_SETTINGS)]
    assert found.count(None) == 1


def test_another_setting_or_another_engine_is_another_question(
    verdicts: Verdicts, pair: tuple[SkillManifest, SkillManifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (one.manifest_digest for one in pair)
    put(verdicts, old, new, DEFAULT_SETTINGS, check(*pair))
    assert get(verdicts, old, new, DEFAULT_SETTINGS) == check(*pair)
    for settings in (Comparing(reading=Reading.STRICT), Comparing(assert_formats=True), Comparing(step_budget=7)):
        assert get(verdicts, old, new, settings) is None
    assert get(verdicts, new, old, DEFAULT_SETTINGS) is None
    monkeypatch.setattr(module, "engine_digest", lambda: "tomorrow's")
    assert get(verdicts, old, new, DEFAULT_SETTINGS) is None


def test_the_oldest_rows_go_when_there_are_too_many(
    database: Database, database_url: str, pair: tuple[SkillManifest, SkillManifest]
) -> None:
    bounded = Verdicts(database, max_rows=3, prune_every=2)
    comparison = check(*pair)
    for number in range(8):
        put(bounded, "old", f"new {number}", DEFAULT_SETTINGS, comparison)
    assert kept(database_url) == 3
    found = [number for number in range(8) if get(bounded, "old", f"new {number}", DEFAULT_SETTINGS)]
    assert found == [5, 6, 7]
    bounded.close()


def test_what_another_run_may_say_better_is_not_kept(
    verdicts: Verdicts, database_url: str, pair: tuple[SkillManifest, SkillManifest]
) -> None:
    old, new = pair
    schemas = ({"type": "object", "properties": {"city": {"pattern": rf"^(.)\1{end}$"}}} for end in ("", "*"))
    undecided = check(*(replace(old, input_schema=schema) for schema in schemas))
    assert undecided.verdict is Verdict.UNDECIDED
    huge = replace(check(old, new), reason="x" * (module.MAX_BYTES + 1))
    for comparison in (
        undecided,
        huge,
        replace(check(old, new), interrupted=True),
        replace(check(old, old), disagreement=(Side.INPUT,)),
        Comparison(verdict=Verdict.INVALID, level=undecided.level),
    ):
        put(verdicts, old.manifest_digest, new.manifest_digest, DEFAULT_SETTINGS, comparison)
    assert kept(database_url) == 0


def test_without_its_table_or_its_database_comparisons_go_on(
    settings: Settings, database: Database, owner_url: str, pair: tuple[SkillManifest, SkillManifest]
) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute("DROP TABLE verdict")
    gone = Database("postgresql://nobody@127.0.0.1:1/nothing", settings)
    for broken in (Verdicts(database), Verdicts(gone)):
        judge = Judge(comparer=Comparer(), telemetry=Telemetry(), kept=broken)
        assert judge.compare(*pair).verdict is Verdict.BREAKING
        broken.close()
    gone.close()


def test_a_lost_connection_is_replaced(
    verdicts: Verdicts, database_url: str, server: Any, pair: tuple[SkillManifest, SkillManifest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "_PAUSE_SEC", 0.0)
    old, new = (one.manifest_digest for one in pair)
    put(verdicts, old, new, DEFAULT_SETTINGS, check(*pair))
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND datname = %s",
            (database_url.rpartition("/")[2].partition("?")[0],),
        )
    assert get(verdicts, old, new, DEFAULT_SETTINGS) is None
    assert get(verdicts, old, new, DEFAULT_SETTINGS) == check(*pair)


def test_a_caller_does_not_wait_while_others_hold_the_connection(
    verdicts: Verdicts, pair: tuple[SkillManifest, SkillManifest]
) -> None:
    old, new = (one.manifest_digest for one in pair)
    put(verdicts, old, new, DEFAULT_SETTINGS, check(*pair))
    answers: list[Comparison | None] = []
    with verdicts._borrowed():
        asking = threading.Thread(target=lambda: answers.append(get(verdicts, old, new, DEFAULT_SETTINGS)))
        asking.start()
        asking.join(timeout=30)
    assert answers == [None]
    assert get(verdicts, old, new, DEFAULT_SETTINGS) is not None


class Denying(CoversWorker):
    """A second opinion that denies everything."""

    def __call__(self, old: JSON, new: JSON, draft: str | None = None, *, timeout_sec: float | None = None) -> bool:
        return False


def sample(telemetry: Telemetry, name: str) -> float:
    return telemetry.registry.get_sample_value(name) or 0.0


def test_a_disagreement_is_counted_and_put_in_the_log(
    pair: tuple[SkillManifest, SkillManifest], caplog: pytest.LogCaptureFixture
) -> None:
    telemetry = Telemetry()
    judge = Judge(comparer=Comparer(opinion=Denying()), telemetry=telemetry)
    wider = replace(pair[0], input_schema={"type": "object"})
    comparison = judge.compare(pair[0], wider, Comparing(reading=Reading.STRICT))
    assert comparison.verdict is Verdict.UNDECIDED
    assert sample(telemetry, "governance_opinion_disagreements_total") == 1
    assert "denies what the engine proved" in caplog.text


def test_an_interrupted_comparison_is_counted_and_asked_again(pair: tuple[SkillManifest, SkillManifest]) -> None:
    telemetry = Telemetry()
    judge = Judge(comparer=Comparer(ceiling_sec=1e-9), telemetry=telemetry)
    assert [judge.compare(*pair).interrupted for _ in range(2)] == [True, True]
    assert sample(telemetry, "governance_comparisons_interrupted_total") == 2


@pytest.mark.parametrize(("tick", "verdict"), [(0.0, "compatible"), (0.1, "undecided")])
def test_the_ceiling_of_the_service_is_of_the_work_that_a_thread_does(
    settings: Settings, manifest: Manifest, monkeypatch: pytest.MonkeyPatch, tick: float, verdict: str
) -> None:
    """Three looks at the clock are more than 250 ms of work; time that passes otherwise does not count."""
    worked = itertools.count(1)
    monkeypatch.setattr(time, "thread_time", lambda: next(worked) * tick)
    optional = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 9}}}
    with running_service(settings) as service:
        service.admin.put_version(manifest(input_schema=optional))
        wider = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 99}}}
        (decision,) = service.admin.check(
            [manifest(version="1.1.0", input_schema=wider, compatibility="input_compatible")]
        ).decisions
    assert decision["verdict"] == verdict
    told = [finding["message"] for finding in decision["compared"][0]["findings"] if "(time)" in finding["message"]]
    assert bool(told) is (verdict == "undecided")


def test_the_ceiling_of_the_settings_holds_in_the_service(settings: Settings, manifest: Manifest) -> None:
    hostile = {
        "type": "object",
        "oneOf": [{"properties": {f"k{i}": {"minimum": i}}, "required": [f"k{i % 7}"]} for i in range(300)],
    }
    with running_service(replace(settings, ceiling_ms=50)) as service:
        service.admin.put_version(manifest(input_schema=hostile))
        (decision,) = service.admin.check(
            [manifest(version="1.1.0", input_schema={**hostile, "minProperties": 1})]
        ).decisions
    assert decision["verdict"] == "undecided"
    assert any("(time)" in finding["message"] for finding in decision["compared"][0]["findings"])
