"""As whom the server runs. Postgres refuses root and refuses a user without a name, so both need an answer.

An ordinary user runs it as themselves. Root runs it as an unprivileged user; where that user may not enter
the home, in a user namespace in which root goes by that user's number. No folder's permissions are widened.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from governance.errors import DatabaseSetupFailed

_UNPRIVILEGED = ("nobody", "daemon")
_INHERITED = ("PATH", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
"""All that the server gets of our environment: it runs as somebody else, who may read it, and tokens stand in it."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A user to run programs as: ``uid`` and ``gid`` own the files as seen from here.

    ``prefix`` and ``options`` (of ``subprocess``) make a program run as that user.
    """

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    namespace: bool = False

    def run(self, argv: Sequence[str], *, cwd: Path, timeout: float, stdout: Any = None) -> int:
        """Run to the end and answer the exit status, output to ``stdout``. Raises OSError, TimeoutExpired."""
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        return subprocess.run(
            [*self.prefix, *argv],
            cwd=cwd,
            env={**environment, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=stdout if stdout is not None else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
            **dict(self.options),
        ).returncode

    def may(self, test: str, path: Path) -> bool:
        """Whether the user may enter or run (``-x``) or read (``-r``) that path, asked as that user."""
        try:
            return self.run([_tool("test"), test, str(path)], cwd=Path("/"), timeout=20) == 0
        except (OSError, subprocess.SubprocessError):
            return False


def account_for(folder: Path, data: Path) -> Account:
    """Choose for a home whose server folder is ``folder`` (it exists); existing ``data`` keeps its owner.

    Raises DatabaseSetupFailed with the folder that stands in the way.
    """
    owner = data.stat().st_uid if data.exists() else None
    if os.geteuid() != 0:
        return _ordinary(owner, data)
    if owner == 0:
        return _namespace(folder, folder)
    if owner is None:
        owner = folder.stat().st_uid or None  # a home that root keeps for somebody is served as that user
    account = _as_user(_unprivileged_uid() if owner is None else owner)
    if account.may("-x", folder):
        return account
    blocked = next((path for path in reversed(folder.parents) if not account.may("-x", path)), folder)
    if owner is None:
        return _namespace(blocked, folder)
    raise DatabaseSetupFailed(
        f"User number {owner}, whose home this is, cannot enter {blocked}.",
        fix=f"Let that user enter {blocked}, or name another home with GOVCTL_HOME.",
    )


def _ordinary(owner: int | None, data: Path) -> Account:
    uid, gid = os.geteuid(), os.getegid()
    if owner is not None and owner != uid:
        raise DatabaseSetupFailed(
            f"The data in {data} belongs to another user (number {owner}).",
            fix="Run as that user, or name a home of your own with GOVCTL_HOME.",
        )
    if _named(uid):
        return Account(uid=uid, gid=gid)
    mapped = _mapped()
    if mapped is not None:
        return mapped
    raise DatabaseSetupFailed(
        f"The user number {uid} has no entry in the password file, and Postgres refuses such a user.",
        fix="Add an entry for it (or run as a user that has one), or set DATABASE_URL.",
    )


def _namespace(blocked: Path, folder: Path) -> Account:
    mapped = _mapped()
    if mapped is not None and mapped.may("-x", folder):
        return mapped
    if mapped is not None:
        # in the namespace root is a user like any other to what belongs to a third one
        closed = next((path for path in reversed(folder.parents) if not mapped.may("-x", path)), folder)
        raise DatabaseSetupFailed(
            f"Postgres does not run as root, and {closed} lets in nobody but its owner (user number"
            f" {closed.stat().st_uid}), while the home in it belongs to root.",
            fix=f"Give {folder.parent} to that owner, run as them, or name another home with GOVCTL_HOME.",
        )
    raise DatabaseSetupFailed(
        f"Postgres does not run as root, no unprivileged user may enter {blocked},"
        " and user namespaces are not allowed here.",
        fix="Name a home that others may enter with GOVCTL_HOME (/var/lib/govctl, say), or set DATABASE_URL.",
    )


def _mapped() -> Account | None:
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    entry = pwd.getpwuid(_unprivileged_uid())
    prefix = (unshare, "--user", f"--map-user={entry.pw_uid}", f"--map-group={entry.pw_gid}", "--")
    account = Account(uid=os.geteuid(), gid=os.getegid(), prefix=prefix, namespace=True)
    try:
        return account if account.run([_tool("true")], cwd=Path("/"), timeout=20) == 0 else None
    except (OSError, subprocess.SubprocessError):
        return None


def _as_user(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise DatabaseSetupFailed(
            f"The data belongs to user number {uid}, who has no entry in the password file.",
            fix="Add an entry for it, or name another home with GOVCTL_HOME.",
        ) from None
    options = (("user", entry.pw_uid), ("group", entry.pw_gid), ("extra_groups", ()))
    return Account(uid=entry.pw_uid, gid=entry.pw_gid, options=options)


def _unprivileged_uid() -> int:
    for name in _UNPRIVILEGED:
        try:
            uid = pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
        if uid != 0:
            return uid
    raise DatabaseSetupFailed(
        f"Postgres does not run as root, and there is no user {' or '.join(_UNPRIVILEGED)} to run it as.",
        fix="Run as an ordinary user, or set DATABASE_URL.",
    )


def _named(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _tool(name: str) -> str:
    return shutil.which(name) or f"/usr/bin/{name}"
