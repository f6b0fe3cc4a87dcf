"""``ControlPlane``: the typed HTTP client that the command line and the SDK share.

Every problem the service answers is raised as the class of ``governance.errors`` that its code names, so exit
codes and handling follow from the tree. What does not answer at all is ``ServerUnreachable``.
"""

from governance.client.plane import ControlPlane
from governance.client.requests import DEFAULT_TIMEOUT_SEC, error_from_problem

__all__ = ["DEFAULT_TIMEOUT_SEC", "ControlPlane", "error_from_problem"]
