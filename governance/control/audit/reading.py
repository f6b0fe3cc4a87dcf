"""Reading entries, in an order in which nothing ever appears behind the reader.

Entries come by the transaction that wrote them and then by id, and only of transactions before the oldest that
is unfinished. A database restored into another server has numbers of its old life: they lie past every number
given out here, so they are read as well, and a reader who continues from before must begin again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, or_, text, tuple_
from sqlmodel import Session, col, select

from governance.control.audit.service import AUDIT_ACTIONS
from governance.control.audit.tables import AuditEntry
from governance.control.auth.roles import Caller, Right
from governance.errors import UsageError

_POSITION: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")

_FINISHED: Final = text(
    "(xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    " OR xact >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)"
)


@dataclass(frozen=True, kw_only=True)
class Page:
    """Entries as canonical JSON, oldest first; the position of the last; whether there are more already."""

    entries: list[bytes]
    last: str | None
    more: bool


def page(
    session: Session,
    *,
    by: Caller,
    after: str | None = None,
    subject: str | None = None,
    action: str | None = None,
    limit: int,
) -> Page:
    """Entries of the namespaces in which the caller may read the log; those of no one namespace need ``*``.

    Raises UsageError for a position that no page gave out, and an action there is not.
    """
    if action is not None and action not in AUDIT_ACTIONS:
        raise UsageError(f"There is no action {action[:80]!r}.", fix=f"There are {', '.join(sorted(AUDIT_ACTIONS))}.")
    xact, entry_id = col(AuditEntry.xact), col(AuditEntry.id)
    query = select(AuditEntry.entry, AuditEntry.xact, AuditEntry.id).where(_FINISHED, _visible(by))
    if after is not None:
        query = query.where(tuple_(xact, entry_id) > tuple_(*_position(after)))
    if subject is not None:
        query = query.where(col(AuditEntry.subject) == subject)
    if action is not None:
        query = query.where(col(AuditEntry.action) == action)
    rows = session.exec(query.order_by(xact, entry_id).limit(limit + 1)).all()
    given = rows[:limit]
    return Page(
        entries=[bytes(entry) for entry, _, _ in given],
        last=f"{given[-1][1]}-{given[-1][2]}" if given else after,
        more=len(rows) > limit,
    )


def _position(after: str) -> tuple[int, int]:
    match = _POSITION.fullmatch(after)
    if match is None:
        raise UsageError("The cursor belongs to another list.", fix="Start at the first page again.")
    return int(match[1]), int(match[2])


def _visible(by: Caller) -> ColumnElement[bool]:
    reach = by.reach(Right.AUDIT)
    namespace = col(AuditEntry.namespace)
    if "*" in reach:
        return namespace.is_not(None)
    inside = [or_(namespace == one, namespace.startswith(f"{one}.", autoescape=True)) for one in sorted(reach)]
    return and_(namespace != "", or_(*inside)) if inside else namespace.is_(None)
