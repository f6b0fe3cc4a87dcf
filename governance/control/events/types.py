"""What is told: entries of the audit inbox, as events.

The inbox is the outbox: an entry is written by the transaction it speaks of, so nothing is told that did not happen,
nothing that happened is left untold, and a change costs no row more. An event's type is the entry's action, its
id the entry's place in the one order that readers have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from governance.control.audit.service import AUDIT_ACTIONS
from governance.core.document import read_json
from governance.errors import UsageError

SILENT: Final = frozenset(
    {
        "auth.unauthenticated",
        "token.create",
        "token.revoke",
        "check.run",
        "consumer.contact",
        "line.bind",
        "publisher.create",
        "publisher.revoke",
        "publisher.exchange",
        "rollout.report",
        "webhook.create",
        "webhook.delete",
        "webhook.rotate",
        "webhook.disable",
        "webhook.enable",
        "webhook.ping",
        "webhook.redeliver",
    }
)
"""Actions that are nobody's news: who holds which token, and what happens at every other call."""

_POSITION: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


def event_types() -> list[str]:
    """Every type there is."""
    return sorted(AUDIT_ACTIONS.keys() - SILENT)


@dataclass(frozen=True, kw_only=True, order=True)
class Position:
    """A place in the order of all entries."""

    xact: int
    id: int

    def __str__(self) -> str:
        return f"{self.xact}-{self.id}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises UsageError for what no event ever bore."""
        match = _POSITION.fullmatch(text)
        if match is None:
            raise UsageError("That is the id of no event.", fix="Give the id of the last event that came, or 0-0.")
        return cls(xact=int(match[1]), id=int(match[2]))


START: Final = Position(xact=0, id=0)
"""Before all entries."""


def chosen_types(asked: list[str]) -> list[str]:
    """The types asked for, all of them where none is. Raises UsageError for one there is not."""
    known = event_types()
    for one in asked:
        if one not in known:
            raise UsageError(f"There is no event type {one[:80]!r}.", fix=f"There are {', '.join(known)}.")
    return sorted(set(asked)) or known


def event_of(position: Position, entry: bytes) -> dict[str, Any]:
    """The event that an entry is, as an ``Event``."""
    told = read_json(entry)
    return {
        "id": str(position),
        "type": told["action"],
        "time": told["at"],
        "namespace": told["namespace"],
        "subject": told["subject"],
        "actor": told["actor"]["name"],
        "reason": told["reason"],
        "data": told["after"] or {},
    }
