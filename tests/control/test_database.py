"""One request is one transaction, made as a role that owns nothing."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import httpx
import psycopg
import pytest
from fastapi import Depends, FastAPI
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlmodel import Session

from governance.cli import main
from governance.control import embedded
from governance.control.database import Database, provision, session, unavailable
from governance.control.roles import OWNER_ROLE, SERVICE_ROLE
from governance.control.settings import Settings
from governance.errors import ServiceUnavailable


@pytest.fixture
def notes(owner_url: str) -> Iterator[None]:
    """A table of the owner's that the service may read and add to."""
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE note (word text UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        connection.execute(f"GRANT SELECT, INSERT ON note TO {SERVICE_ROLE}")
        yield


def add(current: Session, word: str) -> None:
    current.connection().execute(text("INSERT INTO note VALUES (:word)"), {"word": word})


def words(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute("SELECT word FROM note ORDER BY word")]


@pytest.mark.usefixtures("notes")
class TestTransaction:
    def test_it_commits_when_the_block_ends_well(self, database: Database, owner_url: str) -> None:
        with database.transaction() as current:
            add(current, "kept")
        assert words(owner_url) == ["kept"]

    def test_it_undoes_everything_when_the_block_fails(self, database: Database, owner_url: str) -> None:
        with pytest.raises(RuntimeError), database.transaction() as current:
            add(current, "lost")
            raise RuntimeError
        assert words(owner_url) == []

    def test_a_broken_constraint_stays_the_callers_to_understand(self, database: Database) -> None:
        with pytest.raises(IntegrityError), database.transaction() as current:
            add(current, "twice")
            add(current, "twice")

    def test_a_statement_that_takes_too_long_is_given_up(self, settings: Settings) -> None:
        assert settings.database_url is not None
        hurried = Database(settings.database_url, dataclasses.replace(settings, statement_timeout_sec=1))
        with pytest.raises(ServiceUnavailable, match="took too long"), hurried.transaction() as current:
            current.connection().execute(text("SELECT pg_sleep(30)"))
        hurried.close()

    def test_a_commit_that_fails_is_an_answer_that_fails(self, database: Database, owner_url: str) -> None:
        app = FastAPI()
        app.state.database = database

        @app.put("/notes/{word}")
        def put(word: str, current: Annotated[Session, Depends(session, scope="function")]) -> str:
            add(current, word)
            return word

        async def put_twice() -> list[int]:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return [(await client.put("/notes/one")).status_code for _ in range(2)]

        assert asyncio.run(put_twice()) == [200, 500]
        assert words(owner_url) == ["one"]

    def test_a_connection_the_server_has_cut_is_replaced(
        self, database: Database, owner_url: str, server: embedded.Server
    ) -> None:
        with database.transaction() as current:
            backend = current.connection().exec_driver_sql("SELECT pg_backend_pid()").scalar()
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
        with database.transaction() as current:
            add(current, "after")
        assert words(owner_url) == ["after"]

    def test_a_cut_in_the_middle_changes_nothing_and_says_so(
        self, database: Database, owner_url: str, server: embedded.Server
    ) -> None:
        with pytest.raises(ServiceUnavailable) as caught, database.transaction() as current:
            add(current, "half")
            backend = current.connection().exec_driver_sql("SELECT pg_backend_pid()").scalar()
            with psycopg.connect(server.superuser_url, autocommit=True) as connection:
                connection.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
        assert "again" in caught.value.fix
        assert words(owner_url) == []


def test_reads_come_from_a_pool_in_the_same_role(database: Database) -> None:
    async def ask() -> object:
        async with database.reading(), database.read() as connection:
            return await (await connection.execute("SELECT current_user::text")).fetchone()

    assert asyncio.run(ask()) == (SERVICE_ROLE,)


def test_a_read_notices_that_its_idle_connection_is_gone(database: Database, server: embedded.Server) -> None:
    async def ask_kill_ask() -> tuple[int, int]:
        async with database.reading():
            async with database.read() as connection:
                first = connection.info.backend_pid
            with psycopg.connect(server.superuser_url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [first])
            async with database.read() as connection:
                await connection.execute("SELECT 1")
                return first, connection.info.backend_pid

    first, second = asyncio.run(ask_kill_ask())
    assert first != second


def test_an_idle_connection_that_lives_is_not_asked(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(connection: object) -> None:
        raise AssertionError("a round trip")

    async def read_often() -> set[int]:
        async with database.reading():
            pids = set()
            for _ in range(40):
                async with database.read() as connection:
                    await connection.execute("SELECT 1")
                    pids.add(connection.info.backend_pid)
            return pids

    monkeypatch.setattr(AsyncConnectionPool, "check_connection", refuse)
    # More reads than the pool holds connections, so some come back to one that was idle.
    assert len(asyncio.run(read_often())) < 40


def test_a_database_that_is_not_there_does_not_answer(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    database = Database(f"postgresql://nobody@/none?host={tmp_path}", settings)
    with pytest.raises(ServiceUnavailable), database.transaction() as current:
        current.connection()
    database.close()


def test_the_service_can_neither_drop_nor_make_a_table(database: Database, notes: None) -> None:
    for statement in ("DROP TABLE note", "CREATE TABLE mine (n int)", "UPDATE note SET word = ''", "TRUNCATE note"):
        with (
            pytest.raises(ProgrammingError, match=r"permission denied|must be owner"),
            database.transaction() as current,
        ):
            current.connection().execute(text(statement))
    assert not database.owns_tables()


def test_given_the_owners_login_the_service_still_works_as_its_own_role(
    server: embedded.Server, settings: Settings, owner_url: str, notes: None
) -> None:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE sole_owner LOGIN")
        connection.execute(f"GRANT {OWNER_ROLE}, {SERVICE_ROLE} TO sole_owner")
        try:
            database = Database(owner_url.replace(OWNER_ROLE, "sole_owner"), settings)
            with database.transaction() as current:
                who = current.connection().exec_driver_sql("SELECT current_user::text, session_user::text").one()
            assert tuple(who) == (SERVICE_ROLE, "sole_owner")
            assert not database.owns_tables()
            database.close()
        finally:
            connection.execute("DROP ROLE sole_owner")


def test_a_login_that_may_not_become_the_service_is_told_apart(settings: Settings, owner_url: str, notes: None) -> None:
    database = Database(owner_url, settings)
    assert database.owns_tables()
    database.close()


def test_what_is_provided_is_the_url_that_is_set_else_a_server(settings: Settings, short_home: Path) -> None:
    with provision(settings) as urls:
        assert (urls.service, urls.owner) == (settings.database_url, settings.database_owner_url)
        assert str(settings.database_url) not in repr(urls)
    with provision(Settings(home=short_home)) as urls, psycopg.connect(urls.service) as connection:
        assert connection.info.user == SERVICE_ROLE


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (psycopg.OperationalError("connection refused"), True),
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.TooManyConnections(), True),
        (psycopg.errors.SerializationFailure(), True),
        (psycopg.errors.UniqueViolation(), False),
        (psycopg.errors.UndefinedTable(), False),
        (ValueError(), False),
    ],
)
def test_only_a_database_that_is_away_is_called_unavailable(error: Exception, lost: bool) -> None:
    assert (unavailable(error) is not None) is lost


@pytest.mark.parametrize("login", ["service", "owner alone"])
def test_doctor_says_when_no_grant_holds_the_service_back(
    login: str,
    database_url: str,
    owner_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url if login == "service" else owner_url)
    monkeypatch.setenv("GOVCTL_HOME", str(tmp_path))
    main(["doctor", "-o", "json"])
    checks = {check["subject"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert ("as the owner of its tables" in checks["database"]["detail"]) is (login == "owner alone")
    assert checks["database"]["status"] == ("ok" if login == "service" else "warn")
