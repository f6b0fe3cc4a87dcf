"""The audit log over HTTP: whose entries, in which order, to the byte."""

from __future__ import annotations

import json

import psycopg
import pytest
from registry import Manifest, Service

from governance.control.audit.service import SYSTEM, Attempt, append
from governance.control.database import Database
from governance.core.canonical import canonical_bytes
from governance.errors import Forbidden, UsageError
from governance.wire import Role


def write(database: Database, subject: str, namespace: str = "team") -> None:
    with database.transaction() as session:
        append(session, Attempt(action="check.run", subject=subject, namespace=namespace), by=SYSTEM)


@pytest.mark.parametrize("role", [role for role in Role if role not in {Role.AUDITOR, Role.ADMIN}])
def test_only_auditors_and_admins_read_the_log(empty_service: Service, role: Role) -> None:
    with empty_service.client(role) as client, pytest.raises(Forbidden, match="audit"):
        client.audit()
    with empty_service.http(None) as nobody:
        assert nobody.get("/v1/audit").status_code == 401


def test_an_auditor_reads_the_entries_of_its_namespaces_and_no_others(service: Service, manifest: Manifest) -> None:
    for name in ("weather.current", "weather.sea.tides", "weatherman.now", "maps.route"):
        service.admin.put_version(manifest(name))
    with service.client(Role.AUDITOR, "weather") as auditor:
        page = auditor.audit(action="skill.publish")
        assert [entry["subject"] for entry in page.items] == ["weather.current@1.0.0", "weather.sea.tides@1.0.0"]
        assert {entry["namespace"] for entry in auditor.audit().items} <= {"weather", "weather.sea"}
    with service.client(Role.AUDITOR) as auditor:
        assert "token.create" in {entry["action"] for entry in auditor.audit().items}
    with service.client(Role.ADMIN, "maps") as admin:
        assert [entry["subject"] for entry in admin.audit(action="skill.publish").items] == ["maps.route@1.0.0"]


def test_entries_come_as_they_were_written_and_by_subject(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest(), reason="é\u2028 x")
    with service.http(service.serving.token) as http:
        raw = http.get("/v1/audit", params={"subject": "weather.current@1.0.0"}).content
    with psycopg.connect(service.database_url) as connection:
        stored = connection.execute("SELECT entry FROM audit_inbox WHERE action = 'skill.publish'").fetchone()
    assert stored is not None
    assert bytes(stored[0]) in raw
    assert canonical_bytes(json.loads(raw)["items"][0]) == bytes(stored[0])


def test_pages_have_no_gap_and_the_reader_goes_on_where_it_stopped(service: Service, database: Database) -> None:
    before = len(service.admin.audit(limit=200).items)
    for number in range(7):
        write(database, f"s{number}")
    pages = []
    after = None
    while True:
        page = service.admin.audit(after=after, limit=3, action="check.run")
        pages.append([entry["subject"] for entry in page.items])
        if page.next is None:
            break
        after = page.next
    assert pages == [["s0", "s1", "s2"], ["s3", "s4", "s5"], ["s6"]]
    assert service.admin.audit(after=page.last).last == page.last
    write(database, "s7")
    assert [entry["subject"] for entry in service.admin.audit(after=page.last).items] == ["s7"]
    assert len(service.admin.audit(limit=200).items) == before + 8


def test_nothing_appears_behind_a_reader_though_commits_overtake_each_other(
    service: Service, database: Database
) -> None:
    """The slow one has the smaller id and commits last."""
    start = service.admin.audit(limit=200).last
    with database.transaction() as slow:
        append(slow, Attempt(action="check.run", subject="slow", namespace="team"), by=SYSTEM)
        slow.flush()
        write(database, "fast")
        held_back = service.admin.audit(after=start)
        assert held_back.items == []
        assert held_back.last == start
    assert [entry["subject"] for entry in service.admin.audit(after=start).items] == ["slow", "fast"]


def test_entries_of_another_servers_life_are_read_as_well(service: Service, database: Database, owner_url: str) -> None:
    with psycopg.connect(owner_url) as owner:
        owner.execute(
            "INSERT INTO audit_inbox (namespace, at, action, outcome, actor, subject, request_id, entry, xact)"
            " SELECT namespace, at, action, outcome, actor, 'restored', request_id, entry, 4000000000"
            " FROM audit_inbox LIMIT 1"
        )
    with service.http(service.serving.token) as http:
        assert len(http.get("/v1/audit", params={"subject": "restored"}).json()["items"]) == 1


def test_a_place_or_an_action_that_is_none_is_refused(empty_service: Service) -> None:
    for query in ({"after": "eA"}, {"after": "!"}, {"action": "skill.eat"}):
        with pytest.raises(UsageError):
            empty_service.admin.audit(**query)
