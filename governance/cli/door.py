"""The one lazy door to the control plane's code: what `serve`, `migrate`, `demo` and `doctor` need of it.

Nothing else of the command line imports ``governance.control``: a check in CI starts no web framework.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path


def local_server(environment: Mapping[str, str]) -> tuple[Path, str, str | None] | None:
    """Where a server of this user runs: its ``server.json``, address and token; None if there is none."""
    from governance.control.settings import default_home
    from governance.errors import UsageError

    named = environment.get("GOVCTL_HOME", "")
    try:
        home = Path(named).expanduser() if named else default_home(environment)
    except UsageError:
        return None
    path = home / "server.json"
    if not os.access(path, os.R_OK):
        return None
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("address"), str):
        return None
    token = found.get("token")
    return path, found["address"], token if isinstance(token, str) else None
