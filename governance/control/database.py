"""The one place that opens, commits and closes: sessions for writes, a pool for hot reads.

One request is one transaction. ``session`` is the FastAPI dependency, to be used as
``Annotated[Session, Depends(session, scope="function")]``: with that scope a commit that fails is an answer
that fails. Nobody else commits.
"""

from __future__ import annotations

import re
import select
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import psycopg
import sqlalchemy.exc
from fastapi import Request
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout
from sqlalchemy import MetaData, create_engine, event, text
from sqlmodel import Session, SQLModel

from governance.control import embedded
from governance.control.migrating import bring_up, current_revision, head_revision, migrate
from governance.control.roles import BECOME_SERVICE
from governance.control.settings import Settings
from governance.errors import OutcomeUnknown, ServiceUnavailable

__all__ = [
    "METADATA",
    "Database",
    "DatabaseUrls",
    "Row",
    "bring_up",
    "current_revision",
    "grants",
    "head_revision",
    "it_is",
    "migrate",
    "provision",
    "session",
    "time_of",
    "unavailable",
]

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_CONNECT_TIMEOUT_SEC = 5
_POOL_WAIT_SEC = 10
_LOCK_SHARE_MS: Final = 750
"""Of each second a statement may take, how long it may wait for a lock, so that the wait is told as what it is."""
_STANDSTILL_SEC: Final = 120
"""A replica that stands still in the middle of a change gives back the locks it holds."""
_NOTICE_SILENCE: Final[Mapping[str, int]] = {
    "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000,
}  # fmt: skip
"""A server that vanishes with its machine never says so: nobody waits for it without end."""


class Row(SQLModel):
    """Base of every table, so that all of them share one metadata and its constraint names."""

    metadata = METADATA


def grants(*privileges: str) -> dict[str, Any]:
    """What the service's role may do with a table: last member of its ``__table_args__``.

    ``__table_args__ = (Index(…), grants("SELECT", "INSERT"))``; privileges are Postgres's own words,
    with the columns they hold for where that is not all: ``"UPDATE (revoked_at)"``.
    """
    return {"info": {"grants": privileges}}


@dataclass(frozen=True, kw_only=True)
class DatabaseUrls:
    """Two logins to one database: the service's, and the owner's for migrations. They may be the same."""

    service: str = field(repr=False)
    owner: str = field(repr=False)


@contextmanager
def provision(settings: Settings) -> Iterator[DatabaseUrls]:
    """The database the settings name, else the embedded server, which is kept up for as long as the block lasts.

    Raises DatabaseSetupFailed where no server can be found or started.
    """
    if settings.database_url is not None:
        owner = settings.database_owner_url or settings.database_url
        yield DatabaseUrls(service=settings.database_url, owner=owner)
        return
    with embedded.start(settings.home) as server:
        server.keep_up()
        yield DatabaseUrls(service=server.service_url, owner=server.owner_url)


class Database:
    """Connections to one Postgres as the service's role.

    ``engine`` serves sessions in threads. ``reads`` is an asynchronous psycopg pool in autocommit; it opens
    inside ``async with database.reading()`` (the application's lifespan).
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url
        self._options: Mapping[str, Any] = {
            "connect_timeout": _CONNECT_TIMEOUT_SEC,
            "application_name": "govctl",
            "options": f"-c statement_timeout={settings.statement_timeout_sec}s"
            f" -c lock_timeout={settings.statement_timeout_sec * _LOCK_SHARE_MS}ms"
            f" -c idle_in_transaction_session_timeout={_STANDSTILL_SEC}s -c timezone=UTC",
            **_NOTICE_SILENCE,
        }
        self.engine = create_engine(
            "postgresql+psycopg://",
            creator=self.connect,
            pool_size=settings.session_pool_size,
            max_overflow=0,
            pool_timeout=_POOL_WAIT_SEC,
            hide_parameters=True,  # an error says what failed, never which row was being written
        )
        event.listen(self.engine, "checkout", _check_checked_out)
        self.reads: AsyncConnectionPool[psycopg.AsyncConnection[tuple[Any, ...]]] = AsyncConnectionPool(
            url,
            kwargs={**self._options, "autocommit": True},
            min_size=1,
            max_size=settings.read_pool_size,
            timeout=_POOL_WAIT_SEC,
            configure=_become_service_async,
            check=_check,
            open=False,
        )

    def connect(self) -> psycopg.Connection:
        """A new connection, as the service's role wherever that role may be taken."""
        connection = psycopg.connect(self._url, autocommit=True, **self._options)
        try:
            connection.execute(BECOME_SERVICE)
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue):
            pass  # the role does not exist or may not be taken: ``owns_tables`` tells the operator
        except BaseException:
            connection.close()
            raise
        connection.autocommit = False
        return connection

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """One transaction: committed when the block ends well, else undone.

        Raises:
            OutcomeUnknown: the connection was lost while it committed.
            ServiceUnavailable: the database does not answer; nothing was changed.
        """
        committing = False
        try:
            with Session(self.engine) as current:
                yield current
                current.flush()
                committing = True
                current.commit()
        except (sqlalchemy.exc.DBAPIError, sqlalchemy.exc.TimeoutError) as error:
            translated = unavailable(error)
            if translated is None:
                raise
            raise (_unknown() if committing and _is_lost(error) else translated) from error

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Hold the read pool open for the block."""
        await self.reads.open()
        try:
            yield
        finally:
            await self.reads.close()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[psycopg.AsyncConnection[tuple[Any, ...]]]:
        """A connection of the read pool. Raises ServiceUnavailable where the database does not answer."""
        try:
            async with self.reads.connection() as connection:
                yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed) as error:
            raise unavailable(error) or error from error

    def owns_tables(self) -> bool:
        """True where the service works as the owner of a table, so that grants cannot hold it back."""
        with self.transaction() as current:
            owned = current.connection().exec_driver_sql(
                "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')"
                " AND pg_has_role(current_user, c.relowner, 'USAGE'))"
            )
            return bool(owned.scalar())

    def close(self) -> None:
        self.engine.dispose()


def session(request: Request) -> Iterator[Session]:
    """The request's transaction (``app.state.database`` is the Database)."""
    database: Database = request.app.state.database
    with database.transaction() as current:
        yield current


