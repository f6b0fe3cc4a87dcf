"""One data folder and the server on it: made, started, asked, stopped. Who shares it is not its business."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from governance.control.embedded import process
from governance.control.embedded.account import Account
from governance.control.embedded.binaries import Binaries
from governance.control.roles import DATABASE_NAME, OWNER_ROLE, SERVICE_ROLE
from governance.errors import DatabaseSetupFailed

SUPERUSER = "postgres"
_PORT = 5432
SOCKET_NAME = f".s.PGSQL.{_PORT}"
_LOG_BYTES_KEPT = 5_000_000
_TELLING = re.compile(
    r"(?:LOG|FATAL|PANIC): +((?<=FATAL:  ).*|(?<=PANIC:  ).*|unrecognized .*|invalid .*|could not .*)"
)
_CAUSE = re.compile(r"\b(?:error|FATAL|PANIC):|\bcould not\b|\bcannot\b")
_PASSING = ("another postmaster", "still in use", "already in use", "already exists")

_CONFIGURATION = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": str(_PORT),
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A failed statement's text and values may be somebody's secret; the service logs failures itself.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """``folder`` holds data and log, ``socket`` the way in; ``options`` are more configuration lines."""

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

    @property
    def pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    def url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.socket), safe='')}&port={_PORT}"

    def answers(self) -> bool:
        """Alive is what answers a query; a process number proves nothing."""
        try:
            with self._connect() as connection:
                connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def initialise(self) -> None:
        """Make the data folder whole beside its place and then move it there: half of one is never seen."""
        for left_over in self.folder.glob("data.new*"):
            shutil.rmtree(left_over, ignore_errors=True)
        # A name of its own: the initdb of a killed process may still be writing in the one before.
        fresh = Path(tempfile.mkdtemp(prefix="data.new-", dir=self.folder))
        if os.geteuid() == 0:
            os.chown(fresh, self.account.uid, self.account.gid)
        locale = ["--locale=C"]
        if self.binaries.major >= 17:
            locale = ["--locale-provider=builtin", "--locale=C.UTF-8"]
        argv = [
            self.binaries.program("initdb"),
            "-D",
            fresh.name,
            "-U",
            SUPERUSER,
            "-A",
            "trust",
            "-E",
            "UTF8",
        ]
        status, said = self._run([*argv, *locale], timeout=300)
        if status != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise DatabaseSetupFailed(
                f"The server's data folder could not be made in {self.folder}: {said}",
                fix="Make room or rights there, or name another folder with GOVCTL_HOME.",
            )
        with (fresh / "postgresql.conf").open("a") as configuration:
            configuration.write("\ninclude 'governance.conf'\n")
        with (fresh / "pg_hba.conf").open("w") as access:
            access.write("# The socket's folder is the server's user's alone: who can enter it is let in.\n")
            access.write("local all all trust\n")
        fresh.rename(self.data)
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def bring_up(self, timeout: float) -> None:
        """Start the server and wait for its answer. Raises DatabaseSetupFailed with its last words."""
        own_folder(self.socket, self.account)
        own_folder(self.log.parent, self.account)
        self._configure()
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES_KEPT:
            self.log.replace(self.log.with_suffix(".log.1"))
        deadline = time.monotonic() + timeout
        attempt = 0
        while True:
            attempt += 1
            self._forget_dead()
            mark = self.log.stat().st_size if self.log.exists() else 0
            left = max(1, int(deadline - time.monotonic()))
            argv = ["-D", self.data.name, "-w", "-t", str(left), "-l", "log/server.log", "start"]
            _, said = self._run([self.binaries.program("pg_ctl"), *argv], timeout=left + 30)
            while True:
                if self.answers():
                    return
                # Recovery after a crash may outlast pg_ctl's patience; a living server is waited for.
                if time.monotonic() > deadline or not self.lives():
                    break
                time.sleep(0.05)
            reason = self._last_words(mark) or said
            # Right after a crash the old server's children may still hold its memory and its socket.
            passing = any(words in reason.lower() for words in _PASSING)
            if time.monotonic() > deadline or not (passing or attempt < 2):
                raise DatabaseSetupFailed(
                    f"The database server in {self.folder} does not start: {reason}",
                    fix=f"Read {self.log}; the data is left as it is. Or set DATABASE_URL.",
                )
            time.sleep(min(0.1 * attempt, 1))

    def stop(self) -> None:
        argv = ["-D", self.data.name, "-m", "fast", "-w", "-t", "60", "stop"]
        self._run([self.binaries.program("pg_ctl"), *argv], timeout=90)

    def ensure_roles(self) -> None:
        """The two roles and the database, wherever an earlier start was interrupted."""
        with self._connect() as connection:
            present = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role in (OWNER_ROLE, SERVICE_ROLE):
                if role not in present:
                    connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE_NAME])
            if found.fetchone() is None:
                database, owner = sql.Identifier(DATABASE_NAME), sql.Identifier(OWNER_ROLE)
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, owner))

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self.url(SUPERUSER, "postgres"), connect_timeout=10, autocommit=True)

    def _configure(self) -> None:
        lines = {**_CONFIGURATION, "unix_socket_directories": str(self.socket), **self.options}
        # The folder is another user's when root writes here: a new file and a rename follow no link.
        handle, name = tempfile.mkstemp(prefix="governance.", dir=self.data)
        with os.fdopen(handle, "w") as configuration:
            configuration.write("# Written anew at every start.\n")
            for setting, value in lines.items():
                escaped = value.replace("\\", "\\\\").replace("'", "''")
                configuration.write(f"{setting} = '{escaped}'\n")
            if os.geteuid() == 0:
                os.fchown(handle, self.account.uid, self.account.gid)
        Path(name).replace(self.data / "governance.conf")

    def _forget_dead(self) -> None:
        """Remove pid files whose number now belongs to something else; Postgres sees to vanished ones."""
        for path in (self.pid_file, self.socket / f"{SOCKET_NAME}.lock"):
            pid = process.pid_in(path)
            if pid is not None and process.exists(pid) and not process.is_server_of(pid, self.data):
                path.unlink(missing_ok=True)

    def lives(self) -> bool:
        """Whether its process is there, answering or not; the cheap question of who only waits for a death."""
        pid = process.pid_in(self.pid_file)
        return pid is not None and process.is_server_of(pid, self.data)

    def _run(self, argv: Sequence[str], *, timeout: float) -> tuple[int, str]:
        """Exit status, and why it failed if it says so. Output goes to a file: the server would hold a pipe open."""
        with tempfile.TemporaryFile() as output:
            try:
                status = self.account.run(argv, cwd=self.folder, timeout=timeout, stdout=output)
            except subprocess.TimeoutExpired:
                return 1, f"{Path(argv[0]).name} did not end within {timeout:.0f} seconds"
            except OSError as error:
                return 1, f"{argv[0]} cannot be run: {error.strerror}"
            output.seek(0)
            said = output.read()[-16_000:].decode(errors="replace").splitlines()
        lines = [line.strip() for line in said if line.strip()]
        causes = list(dict.fromkeys(line for line in lines if _CAUSE.search(line)))
        return status, "; ".join(causes[:3]) or (lines[-1] if lines else "")

    def _last_words(self, mark: int) -> str:
        """What the log says past ``mark`` bytes about why it died, empty where it says nothing."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(mark, self.log.stat().st_size - 8000))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        told = [match for match in map(_TELLING.search, lines) if match]
        return "; ".join(match[1] for match in told[-3:]) if any("FATAL" in match[0] for match in told) else ""


def own_folder(path: Path, account: Account) -> None:
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
