"""The audit inbox cannot be rewritten, and an entry commits with its change or not at all."""

from __future__ import annotations

import json

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from registry import Service

from governance.control.audit.service import (
    AUDIT_ACTIONS,
    SYSTEM,
    Attempt,
    Unauthenticated,
    append,
    decision_summary,
)
from governance.control.database import Database
from governance.core.canonical import canonical_bytes
from governance.wire import Grant, Role

ENTRY_KEYS = {
    "format", "action", "outcome", "actor", "namespace", "subject", "at", "reason", "before", "after",
    "request_id", "trace_id",
}  # fmt: skip


def test_the_service_may_add_and_read_entries_and_nothing_else(database_url: str, database: Database) -> None:
    with database.transaction() as session:
        append(session, Attempt(action="check.run", subject="x", namespace=""), by=SYSTEM)
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("governance_service",)
        for statement in (
            "UPDATE audit_inbox SET actor = 'somebody else'",
            "DELETE FROM audit_inbox",
            "TRUNCATE audit_inbox",
            "DROP TABLE audit_inbox",
            "ALTER TABLE audit_inbox DISABLE TRIGGER ALL",
            "INSERT INTO audit_inbox (namespace, id, at, action, outcome, actor, subject, request_id, entry, xact)"
            " OVERRIDING SYSTEM VALUE SELECT * FROM audit_inbox FOR UPDATE",
            "INSERT INTO audit_inbox (namespace, id, at, action, outcome, actor, subject, request_id, entry)"
            " OVERRIDING SYSTEM VALUE VALUES ('', 1000000, now(), 'a', 'done', 'a', 'a', 'a', '')",
            "INSERT INTO audit_inbox (namespace, at, action, outcome, actor, subject, request_id, entry, xact)"
            " VALUES ('', now(), 'a', 'done', 'a', 'a', 'a', '', 1)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        assert connection.execute("SELECT count(*) FROM audit_inbox").fetchone() == (1,)


def test_the_owner_is_held_back_by_the_trigger(owner_url: str, database: Database) -> None:
    with database.transaction() as session:
        append(session, Attempt(action="check.run", subject="x", namespace=""), by=SYSTEM)
    with psycopg.connect(owner_url, autocommit=True) as owner:
        for statement in (
            "UPDATE audit_inbox SET actor = 'somebody else'",
            "DELETE FROM audit_inbox",
            "TRUNCATE audit_inbox",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="never changed or deleted"):
                owner.execute(statement)


def test_an_entry_is_undone_with_its_change(service: Service, database: Database) -> None:
    before = len(service.entries())
    with pytest.raises(RuntimeError), database.transaction() as session:
        append(session, Attempt(action="token.create", subject="x", namespace=""), by=SYSTEM)
        session.flush()
        raise RuntimeError
    assert len(service.entries()) == before


def test_an_entry_is_canonical_json_of_the_final_shape(service: Service) -> None:
    service.admin.create_token("ci", [Grant(role=Role.VIEWER, namespace="team")])
    with psycopg.connect(service.database_url) as connection:
        rows = connection.execute("SELECT entry, namespace, action, actor, subject FROM audit_inbox").fetchall()
    for raw, namespace, action, actor, subject in rows:
        entry = json.loads(bytes(raw))
        assert canonical_bytes(entry) == bytes(raw)
        assert set(entry) == ENTRY_KEYS
        assert (entry["namespace"], entry["action"], entry["actor"]["id"], entry["subject"]) == (
            namespace, action, actor, subject,
        )  # fmt: skip
        assert entry["at"].endswith("+00:00")
        assert action in AUDIT_ACTIONS


def test_hostile_subjects_are_stored_printable(database: Database, service: Service) -> None:
    with database.transaction() as session:
        subject = "a\x00b\n\u202e" + "x" * 5000
        append(session, Attempt(action="check.run", subject=subject, namespace=""), by=SYSTEM)
    entry = service.entries("check.run")[0]
    assert entry["subject"].isprintable()
    assert len(entry["subject"]) < 500


def test_a_summary_of_a_decision_holds_no_payload_and_no_prose() -> None:
    decision = {
        "decision": "block",
        "reasons": [{"code": "bump-too-small", "outcome": "block", "message": "secret", "fix": "secret"}],
        "compared": [{"version": "1.0.0", "role": "baseline", "witness": {"payload": "secret"}, "verdict": "breaking"}],
    }
    assert "secret" not in json.dumps(decision_summary(decision))


@given(st.lists(st.sampled_from(["missing", "unknown", "take", "give back"]), max_size=40))
def test_no_unauthenticated_request_is_lost_or_counted_twice(steps: list[str]) -> None:
    counted = Unauthenticated()
    noted = written = 0
    for step in steps:
        if step in {"missing", "unknown"}:
            counted.note(step)
            noted += 1
            continue
        taken = counted.take()
        if taken is not None and step == "give back":
            counted.give_back(taken)
        elif taken is not None:
            written += sum(taken["causes"].values())
    rest = counted.take()
    written += sum(rest["causes"].values()) if rest else 0
    assert written == noted
