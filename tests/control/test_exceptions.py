"""Exceptions over HTTP: asked for, approved by somebody else, used where needed, and never past their end."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from registry import Manifest, Service

from governance.client import ControlPlane
from governance.control.auth.roles import Caller
from governance.control.database import Database
from governance.control.exceptions.ending import tell_of_ends
from governance.control.exceptions.service import in_force, revoke, use
from governance.control.exceptions.tables import ExceptionRow
from governance.control.jobs import Tools
from governance.control.settings import Settings
from governance.errors import (
    Conflict,
    Forbidden,
    GateRefused,
    GovernanceError,
    InvalidRequest,
    NotFound,
)
from governance.telemetry import Telemetry
from governance.wire import ExceptionState, ExceptionView, Grant, Role

BROKEN = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}


@pytest.fixture
def author(service: Service) -> Iterator[ControlPlane]:
    with service.client(Role.PUBLISHER, "weather") as client:
        yield client


@pytest.fixture
def approver(service: Service) -> Iterator[ControlPlane]:
    with service.client(Role.APPROVER, "weather") as client:
        yield client


Ask = Callable[..., ExceptionView]


@pytest.fixture
def ask(author: ControlPlane, manifest: Manifest) -> Ask:
    """Asks that 1.1.0, which breaks 1.0.0, may pass; as the author, or ``by`` another."""
    author.put_version(manifest())

    def asked(*, by: ControlPlane = author, **terms: Any) -> ExceptionView:
        check = author.check([breaking(manifest)])
        (fingerprint,) = check.decisions[0]["surroundings"]
        fields: dict[str, Any] = {"reason": "the one caller sends days", "expires_in_days": 7} | terms
        return by.ask_for_exception(check.id, [fingerprint], **fields)

    return asked


def breaking(manifest: Manifest, version: str = "1.1.0", **fields: Any) -> dict[str, Any]:
    return manifest(version=version, input_schema=BROKEN, compatibility="input_compatible", **fields)


# ── asking ──


def test_only_publishers_of_the_namespace_who_may_see_the_check_ask(service: Service, ask: Ask) -> None:
    for role in (Role.VIEWER, Role.CALLER, Role.APPROVER, Role.OPERATOR):
        with service.client(role, "weather") as client, pytest.raises(Forbidden):
            ask(by=client)
    with service.client(Role.PUBLISHER, "maps") as stranger, pytest.raises(NotFound):
        ask(by=stranger)
    refused = service.entries("exception.ask")
    assert [one["outcome"] for one in refused] == ["refused"] * 5


def test_an_exception_covers_what_was_found_and_nothing_else(
    service: Service, author: ControlPlane, ask: Ask, manifest: Manifest
) -> None:
    check = author.check([breaking(manifest)])
    with pytest.raises(InvalidRequest) as refused:
        author.ask_for_exception(check.id, ["0" * 16], reason="r", expires_in_days=1)
    assert [fault.pointer for fault in refused.value.faults] == ["/fingerprints/0"]
    with pytest.raises(NotFound):
        author.ask_for_exception("chk_" + "0" * 24, ["0" * 16], reason="r", expires_in_days=1)
    with pytest.raises(NotFound):
        author.ask_for_exception("weather.current@7.0.0", ["0" * 16], reason="r", expires_in_days=1)
    with pytest.raises(Forbidden):
        author.ask_for_exception("maps.route@1.0.0", ["0" * 16], reason="r", expires_in_days=1)
    with service.http(service.serving.token) as http:
        both = {"check": check.id, "version": "weather.current@1.0.0"}
        for source in ({}, both):
            terms = {"fingerprints": ["0" * 16], "reason": "r", "expires_in_days": 1}
            assert http.post("/v1/exceptions", json={**source, **terms}).json()["code"] == "invalid-request"


def test_one_exception_is_for_one_skill(author: ControlPlane, manifest: Manifest) -> None:
    for name in ("weather.current", "weather.later"):
        author.put_version(manifest(name))
    check = author.check([breaking(manifest), breaking(manifest) | {"name": "weather.later"}])
    fingerprints = [fingerprint for decision in check.decisions for fingerprint in decision["surroundings"]]
    with pytest.raises(InvalidRequest, match=r"weather\.current and of weather\.later"):
        author.ask_for_exception(check.id, fingerprints, reason="r", expires_in_days=1)


def test_nobody_stands_longer_than_the_policy_says(service: Service, ask: Ask) -> None:
    service.admin.put_policy("namespace:weather", {"exception_days": 3}, revision=0)
    with pytest.raises(InvalidRequest) as refused:
        ask(expires_in_days=4)
    assert [fault.pointer for fault in refused.value.faults] == ["/expires_in_days"]
    made = ask(expires_in_days=3)
    assert made.expires_at - made.created_at == timedelta(days=3)


def test_the_same_key_asks_once(service: Service, author: ControlPlane, ask: Ask, manifest: Manifest) -> None:
    check = author.check([breaking(manifest)])
    (fingerprint,) = check.decisions[0]["surroundings"]
    first, again = (
        author.ask_for_exception(check.id, [fingerprint], reason="r", expires_in_days=1, idempotency_key="one")
        for _ in range(2)
    )
    assert first == again
    assert len(list(author.exceptions())) == 1


# ── approving ──


def test_nobody_approves_their_own_and_only_approvers_approve(service: Service, ask: Ask) -> None:
    own = ask(by=service.admin)
    with pytest.raises(Forbidden, match="asked for exception"):
        service.admin.approve_exception(own.id)
    for role in (Role.PUBLISHER, Role.OPERATOR, Role.AUDITOR):
        with service.client(role, "weather") as client, pytest.raises(Forbidden):
            client.approve_exception(own.id)
    with service.client(Role.APPROVER, "maps") as stranger:
        with pytest.raises(NotFound):
            stranger.approve_exception(own.id)
        with pytest.raises(NotFound):
            stranger.get_exception(own.id)
        with pytest.raises(NotFound):
            stranger.revoke_exception(own.id, reason="r")
        assert list(stranger.exceptions()) == []
    entries = service.entries("exception.approve")
    assert {(one["outcome"], one["subject"]) for one in entries} == {("refused", own.id)}


def test_another_token_of_the_authors_name_does_not_approve(service: Service, ask: Ask) -> None:
    made = ask()
    name = made.created_by.rpartition(" (")[0]
    wide = "".join(chr(ord(letter) + 0xFEE0) if letter.isalpha() else letter for letter in name)
    for called in (name, f"{name} ", name.upper(), name.replace(" ", "  "), wide):
        twin = service.admin.create_token(called, [Grant(role=Role.ADMIN, namespace="weather")])
        with ControlPlane(service.serving.address, twin.token) as client, pytest.raises(Forbidden):
            client.approve_exception(made.id)


def test_a_reason_is_more_than_blanks_and_an_environment_one_there_is(service: Service, ask: Ask) -> None:
    with pytest.raises(NotFound, match="prdo"):
        ask(environment="prdo")
    made = ask()
    asked = {"check": "chk_" + "0" * 24, "fingerprints": ["0" * 16], "reason": " \t", "expires_in_days": 7}
    with service.http(service.serving.token) as http:
        answer = http.post("/v1/exceptions", json=asked)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/reason")
    with pytest.raises(InvalidRequest, match="reason"):
        service.admin.revoke_exception(made.id, reason="  ")


def test_an_exception_opens_the_gate_once_it_is_approved_and_a_line_opens_all_the_same(
    service: Service, author: ControlPlane, approver: ControlPlane, ask: Ask, manifest: Manifest
) -> None:
    made = ask()
    assert made.state is ExceptionState.PROPOSED
    with pytest.raises(GateRefused):
        author.put_version(breaking(manifest))
    approved = approver.approve_exception(made.id, reason="seen")
    assert (approved.state, approved.approved_by) == (ExceptionState.IN_FORCE, approved.approved_by)
    assert approver.approve_exception(made.id) == approved
    checked = author.check([breaking(manifest)])
    assert checked.decision == "warn"
    assert author.get_exception(made.id).uses == 0
    version = author.put_version(breaking(manifest)).version
    assert version.opens_line
    assert author.get_exception(made.id).uses == 1
    assert not author.put_version(breaking(manifest)).created
    assert author.get_exception(made.id).uses == 1
    published = [one for one in service.entries("skill.publish") if one["outcome"] == "done"]
    assert [one["after"]["exceptions"] for one in published] == [[], [made.id]]
    (used,) = service.entries("exception.use")
    assert (used["subject"], used["after"]["for"]) == (made.id, "weather.current@1.1.0")
    about = [one["action"] for one in service.entries() if one["subject"] == made.id]
    assert about == ["exception.ask", "exception.approve", "exception.use"]


def test_it_reopens_when_what_surrounds_the_finding_changes(
    author: ControlPlane, approver: ControlPlane, ask: Ask, manifest: Manifest
) -> None:
    approver.approve_exception(ask().id)
    wider = BROKEN | {"properties": {**BROKEN["properties"], "unit": {"type": "string"}}}  # type: ignore[dict-item]
    changed = breaking(manifest) | {"input_schema": wider}
    with pytest.raises(GateRefused) as refused:
        author.put_version(changed)
    codes = {reason["code"] for reason in refused.value.details["decision"]["reasons"]}
    assert codes >= {"exception-reopened", "bump-too-small"}
    assert author.check([breaking(manifest, description="Use for the weather of the next days.")]).decision == "warn"


@pytest.mark.parametrize("scope", [{"environment": "prod"}, {"consumer": "agents/one"}])
def test_one_for_an_environment_or_a_consumer_does_not_open_the_gate(
    service: Service,
    author: ControlPlane,
    approver: ControlPlane,
    ask: Ask,
    manifest: Manifest,
    scope: dict[str, str],
) -> None:
    service.admin.put_environment("prod")
    approver.approve_exception(ask(**scope).id)
    with pytest.raises(GateRefused):
        author.put_version(breaking(manifest))


# ── ends ──


def test_an_exception_ends_with_its_uses(
    author: ControlPlane, approver: ControlPlane, ask: Ask, manifest: Manifest
) -> None:
    made = approver.approve_exception(ask(max_uses=1).id)
    author.put_version(breaking(manifest))
    assert author.get_exception(made.id).state is ExceptionState.USED_UP
    back = manifest(version="1.2.0", compatibility="input_compatible")
    author.put_version(back)
    with pytest.raises(GateRefused):
        author.put_version(breaking(manifest, "1.3.0"))
    with pytest.raises(Conflict):
        approver.approve_exception(made.id)


def test_an_exception_ends_when_it_is_revoked(
    author: ControlPlane, approver: ControlPlane, ask: Ask, manifest: Manifest
) -> None:
    made = approver.approve_exception(ask().id)
    revoked = approver.revoke_exception(made.id, reason="not after all")
    assert (revoked.state, revoked.revoked_reason) == (ExceptionState.REVOKED, "not after all")
    assert author.revoke_exception(made.id, reason="again") == revoked
    with pytest.raises(GateRefused):
        author.put_version(breaking(manifest))
    with pytest.raises(Conflict):
        approver.approve_exception(made.id)


def test_an_exception_ends_by_its_date_though_nobody_looks(
    author: ControlPlane, approver: ControlPlane, ask: Ask, manifest: Manifest, owner_url: str
) -> None:
    made = approver.approve_exception(ask().id)
    with psycopg.connect(owner_url) as connection:
        connection.execute("UPDATE gate_exception SET expires_at = now()")
    with pytest.raises(GateRefused):
        author.put_version(breaking(manifest))
    assert author.get_exception(made.id).state is ExceptionState.EXPIRED
    with pytest.raises(Conflict):
        approver.approve_exception(made.id)


def test_of_many_who_need_its_one_use_at_once_one_has_it(
    database: Database, author: ControlPlane, approver: ControlPlane, ask: Ask
) -> None:
    made = approver.approve_exception(ask(max_uses=1).id)
    caller, together = Caller(id="tok_1", name="ci"), threading.Barrier(4)
    answers: list[str] = []

    def need(subject: str) -> None:
        try:
            with database.transaction() as current:
                together.wait()
                use(current, [made.id], subject=subject, by=caller, at=datetime.now(UTC))
            answers.append("used")
        except GovernanceError as error:
            answers.append(error.code)

    threads = [threading.Thread(target=need, args=(f"weather.current@1.{number}.0",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["conflict", "conflict", "conflict", "used"]
    assert author.get_exception(made.id).uses == 1


def test_who_needs_it_while_it_is_revoked_waits_and_is_told(
    database: Database, approver: ControlPlane, ask: Ask, owner_url: str
) -> None:
    made = approver.approve_exception(ask().id)
    boss = Caller(id="tok_2", name="boss", grants=(Grant(role=Role.ADMIN),))
    answers: list[str] = []

    def need() -> None:
        try:
            with database.transaction() as current:
                use(current, [made.id], subject="x", by=Caller(id="tok_1", name="ci"), at=datetime.now(UTC))
        except GovernanceError as error:
            answers.append(error.code)

    needing = threading.Thread(target=need)
    with database.transaction() as current, psycopg.connect(owner_url, autocommit=True) as watching:
        revoke(current, made.id, reason="not after all", by=boss)
        needing.start()
        waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database"
        waits += " WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid')"
        while watching.execute(waits).fetchone() != (True,):
            assert needing.is_alive()
    needing.join()
    assert answers == ["conflict"]
    assert approver.get_exception(made.id).uses == 0


def test_what_needed_an_exception_and_failed_has_not_used_it(
    database: Database, author: ControlPlane, approver: ControlPlane, ask: Ask
) -> None:
    made = approver.approve_exception(ask(max_uses=1).id)

    def fail() -> None:
        with database.transaction() as current:
            use(current, [made.id], subject="x", by=Caller(id="tok_1", name="ci"), at=datetime.now(UTC))
            raise RuntimeError("the rest of it failed")

    with pytest.raises(RuntimeError):
        fail()
    assert author.get_exception(made.id).uses == 0


def test_a_release_that_needs_an_exception_uses_it_once(
    service: Service, ask: Ask, approver: ControlPlane, manifest: Manifest
) -> None:
    made = approver.approve_exception(ask().id)
    member = breaking(manifest)
    service.admin.check([member])
    service.admin.put_release("weather", "1.1.0", [member])
    service.admin.put_release("weather", "1.1.0", [member])
    assert approver.get_exception(made.id).uses == 1


# ── lists ──


def test_exceptions_are_listed_by_state_and_by_what_ends_soon(
    author: ControlPlane, approver: ControlPlane, ask: Ask
) -> None:
    proposed, standing, revoked = (ask(expires_in_days=days).id for days in (30, 20, 3))
    approver.approve_exception(standing)
    author.revoke_exception(revoked, reason="r")
    listed = {state: [one.id for one in author.exceptions(state=state)] for state in ExceptionState}
    assert listed == {
        ExceptionState.PROPOSED: [proposed],
        ExceptionState.IN_FORCE: [standing],
        ExceptionState.EXPIRED: [],
        ExceptionState.USED_UP: [],
        ExceptionState.REVOKED: [revoked],
    }
    assert [one.id for one in author.exceptions()] == [revoked, standing, proposed]
    assert [one.id for one in author.exceptions(expires_within_days=20)] == [revoked, standing]
    assert list(author.exceptions(skill="weather.other")) == []


def test_lists_the_gate_and_each_exception_agree_on_where_it_stands(
    service: Service, database: Database, author: ControlPlane
) -> None:
    now = datetime.now(UTC)
    lives = itertools.product((None, now), (None, now), (-1, 1), ((0, None), (1, 2), (2, 2)))
    with database.transaction() as current:
        for number, (approved, revoked, days, (uses, most)) in enumerate(lives):
            row = ExceptionRow(
                id=f"exc_{number:016x}",
                skill="weather.current",
                findings=[{"fingerprint": f"{number:016x}", "surroundings": "a.b", "code": "c", "message": "m"}],
                reason="r",
                author_id="tok_1",
                created_by="one (tok_1)",
                created_at=now,
                expires_at=now + timedelta(days=days),
                max_uses=most,
                uses=uses,
                approver_id=None if approved is None else "tok_2",
                approved_at=approved,
                revoked_at=revoked,
            )
            current.add(row)
    listed = {state: {one.id for one in author.exceptions(state=state)} for state in ExceptionState}
    everyone = list(author.exceptions())
    assert len(everyone) == 24
    assert listed == {state: {one.id for one in everyone if one.state is state} for state in ExceptionState}
    with database.transaction() as current:
        standing = {one.id for one in in_force(current, ["weather.current"])["weather.current"]}
    assert standing == listed[ExceptionState.IN_FORCE] != set()


def test_pages_go_on_where_they_ended(service: Service, ask: Ask) -> None:
    ids = [ask(expires_in_days=days).id for days in (1, 2, 3)]
    with service.http(service.serving.token) as http:
        first = http.get("/v1/exceptions", params={"limit": 2}).json()
        second = http.get("/v1/exceptions", params={"limit": 2, "cursor": first["next"]}).json()
        assert [one["id"] for one in first["items"] + second["items"]] == ids
        assert http.get("/v1/exceptions", params={"cursor": "Z2l0"}).json()["code"] == "usage"


# ── the job ──


def test_the_end_of_an_exception_is_told_before_and_after_once_over_replicas(
    service: Service,
    settings: Settings,
    database: Database,
    approver: ControlPlane,
    ask: Ask,
    owner_url: str,
) -> None:
    later, soon = (approver.approve_exception(ask(expires_in_days=days).id).id for days in (30, 6))
    ask(expires_in_days=1)  # never approved: nobody relies on it
    tools = Tools(database=database, settings=settings, telemetry=Telemetry())

    def told() -> list[tuple[str, str]]:
        threads = [threading.Thread(target=tell_of_ends, args=(tools,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        actions = ("exception.expiring", "exception.expired")
        return [(one["action"], one["subject"]) for one in service.entries() if one["action"] in actions]

    assert told() == [("exception.expiring", soon)]
    with psycopg.connect(owner_url) as connection:
        connection.execute("UPDATE gate_exception SET expires_at = now() WHERE id = %s", (soon,))
    assert told() == [("exception.expiring", soon), ("exception.expired", soon)]
    assert told() == [("exception.expiring", soon), ("exception.expired", soon)]
    assert later not in {subject for _, subject in told()}
