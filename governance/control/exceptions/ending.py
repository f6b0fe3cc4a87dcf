"""The job that tells of exceptions about to end, and of those that did: once each, over all replicas."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.audit.service import SYSTEM, Attempt, append
from governance.control.exceptions.service import recorded
from governance.control.exceptions.tables import ExceptionRow
from governance.control.jobs import Job, Tools

TOLD_BEFORE: Final = timedelta(days=7)
_AT_ONCE: Final = 200
_EVERY_SEC: Final = 300.0
_NOW: Final = text("SELECT now()")


def tell_of_ends(tools: Tools) -> int:
    """Put on record what is about to end and what ended since; how many that was.

    The rows are locked while they are told, so no two replicas tell of one. Time is the database's.
    """
    told = 0
    while True:
        with tools.database.transaction() as session:
            found = _tell(session)
        told += found
        if found == 0:
            return told


def _tell(session: Session) -> int:
    now = session.execute(_NOW).scalar_one()
    in_use = (col(ExceptionRow.approved_at).is_not(None), col(ExceptionRow.revoked_at).is_(None))
    unused = (col(ExceptionRow.max_uses).is_(None)) | (col(ExceptionRow.uses) < col(ExceptionRow.max_uses))
    ended = (col(ExceptionRow.expires_at) <= now) & col(ExceptionRow.end_told_at).is_(None)
    ending = col(ExceptionRow.expires_at).between(now, now + TOLD_BEFORE) & col(ExceptionRow.told_at).is_(None)
    query = select(ExceptionRow).where(*in_use, unused, ended | ending).order_by(col(ExceptionRow.id)).limit(_AT_ONCE)
    rows = session.exec(query.with_for_update(skip_locked=True)).all()
    for row in rows:
        over = row.expires_at <= now
        if over:
            row.end_told_at = now
        row.told_at = row.told_at or now
        session.add(row)
        action = "exception.expired" if over else "exception.expiring"
        attempt = Attempt(action=action, subject=row.id, namespace=row.skill.rpartition(".")[0], reason=row.reason)
        append(session, attempt, by=SYSTEM, after=recorded(row), at=now)
    session.flush()
    return len(rows)


EXCEPTION_ENDS: Final = Job(
    name="exception-ends",
    every_sec=_EVERY_SEC,
    run=tell_of_ends,
    meaning="Puts on record that an exception ends within a week, and that it ended.",
)
