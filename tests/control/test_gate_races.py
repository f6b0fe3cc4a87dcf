"""What comes at once around the gate ends as if one had come after the other; what dies half-way loses nothing."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import running_service
from receiving import receiving
from registry import Manifest, Service, together
from test_serving import serving_process

from governance.client import ControlPlane
from governance.control.database import Database
from governance.control.domains import JOBS
from governance.control.events.delivering import DELIVERIES_MADE, DELIVERIES_SENT
from governance.control.jobs import Tools, run_job
from governance.control.settings import Settings
from governance.errors import GateRefused, GovernanceError
from governance.telemetry import Telemetry
from governance.wire import ConsumerRequest, NeedRequest, Role

SKILL = "weather.current"


@pytest.fixture
def owner(owner_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service runs no job of itself."""
    monkeypatch.setattr("governance.control.app.JOBS", ())


def stricter(manifest: Manifest, version: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
    return manifest(
        version=version, compatibility="input_compatible", input_schema={**schema, "required": ["city", "days"]}
    )


def past_its_sunset(service: Service, owner: psycopg.Connection) -> None:
    """1.0.0 has reached its announced day."""
    day = datetime.now(UTC).date() + timedelta(days=400)
    service.admin.deprecate(SKILL, "1.0.0", sunset=day, replacement="none")
    owner.execute("UPDATE skill_version_state SET sunset = current_date WHERE sunset IS NOT NULL")
    owner.execute("UPDATE skill SET sunset = current_date WHERE sunset IS NOT NULL")


def token_of(home: Path) -> str:
    return str(json.loads((home / "server.json").read_text())["token"])


# ── two at once ──


def test_of_publishes_at_once_that_need_the_one_use_of_an_exception_one_gets_in(
    service: Service, manifest: Manifest
) -> None:
    service.admin.put_version(manifest())
    checked = service.admin.check([stricter(manifest, "1.1.0")])
    with service.client(Role.PUBLISHER, "weather") as author:
        found = [one["fingerprint"] for one in checked.decisions[0]["compared"][0]["findings"]]
        made = author.ask_for_exception(checked.id, found, reason="all send days", expires_in_days=7, max_uses=1)
    service.admin.approve_exception(made.id)
    numbers = [f"1.{minor}.0" for minor in range(1, 5)]
    outcomes = together(*(lambda n=n: service.admin.put_version(stricter(manifest, n)) for n in numbers))
    refused = [one for one in outcomes if isinstance(one, GateRefused)]
    got_in = [one for one in outcomes if not isinstance(one, GovernanceError)]
    used = service.entries("exception.use")
    assert len(used) == service.admin.get_exception(made.id).uses == 1
    # whoever comes after it above it breaks nothing any more, and needs none; whoever comes below it is refused
    assert len(got_in) + len(refused) == len(numbers)
    assert used[0]["after"]["for"] in {f"{SKILL}@{one.version.version}" for one in got_in}


def test_a_version_is_never_retired_and_put_into_use_at_once(
    service: Service, owner: psycopg.Connection, manifest: Manifest
) -> None:
    service.admin.put_version(manifest())
    service.admin.put_version(manifest(version="1.1.0"))
    service.admin.put_environment("prod", protected=True)
    past_its_sunset(service, owner)
    deployed, retired, _ = together(
        lambda: service.admin.put_deployment("prod", SKILL, "1.0.0"),
        lambda: service.admin.retire(SKILL, "1.0.0"),
        lambda: service.admin.can_i_retire(SKILL, "1.0.0"),
    )
    assert isinstance(deployed, GovernanceError) != isinstance(retired, GovernanceError), (deployed, retired)
    runs = [one.version for one in service.admin.deployments("prod")]
    assert (service.admin.get_version(SKILL, "1.0.0").state == "retired") == (runs == [])


def test_a_consumer_that_registers_while_a_publish_commits_is_told_of_by_one_of_the_two(
    service: Service, manifest: Manifest
) -> None:
    service.admin.put_version(manifest())
    needing = ConsumerRequest(needs=[NeedRequest(skill=SKILL, range="^1")])
    for minor in range(1, 5):
        number, name = f"1.{minor}.0", f"agents/{minor}"
        published, registered = together(
            partial(service.admin.put_version, manifest(version=number)),
            partial(service.admin.put_consumer, name, needing),
        )
        assert not isinstance(published, GovernanceError)
        assert not isinstance(registered, GovernanceError)
        rows = {row["consumer"]: row["now"] for row in service.admin.matrix(SKILL).rows}
        assert set(rows) == {f"agents/{one}" for one in range(1, minor + 1)}
        assert set(rows.values()) == {number}
        counts = service.admin.get_version(SKILL, number).decision["consumers"]["counts"]
        assert sum(counts.values()) in (minor - 1, minor)
        assert (
            sum(service.admin.check([manifest(version="9.0.0")]).decisions[0]["consumers"]["counts"].values()) == minor
        )


# ── replicas ──


def test_two_replicas_that_run_every_job_at_once_do_each_thing_once(
    settings: Settings, owner: psycopg.Connection, manifest: Manifest, by_hand: None
) -> None:
    allowed = replace(settings, webhook_private=True)
    with running_service(allowed) as service, receiving() as box:
        service.admin.put_version(manifest())
        checked = service.admin.check([stricter(manifest, "1.1.0")])
        with service.client(Role.PUBLISHER, "weather") as author:
            found = [one["fingerprint"] for one in checked.decisions[0]["compared"][0]["findings"]]
            made = author.ask_for_exception(checked.id, found, reason="all send days", expires_in_days=7)
        service.admin.approve_exception(made.id)
        past_its_sunset(service, owner)
        back = ", ".join(f"{name} = {name} - interval '8 days'" for name in ("created_at", "approved_at", "expires_at"))
        owner.execute(f"UPDATE gate_exception SET {back}")
        hook = service.admin.create_webhook(box.url)
        replicas = [
            Tools(database=Database(service.database_url, allowed), settings=allowed, telemetry=Telemetry())
            for _ in range(2)
        ]
        try:
            for _ in range(3):  # what one job makes due another takes up
                together(*(lambda job=job, mine=mine: run_job(job, mine) for mine in replicas for job in JOBS))
        finally:
            for one in replicas:
                one.database.close()
        assert [one["subject"] for one in service.entries("version.sunset")] == [f"{SKILL}@1.0.0"]
        assert [one["subject"] for one in service.entries("exception.expired")] == [made.id]
        deliveries = list(service.admin.deliveries(hook.id))
        assert {"version.sunset", "exception.expired"} <= {one.type for one in deliveries}
        assert len({one.event for one in deliveries}) == len(deliveries)
        assert {one.state for one in deliveries} == {"delivered"}
        assert box.came == {one.id: 1 for one in deliveries}


@pytest.mark.timeout(120)
def test_a_replica_that_is_killed_between_commit_and_delivery_loses_nothing(
    settings: Settings, owner: psycopg.Connection, manifest: Manifest, tmp_path: Path, by_hand: None
) -> None:
    names = [f"weather.skill_{number}" for number in range(4)]
    with receiving(answers=False) as box:
        with serving_process(settings, tmp_path / "one", GOVCTL_WEBHOOK_PRIVATE="true") as (process, address):
            with ControlPlane(address, token_of(tmp_path / "one")) as plane:
                hook = plane.create_webhook(box.url)
                for name in names:
                    plane.put_version(manifest(name))
            assert box.arrived.acquire(timeout=30), "it is being sent, and not on record as sent"
            process.send_signal(signal.SIGKILL)
            process.wait(30)
        box.open.set()
        owner.execute("UPDATE webhook_delivery SET next_at = now() WHERE state = 'waiting'")  # the lease runs out
        allowed = replace(settings, webhook_private=True)
        with running_service(allowed) as other:
            state = other.serving.app.state
            mine = Tools(database=state.database, settings=allowed, telemetry=state.telemetry)
            for job in (DELIVERIES_MADE, DELIVERIES_SENT):
                run_job(job, mine)
            delivered = list(other.admin.deliveries(hook.id))
    assert {one.state for one in delivered} == {"delivered"}
    assert sorted(one.type for one in delivered) == ["skill.publish"] * 4
    assert set(box.came) == {one.id for one in delivered}, "what comes again bears the id it had"
    assert len({one.event for one in delivered}) == 4
