"""Sensitive values reach no audit entry, stored decision or log line."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
import sqlalchemy
from registry import Manifest, Service

from governance.control.database import Database
from governance.control.observing import redacted
from governance.errors import GateRefused, InvalidContract

A, B = "HUNTER3a", "HUNTER3b"


def _schema(**key: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"key": {"type": "string", "x-sensitive": True} | key}}


def test_a_refused_default_is_in_nothing_that_is_kept(service: Service, manifest: Manifest) -> None:
    service.admin.put_version(manifest("a.b", "1.0.0", input_schema=_schema(default=A)))
    candidate = manifest("a.b", "1.0.1", input_schema=_schema(default=B))
    with pytest.raises(GateRefused) as refused:
        service.admin.put_version(candidate)
    check = service.admin.check([candidate])
    with pytest.raises(InvalidContract):
        service.admin.put_version(manifest("a.b", "1.0.1", input_schema=_schema(enum=A)))
    decision = str(refused.value.details) + refused.value.message + str(check.decisions)
    entries = service.entries()
    with psycopg.connect(service.database_url) as connection:
        kept = [connection.execute(f"SELECT {what}::text FROM {table}").fetchall() for what, table in (
            ("convert_from(result, 'UTF8')", "gate_check"), ("convert_from(comparison, 'UTF8')", "verdict"),
        )]  # fmt: skip
    for said in (decision, str(entries), str(kept)):
        assert "HUNTER" not in said
    after = [entry["after"] for entry in entries if entry["outcome"] == "refused"]
    assert [one["code"] for one in after] == ["gate-refused", "invalid-contract"]
    assert all(reason["code"] and "message" not in reason for reason in after[0]["reasons"])
    assert after[1]["faults"] == [{"pointer": "/input_schema/properties/key/enum", "code": "schema-metaschema"}]


def test_a_failed_statement_is_told_without_the_row(database: Database) -> None:
    with pytest.raises(sqlalchemy.exc.DBAPIError) as failed, database.transaction() as session:
        session.execute(sqlalchemy.text("SELECT CAST(:value AS integer) / 0"), {"value": 48151623})
    assert "48151623" not in str(failed.value)


def test_the_row_that_postgres_refused_is_not_logged() -> None:
    said = redacted('null value in column "x"\nDETAIL:  Failing row contains (1, HUNTER3a).\n[SQL: INSERT]')
    assert "HUNTER" not in said
    assert said.endswith("[SQL: INSERT]")