_NOW: Final = text("SELECT clock_timestamp()")


def time_of(session: Session) -> datetime:
    """The time by the database's clock, which all replicas share; one a transaction, asked for when first needed."""
    known: datetime | None = session.info.get("now")
    return known or it_is(session, session.execute(_NOW).scalar_one())


def it_is(session: Session, when: datetime) -> datetime:
    """Let ``when``, which a statement brought along, be the transaction's time."""
    session.info["now"] = when.astimezone(UTC)
    return when.astimezone(UTC)


def unavailable(error: BaseException) -> ServiceUnavailable | None:
    """The database's failure as ServiceUnavailable, None for an error of ours (a broken constraint, say)."""
    if _is_lost(error):
        return ServiceUnavailable("The database does not answer.", fix="Send the same request again in a moment.")
    state = _state(error)
    if state == "XX000" and _OF_FILES.search(str(error)):
        state = "58"
    told = _TOLD.get(state) or _TOLD.get(state[:2])
    return None if told is None else ServiceUnavailable(told[0], fix=told[1])


_OF_FILES: Final = re.compile(r"could not (extend|write|create|open|fsync) ")
"""What the server says of a quota or a limit on files, for which it has no code."""
_TOLD: Final[Mapping[str, tuple[str, str]]] = {
    "25P03": ("The request stood still for too long.", "Send it again in a moment."),
    "40": ("The change got in the way of another.", "Send the same request again in a moment."),
    "53": ("The database is short of room or connections.", "See its log; send the same request again then."),
    "53100": ("The database's disk is full.", "Make room for it, and send the same request again."),
    "55P03": ("Another request holds what this one needs.", "Send the same request again in a moment."),
    "57": ("The database does not answer.", "Send the same request again in a moment."),
    "57014": (
        "The database gave up a statement that took too long.",
        "Ask for less at a time, or raise GOVCTL_STATEMENT_TIMEOUT_SEC.",
    ),
    "58": ("The database cannot read or write its files.", "See its log; send the same request again then."),
}
"""Sentence and advice by SQLSTATE or its class; in all of these cases nothing was changed."""


def _state(error: BaseException) -> str:
    """The SQLSTATE, empty where the error did not come from the server."""
    return getattr(getattr(error, "orig", None) or error, "sqlstate", None) or ""


def _is_lost(error: BaseException) -> bool:
    """Is there no connection (any more)?"""
    cause, state = getattr(error, "orig", None) or error, _state(error)
    ours = psycopg.OperationalError | psycopg.InterfaceError | sqlalchemy.exc.TimeoutError | PoolClosed
    return (not state and isinstance(cause, ours)) or state.startswith(("08", "57P"))


def _unknown() -> OutcomeUnknown:
    return OutcomeUnknown(
        "The database went away while it committed: whether the change was made is not known.",
        fix="Send the same request again: a PUT, a DELETE or an Idempotency-Key makes nothing twice. Look first"
        " after a POST without a key.",
    )


async def _become_service_async(connection: psycopg.AsyncConnection[Any]) -> None:
    try:
        await connection.execute(BECOME_SERVICE)
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue):
        return


def _is_silent(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether nothing waits to be read: an idle server says nothing unless it goes away, which shows as an end.

    It saves every request a round trip; only a server that vanishes without a word, with its machine, is missed.
    """
    try:
        readable = select.select([connection.fileno()], [], [], 0)[0]
    except (psycopg.Error, OSError, ValueError):
        return False
    return not readable


async def _check(connection: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
    if not _is_silent(connection):
        await AsyncConnectionPool.check_connection(connection)


def _check_checked_out(connection: psycopg.Connection[Any], record: object, proxy: object) -> None:
    if _is_silent(connection):
        return
    try:
        connection.execute("SELECT")
        connection.rollback()
    except psycopg.Error as error:
        raise sqlalchemy.exc.DisconnectionError from error
