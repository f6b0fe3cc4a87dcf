"""Bringing a database to the schema this release knows, from a checkout or an installed wheel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, create_engine, text
from sqlalchemy.pool import NullPool

from governance.control.roles import SERVICE_ROLE
from governance.errors import DatabaseSetupFailed

_MIGRATION_LOCK = 0x676F76637400  # every release must keep it, so that two never migrate at once


def scripts() -> Path:
    """The folder of migrations: beside the package in a checkout, inside it in a wheel."""
    inside = Path(__file__).parent / "migrations"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "alembic"


def configuration() -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    return config


@lru_cache
def head_revision() -> str:
    """The revision that this code needs the database to be at."""
    head = ScriptDirectory.from_config(configuration()).get_current_head()
    assert head is not None, "the package carries at least one migration"
    return head


def current_revision(connection: psycopg.Connection) -> str | None:
    """The revision the database is at; None where nothing was ever migrated."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('alembic_version') IS NOT NULL")
        if cursor.fetchone() != (True,):
            return None
        cursor.execute("SELECT version_num FROM alembic_version")
        row = cursor.fetchone()
        return None if row is None else str(row[0])


def revision_at(url: str) -> str | None:
    """The revision of the database at ``url``. Raises DatabaseSetupFailed where it does not answer."""
    try:
        with _connect(url) as connection:
            return current_revision(connection)
    except psycopg.OperationalError as error:
        raise _unreachable(error) from error


@contextmanager
def migration_connection(url: str) -> Iterator[Connection]:
    """One transaction as the owner: all migrations take effect or none, and one process at a time."""
    engine = create_engine("postgresql+psycopg://", creator=lambda: _connect(url), poolclass=NullPool)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            yield connection
    finally:
        engine.dispose()


def migrate(url: str) -> str:
    """Bring the database at ``url`` (the owner's login) to the head revision, which is returned.

    Safe to call from every replica at every start. Raises DatabaseSetupFailed where the database does not
    answer, is not Postgres 15 or later, or was migrated by a newer release than this one.
    """
    config = configuration()
    try:
        with migration_connection(url) as connection:
            _refuse_what_is_unknown(connection, config)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except psycopg.OperationalError as error:
        raise _unreachable(error) from error
    except Exception as error:
        cause = getattr(error, "orig", None)
        if isinstance(cause, psycopg.OperationalError):
            raise _unreachable(cause) from error
        raise
    return head_revision()


def bring_up(url: str) -> str:
    """What a start does: :func:`migrate`, or, where ``url`` is a login that may not, see that somebody has.

    A service that holds no owner's login changes no table. Raises DatabaseSetupFailed, also where the database
    does not stand at the head revision and this login cannot bring it there.
    """
    try:
        with _connect(url) as connection:
            able = _may_migrate(connection)
            current = None if able else current_revision(connection)
    except psycopg.OperationalError as error:
        raise _unreachable(error) from error
    except psycopg.errors.InsufficientPrivilege:
        able, current = False, None  # nothing was granted to this login yet
    if able:
        return migrate(url)
    if current is not None:
        _refuse_a_newer(current, configuration())
    if current != head_revision():
        raise DatabaseSetupFailed(
            f"The database is at revision {current}, this release needs {head_revision()},"
            " and this login may not migrate it.",
            fix="Run `govctl migrate` with the login of the tables' owner, then start the service again.",
        )
    return head_revision()


def _may_migrate(connection: psycopg.Connection) -> bool:
    """Whether this login owns the tables, or may make them where there are none."""
    row = connection.execute(
        "SELECT coalesce("
        " (SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class"
        "  WHERE oid = to_regclass('alembic_version')),"
        " has_schema_privilege(current_schema(), 'CREATE'))"
    ).fetchone()
    return row is not None and row[0] is True


def _connect(url: str) -> psycopg.Connection:
    connection = psycopg.connect(url, connect_timeout=10)
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        connection.close()
        raise DatabaseSetupFailed(
            f"The database's encoding is {encoding}; UTF8 is needed.",
            fix="Make one with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`.",
        )
    return connection


def _unreachable(error: psycopg.Error) -> DatabaseSetupFailed:
    reason = " ".join(str(error).split()) or type(error).__name__
    return DatabaseSetupFailed(
        f"The database does not let us in: {reason}",
        fix="Check DATABASE_URL and DATABASE_OWNER_URL, that the server runs and lets this role in.",
    )


def _refuse_what_is_unknown(connection: Connection, config: Config) -> None:
    number = int(connection.scalar(text("SELECT current_setting('server_version_num')")) or 0)
    if number < 150000:
        raise DatabaseSetupFailed(
            f"The database server is Postgres {number // 10000}; 15 or later is needed.",
            fix="Point DATABASE_URL to Postgres 15, 16, 17 or 18, or unset it to use the embedded server.",
        )
    if not connection.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL")):
        return
    for revision in connection.scalars(text("SELECT version_num FROM alembic_version")):
        _refuse_a_newer(revision, config)


def _refuse_a_newer(revision: str, config: Config) -> None:
    if revision not in {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}:
        raise DatabaseSetupFailed(
            f"The database is at revision {revision}, which this release does not know.",
            fix="A newer release has migrated it: run that release, or restore a backup taken before it.",
        )


def apply_grants(connection: Connection, metadata: MetaData) -> None:
    """Give the service's role what each table declares (``info={"grants": …}``) and nothing else.

    Runs after every migration, so a role that was created later, or a grant given by hand, is set right.
    Without that role (the owner may create none) nothing is granted: the service then works as the owner.
    Raises ValueError for a table that declares nothing.
    """
    if not connection.scalar(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": SERVICE_ROLE}):
        return
    quote = connection.dialect.identifier_preparer.quote
    wanted: dict[str, tuple[str, ...]] = {"alembic_version": ("SELECT",)}
    for table in metadata.sorted_tables:
        if "grants" not in table.info:
            raise ValueError(f"table {table.name} does not say what the service may do with it")
        wanted[table.name] = tuple(table.info["grants"])
    for name, privileges in wanted.items():
        if not connection.scalar(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": quote(name)}):
            continue
        connection.execute(text(f"REVOKE ALL ON {quote(name)} FROM {SERVICE_ROLE}"))
        if privileges:
            connection.execute(text(f"GRANT {', '.join(privileges)} ON {quote(name)} TO {SERVICE_ROLE}"))
