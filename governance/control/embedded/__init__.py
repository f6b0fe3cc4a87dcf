"""A real Postgres without an installed one: found, initialised, started, shared and stopped for you.

``start(home)`` answers with a running ``Server``. Any number of processes may hold one on the same home; the
first starts it and the last one out stops it. Only a Unix socket in a folder of its own leads in.
"""

from governance.control.embedded.binaries import Binaries, find_binaries
from governance.control.embedded.server import Server, start

__all__ = ["Binaries", "Server", "find_binaries", "start"]
