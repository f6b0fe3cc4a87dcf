"""What resolutions leave behind: first contacts and acceptances, each once however often it is told."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller
from governance.control.database import time_of
from governance.control.gates.tables import Contact
from governance.core.consent import Acceptance, Basis


@dataclass(frozen=True, kw_only=True)
class ToRecord:
    """What one resolution leaves behind; ``acceptances`` are those not on record yet."""

    skill: str
    version: str
    consumer: str | None
    range: str | None
    contact: bool
    acceptances: tuple[Acceptance, ...]
    blanket_days: int
    """How long a blanket acceptance stands; 0: for the one call."""


def record(session: Session, marks: Iterable[ToRecord], *, by: Caller) -> None:
    """Put resolutions on record, each fact once however often and however concurrently it is told."""
    now = time_of(session)
    for mark in marks:
        if mark.contact and mark.consumer is not None:
            _record_contact(session, mark, mark.consumer, by=by, now=now)
        for acceptance in mark.acceptances:
            _record_acceptance(session, mark, acceptance, by=by, now=now)


def _record_contact(session: Session, mark: ToRecord, consumer: str, *, by: Caller, now: datetime) -> None:
    values = {"skill": mark.skill, "consumer": consumer, "first_at": now, "first_version": mark.version}
    inserted = session.execute(insert(Contact).values(**values).on_conflict_do_nothing().returning(col(Contact.skill)))
    if inserted.first() is not None:
        append(session, _attempt("consumer.contact", mark), by=by, after=_told(mark), at=now)


_ACCEPT: Final = text(
    """
    INSERT INTO line_acceptance AS a (skill, id, consumer, line, basis, expires_at, accepted_at, accepted_by)
    VALUES (:skill, :id, :consumer, :line, :basis, now() + make_interval(days => CAST(:days AS int)), now(), :by)
    ON CONFLICT (skill, consumer, line) WHERE revoked_at IS NULL DO UPDATE SET
      basis = excluded.basis, expires_at = excluded.expires_at,
      accepted_at = excluded.accepted_at, accepted_by = excluded.accepted_by
    WHERE a.expires_at <= now() OR (a.expires_at IS NOT NULL AND excluded.expires_at IS NULL)
    RETURNING expires_at
    """
)
"""What stands already stays; a blanket acceptance gives way to a new one when it is over, and to one that lasts."""


def _record_acceptance(session: Session, mark: ToRecord, acceptance: Acceptance, *, by: Caller, now: datetime) -> None:
    """A line that is named or met stays accepted. A blanket acceptance stands for days, or for its call alone."""
    after = _told(mark) | {"line": str(acceptance.line), "basis": acceptance.basis.value}
    if mark.consumer is not None and not (acceptance.expires and mark.blanket_days == 0):
        values = {
            "skill": mark.skill,
            "id": "acc_" + secrets.token_hex(8),
            "consumer": mark.consumer,
            "line": str(acceptance.line),
            "basis": acceptance.basis.value,
            "days": mark.blanket_days if acceptance.expires else None,
            "by": by.label,
        }
        stored = session.execute(_ACCEPT, values).first()
        if stored is None:
            return
        after |= {"expires_at": stored[0] and stored[0].isoformat(timespec="seconds")}
    action = "line.bind" if acceptance.basis is Basis.FIRST_CONTACT else "line.accept"
    append(session, _attempt(action, mark), by=by, after=after, at=now)


def _attempt(action: str, mark: ToRecord) -> Attempt:
    return Attempt(action=action, subject=mark.skill, namespace=mark.skill.rpartition(".")[0])


def _told(mark: ToRecord) -> dict[str, Any]:
    return {"consumer": mark.consumer, "range": mark.range, "version": mark.version}
