"""Putting test runs on record, and which contracts passed theirs."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text, tuple_
from sqlmodel import Session, col, select

from governance.control.attestations.tables import AttestationRow
from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.database import time_of
from governance.control.edge import dated_position
from governance.wire import Attestation, AttestationRequest

_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('attestation:' || :skill, 0))")
_TESTED = text(
    """
    SELECT skill, contract_digest FROM (
        SELECT DISTINCT ON (skill, contract_digest) skill, contract_digest, passed, failed FROM attestation
        WHERE skill = ANY(:skills) ORDER BY skill, contract_digest, recorded_at DESC, id DESC
    ) AS latest
    WHERE passed > 0 AND failed = 0
    """
)


def tested(session: Session, skills: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """The contract digests of some skills whose last test run passed, in one query."""
    found: dict[str, set[str]] = defaultdict(set)
    for skill, digest in session.execute(_TESTED, {"skills": sorted(set(skills))}):
        found[skill].add(digest)
    return {skill: frozenset(digests) for skill, digests in found.items()}


def attempt_to_record(skill: str) -> Attempt:
    return Attempt(action="attestation.record", subject=skill, namespace=_namespace(skill))


def record(
    session: Session, skill: str, digest: str, request: AttestationRequest, *, by: Caller
) -> tuple[bool, Attestation]:
    """Put a test run on record: whether it says anything new, and the record. Safe to repeat.

    Raises Forbidden.
    """
    by.need(Right.PUBLISH, _namespace(skill))
    session.execute(_LOCK, {"skill": skill})
    latest = session.exec(_of(skill, digest).limit(1)).first()
    if latest is not None and AttestationRequest.model_validate(latest.model_dump(include=_SAID)) == request:
        return False, _view(latest)
    row = AttestationRow(
        skill=skill,
        id="att_" + secrets.token_hex(8),
        contract_digest=digest,
        recorded_at=time_of(session),
        recorded_by=by.label,
        **request.model_dump(),
    )
    session.add(row)
    after = {"contract_digest": digest, "passed": row.passed, "failed": row.failed, "source": row.source}
    append(session, attempt_to_record(skill), by=by, after=after, at=row.recorded_at)
    session.flush()
    return True, _view(row)


_SAID: Final = {"passed", "failed", "source"}


def page(
    session: Session, skill: str, *, digest: str | None, by: Caller, after: str | None, limit: int
) -> tuple[Sequence[Attestation], str | None]:
    """The test runs of a skill, newest first; and the position to go on after. Raises Forbidden."""
    by.need(Right.READ, _namespace(skill))
    query = _of(skill, digest)
    if after is not None:
        query = query.where(tuple_(col(AttestationRow.recorded_at), col(AttestationRow.id)) < dated_position(after))
    rows = session.exec(query.limit(limit + 1)).all()
    more = f"{rows[limit - 1].recorded_at.isoformat()} {rows[limit - 1].id}" if len(rows) > limit else None
    return [_view(row) for row in rows[:limit]], more


def _of(skill: str, digest: str | None) -> Any:
    query = select(AttestationRow).where(col(AttestationRow.skill) == skill)
    if digest is not None:
        query = query.where(col(AttestationRow.contract_digest) == digest)
    return query.order_by(col(AttestationRow.recorded_at).desc(), col(AttestationRow.id).desc())


def _view(row: AttestationRow) -> Attestation:
    return Attestation(**row.model_dump())


def _namespace(skill: str) -> str:
    return skill.rpartition(".")[0]
