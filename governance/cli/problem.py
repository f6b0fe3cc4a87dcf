"""An error as a document for machines and as lines for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from governance.errors import GovernanceError


def problem(error: GovernanceError) -> dict[str, Any]:
    """The error as the one problem document (RFC 9457) that the service answers too."""
    document: dict[str, Any] = {
        "type": f"urn:skill-governance:problem:{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "fix": error.fix,
        "errors": [fault.to_document() for fault in error.faults],
    }
    return document | ({"details": error.details} if error.details else {})


def problem_lines(error: GovernanceError, *, limit: int = 20) -> Iterable[str]:
    """The error for a person: the sentence, where it is, what to do next."""
    yield f"error: {error.message}"
    yield from (f"  {fault}" for fault in error.faults[:limit])
    if len(error.faults) > limit:
        yield f"  …and {len(error.faults) - limit} more"
    if error.fix:
        yield f"  → {error.fix}"
