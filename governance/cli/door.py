"""The one lazy door to the control plane's code: what `serve`, `migrate`, `demo` and `doctor` need of it.

Nothing else of the command line imports ``governance.control``: a check in CI starts no web framework.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from governance.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Migrated:
    """Revisions of a database: before, now, and the one this version needs. None: never migrated."""

    before: str | None
    current: str | None
    head: str


def home(environment: Mapping[str, str]) -> Path:
    """GOVCTL_HOME, else its default. Raises UsageError where no home can be told."""
    from governance.control.settings import default_home

    named = environment.get("GOVCTL_HOME", "")
    return Path(named).expanduser() if named else default_home(environment)


def local_server(environment: Mapping[str, str]) -> tuple[Path, str, str | None] | None:
    """Where a server of this user runs: its ``server.json``, address and token; None if there is none."""
    try:
        path = home(environment) / "server.json"
        if not os.access(path, os.R_OK):
            return None
        found = json.loads(path.read_bytes())
    except (UsageError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("address"), str):
        return None
    token = found.get("token")
    return path, found["address"], token if isinstance(token, str) else None


def serve(environment: Mapping[str, str], *, host: str | None = None, port: int | None = None) -> None:
    """Run the service until it is told to stop.

    Raises:
        UsageError: settings nobody can serve with; the port is busy.
        DatabaseSetupFailed: no database could be started or migrated.
    """
    from governance.control.serving import serve as run_service
    from governance.control.settings import Settings

    given: dict[str, str] = {}
    if host is not None:
        given["GOVCTL_HOST"] = host
    if port is not None:
        given["GOVCTL_PORT"] = str(port)
    run_service(Settings.from_environment({**environment, **given}))


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, str]]:
    """A service in this process on a free port with an embedded database in ``home``: its address and token.

    Nothing of it outlives the block.

    Raises:
        DatabaseSetupFailed, ServiceError: it could not be started.
    """
    from governance.control.serving import serving as in_thread
    from governance.control.settings import Settings

    for name in ("governance", "uvicorn"):
        logging.getLogger(name).addHandler(logging.NullHandler())  # the report is what is to be read here
    settings = Settings.from_environment({"GOVCTL_HOME": str(home), "GOVCTL_PORT": "0"})
    with in_thread(settings) as ready:
        yield ready.address, ready.token


def migrate(environment: Mapping[str, str], *, check: bool) -> Migrated:
    """Bring the configured database to this version's tables; with ``check`` only look.

    Raises:
        DatabaseSetupFailed: it cannot be started or reached, or a newer version migrated it.
    """
    from governance.control.database import head_revision, provision
    from governance.control.database import migrate as bring_to_head
    from governance.control.migrating import revision_at
    from governance.control.settings import Settings

    settings = Settings.from_environment(environment)
    with provision(settings) as urls:
        before = revision_at(urls.owner)
        current = before if check else bring_to_head(urls.owner)
    return Migrated(before=before, current=current, head=head_revision())


@dataclass(frozen=True, kw_only=True)
class Programs:
    """One set of Postgres programs that could run the embedded server."""

    folder: Path
    major: int
    origin: str


def postgres_programs() -> list[Programs]:
    """Every usable set, preferred first."""
    from governance.control.embedded import find_binaries

    return [Programs(folder=b.folder, major=b.major, origin=b.origin) for b in find_binaries()]


def database_state(environment: Mapping[str, str]) -> Migrated | None:
    """Revisions of the database that DATABASE_URL names; None when it is unset. Starts nothing.

    Raises:
        DatabaseSetupFailed: it does not answer.
    """
    from governance.control.migrating import head_revision, revision_at
    from governance.control.settings import Settings

    settings = Settings.from_environment(environment)
    url = settings.database_owner_url or settings.database_url
    if url is None:
        return None
    current = revision_at(url)
    return Migrated(before=current, current=current, head=head_revision())


def works_as_owner(environment: Mapping[str, str]) -> bool:
    """Whether a service on DATABASE_URL has its tables' owner's rights, which no grant holds back.

    False when it is unset: the embedded server has both roles.

    Raises:
        ServiceUnavailable: it does not answer.
    """
    from governance.control.database import Database
    from governance.control.settings import Settings

    settings = Settings.from_environment(environment)
    if settings.database_url is None:
        return False
    database = Database(settings.database_url, settings)
    try:
        return database.owns_tables()
    finally:
        database.close()


def settings_complaint(environment: Mapping[str, str]) -> str | None:
    """Which GOVCTL_* variables nobody reads; None: all is well. Raises UsageError for unusable settings."""
    from governance.control.settings import Settings

    settings = Settings.from_environment(environment)
    return f"nobody reads {', '.join(settings.unknown)}" if settings.unknown else None
