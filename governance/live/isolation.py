"""What a started server may see of this machine: its environment, and whether there is a network."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from typing import Final

from governance.errors import UsageError

_HARMLESS: Final = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
_OURS: Final = "GOVCTL_"
_PROBE_SEC: Final = 5.0


def environment_for(
    ours: Mapping[str, str], *, empty: bool = False, given: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """What a server is given of our environment: all but our own settings (a token is among them), or, if it is
    to be ``empty``, only what says where things are; then what was ``given`` to it by name."""
    kept = {name: value for name, value in ours.items() if not name.startswith(_OURS)}
    if empty:
        kept = {name: kept[name] for name in _HARMLESS if name in kept}
    return {**kept, **dict(given)}


@functools.cache
def without_network() -> tuple[str, ...]:
    """The words before a command that give it a network namespace of its own, in which not even loopback is up.

    Raises:
        UsageError: this machine cannot. It is never left out in silence.
    """
    unshare = shutil.which("unshare")
    ways: list[tuple[str, ...]] = [("--net",)] if os.geteuid() == 0 else []
    ways += [("--net", "--map-current-user"), ("--net", "--map-root-user")]
    for way in ways if unshare else ():
        words = (str(unshare), *way, "--")
        try:
            subprocess.run(
                [*words, "true"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PROBE_SEC,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return words
    missing = "has no `unshare`" if unshare is None else "does not allow network namespaces to this user"
    raise UsageError(
        f"--no-network: this machine {missing}.",
        fix="Run it where Linux allows them (as root, or with user namespaces), or in a container without a network.",
    )
