"""What is told: entries of the audit inbox, as events.

The inbox is the outbox: an entry is written by the transaction it speaks of, so nothing is told that did not happen,
nothing that happened is left untold, and a change costs no row more. An event's type is the entry's action, its
id the entry's place in the one order that readers have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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

NEWEST: Final = """
SELECT coalesce(newest.xact, 0), coalesce(newest.id, 0), pg_snapshot_xmax(pg_current_snapshot())::text::bigint
FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    SELECT xact, id FROM audit_inbox WHERE xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    ORDER BY xact DESC, id DESC LIMIT 1
) newest ON true
"""
"""The last place that readers may know of, of transactions before the oldest that is unfinished, so that nothing ever
appears behind a reader; and the number of the next transaction."""


@dataclass(frozen=True, kw_only=True)
class Horizon:
    """How far entries may be told at one moment."""

    newest: Position
    next_xact: int

    def here(self, place: Position) -> Position:
        """``place``, or the beginning where no transaction of this server can have given it out.

        A database that was restored into another server counts its transactions anew: places of its old life lie
        ahead of all that will happen for years. What happened then was told then; what happens now comes after START.
        """
        return START if place.xact >= self.next_xact else place


def horizon_of(row: Sequence[int]) -> Horizon:
    """From the one row that NEWEST gives."""
    return Horizon(newest=Position(xact=row[0], id=row[1]), next_xact=row[2])


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
