"""``ROLE:NAMESPACE`` as people write it."""

from __future__ import annotations

from governance.errors import UsageError
from governance.wire import Grant, Role


def grant_of(text: str) -> Grant:
    """A role in a namespace; without one everywhere. Raises UsageError."""
    role, _, namespace = text.partition(":")
    try:
        return Grant(role=Role(role), namespace=namespace or "*")
    except ValueError:
        raise UsageError(
            f"{text!r} is no grant.", fix=f"Write ROLE or ROLE:NAMESPACE with a role of {', '.join(Role)}."
        ) from None
