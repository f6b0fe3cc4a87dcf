"""A database comes to the head revision once, whoever asks and however many at a time."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Integer, MetaData, Table

from governance.control import domains, embedded
from governance.control.database import METADATA
from governance.control.embedded import find_binaries
from governance.control.migrating import (
    apply_grants,
    bring_up,
    configuration,
    current_revision,
    head_revision,
    migrate,
    migration_connection,
    revision_at,
)
from governance.control.roles import OWNER_ROLE, SERVICE_ROLE
from governance.errors import DatabaseSetupFailed


@contextmanager
def empty_database(server: embedded.Server, name: str, owner: str = OWNER_ROLE) -> Iterator[str]:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER {owner}")
        try:
            yield server.url(role=owner, database=name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_migrations_make_exactly_the_tables_that_the_code_declares(owner_url: str) -> None:
    assert domains.ROUTERS is not None
    config = configuration()
    with migration_connection(owner_url) as connection:
        config.attributes["connection"] = connection
        command.check(config)


def test_a_new_database_comes_to_the_head_and_stays_there(server: embedded.Server) -> None:
    with empty_database(server, "new_one") as url:
        with psycopg.connect(url) as connection:
            assert current_revision(connection) is None
        assert migrate(url) == head_revision() == migrate(url)
        with psycopg.connect(url) as connection:
            assert current_revision(connection) == head_revision()


def test_a_database_of_another_encoding_is_refused_by_name(server: embedded.Server) -> None:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE plain OWNER {OWNER_ROLE} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
        )
    for start in (migrate, bring_up, revision_at):
        with pytest.raises(DatabaseSetupFailed, match="encoding is SQL_ASCII") as caught:
            start(server.url(role=OWNER_ROLE, database="plain"))
        assert "UTF8" in caught.value.fix


def test_the_services_own_login_changes_nothing_and_is_told_what_is_due(server: embedded.Server) -> None:
    with empty_database(server, "two_logins") as owner:
        service = server.url(role=SERVICE_ROLE, database="two_logins")
        with pytest.raises(DatabaseSetupFailed, match="revision None") as caught:
            bring_up(service)
        assert "`govctl migrate`" in caught.value.fix
        assert bring_up(owner) == head_revision() == bring_up(service)
        with psycopg.connect(owner) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '0001'")
        with pytest.raises(DatabaseSetupFailed, match="revision 0001"):
            bring_up(service)
        with psycopg.connect(owner) as connection:
            connection.execute("UPDATE alembic_version SET version_num = 'from the future'")
        for login in (owner, service):
            with pytest.raises(DatabaseSetupFailed, match="does not know"):
                bring_up(login)
        with psycopg.connect(owner) as connection:
            connection.execute(f"REVOKE ALL ON alembic_version FROM {SERVICE_ROLE}")
        with pytest.raises(DatabaseSetupFailed, match="may not migrate"):
            bring_up(service)


def test_two_replicas_that_start_at_once_migrate_once(server: embedded.Server) -> None:
    with empty_database(server, "contended") as url, ThreadPoolExecutor(2) as pool:
        children = [
            pool.submit(
                subprocess.run,
                [
                    sys.executable,
                    "-c",
                    "import sys; from governance.control.migrating import migrate; print(migrate(sys.argv[1]))",
                    url,
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            for _ in range(2)
        ]
        answers = [child.result() for child in children]
        assert [answer.stdout.strip() for answer in answers] == [head_revision()] * 2, answers


def test_the_service_reads_the_revision_that_readiness_compares(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert current_revision(connection) == head_revision()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE alembic_version SET version_num = 'x'")


def test_a_database_of_a_newer_release_is_left_alone(owner_url: str) -> None:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999_future'")
    with pytest.raises(DatabaseSetupFailed, match="9999_future, which this release does not know"):
        migrate(owner_url)


def test_a_database_that_does_not_answer_says_what_to_check(tmp_path: Path) -> None:
    with pytest.raises(DatabaseSetupFailed) as caught:
        migrate(f"postgresql://me:hunter2@/none?host={tmp_path}")
    assert "DATABASE_URL" in caught.value.fix
    assert "hunter2" not in caught.value.message


def test_an_owner_that_may_create_no_role_migrates_all_the_same(short_home: Path) -> None:
    with embedded.start(short_home, options={"fsync": "off"}) as server:
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {SERVICE_ROLE}")
        assert migrate(server.owner_url) == head_revision()
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {SERVICE_ROLE} LOGIN")
        migrate(server.owner_url)
        with psycopg.connect(server.service_url) as connection:
            assert current_revision(connection) == head_revision(), "a role made later gets its grants"


@pytest.mark.parametrize("major", sorted({found.major for found in find_binaries()}))
def test_the_schema_is_valid_on_every_server_found_here_and_for_a_lone_owner(short_home: Path, major: int) -> None:
    of_major = [found for found in find_binaries() if found.major == major]
    with embedded.start(short_home, binaries=of_major, options={"fsync": "off"}) as server:
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {SERVICE_ROLE}")
            connection.execute("CREATE ROLE lone LOGIN CREATEROLE")
            connection.execute("CREATE DATABASE lone OWNER lone")
        url = server.url(role="lone", database="lone")
        assert migrate(url) == head_revision()
        with psycopg.connect(url) as connection:
            connection.execute(f"SET ROLE {SERVICE_ROLE}")
            assert current_revision(connection) == head_revision()


def test_grants_are_what_each_table_declares_and_nothing_else(owner_url: str, database_url: str) -> None:
    wanted = {
        table.name: {
            (privilege.split(" ")[0], column)
            for privilege in table.info["grants"]
            for column in (re.findall(r"\w+", privilege.partition("(")[2]) or table.columns.keys())
            if privilege != "DELETE"
        }
        for table in METADATA.sorted_tables
    }
    may_delete = {table.name for table in METADATA.sorted_tables if "DELETE" in table.info["grants"]}
    with psycopg.connect(owner_url, autocommit=True) as connection:
        for name in wanted:
            connection.execute(f"GRANT ALL ON {name} TO {SERVICE_ROLE}")
            column = next(iter(METADATA.tables[name].columns)).name
            connection.execute(f"GRANT UPDATE ({column}) ON {name} TO {SERVICE_ROLE}")
        migrate(owner_url)
        found: dict[str, set[tuple[str, str]]] = {name: set() for name in wanted}
        for name, column, privilege in connection.execute(
            "SELECT table_name, column_name, privilege_type FROM information_schema.role_column_grants"
            " WHERE grantee = %s",
            [SERVICE_ROLE],
        ):
            if name in found:
                found[name].add((privilege, column))
        beyond = connection.execute(
            "SELECT table_name, privilege_type FROM information_schema.role_table_grants"
            " WHERE grantee = %s AND privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE')",
            [SERVICE_ROLE],
        ).fetchall()
    assert found == wanted
    assert {(name, privilege) for name, privilege in beyond if name in wanted} == {(n, "DELETE") for n in may_delete}


def test_a_table_that_declares_no_grants_is_a_mistake_found_at_once(owner_url: str) -> None:
    metadata = MetaData()
    Table("forgotten", metadata, Column("id", Integer))
    with pytest.raises(ValueError, match="forgotten"), migration_connection(owner_url) as connection:
        apply_grants(connection, metadata)


def test_what_leads_to_a_skill_is_found_for_versions_published_before_it_was_kept(owner_url: str) -> None:
    migration = ScriptDirectory.from_config(configuration()).get_revision("0018").module
    with psycopg.connect(owner_url) as connection:
        connection.execute(
            "INSERT INTO skill (name, namespace, short_name, description, category, tags, fields, search, state,"
            " versions, created_at, updated_at)"
            " VALUES ('a.b', 'a', 'b', '', 'tool', '{}', '{}', '', 'active', 1, now(), now())"
        )
        for key, manifest in (
            (b"k", b'{"fallback":[{"cached_max_age_sec":5},{"skill":"c.d@^1 || ^2"}],"name":"a.b"}'),
            (b"l", b'{"description":"no \\"fallback\\" at all","name":"a.b"}'),
        ):
            connection.execute(
                "INSERT INTO skill_version (skill, sort_key, version, namespace, manifest, manifest_digest,"
                " contract_digest, verdict, opens_line, decision, published_at, published_by)"
                " VALUES ('a.b', %s, '1.0.0', 'a', %s, 'm', 'c', 'new', true, '{}', now(), 'x')",
                (key, manifest),
            )
    with migration_connection(owner_url) as connection, Operations.context(MigrationContext.configure(connection)):
        migration._backfill()
        found = connection.exec_driver_sql("SELECT skill, step, target, range FROM skill_fallback").fetchall()
    assert [tuple(row) for row in found] == [("a.b", 1, "c.d", "^1 || ^2")]
