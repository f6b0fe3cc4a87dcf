"""Trusted publishers, and the exchange of a CI job's assertion for a token of a quarter of an hour."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from governance.control.audit.service import Attempt, append
from governance.control.auth.roles import Caller
from governance.control.database import Database, time_of
from governance.control.identity.assertions import Assertion, matches, opened, refused, verified
from governance.control.identity.issuers import Issuers
from governance.control.identity.tables import SpentAssertion, TrustedPublisher
from governance.control.outbound import check_url
from governance.control.tokens.service import administers, home_of, need_to_administer, short_lived
from governance.errors import Fault, Forbidden, InvalidRequest, NotFound
from governance.wire import Exchanged, Grant, Publisher, PublisherRequest, Role

TOKEN_LIFE: Final = timedelta(minutes=15)
PENDING: Final = timedelta(days=30)
"""How long a publisher that was never used stays good for a first use."""

WHOSE: Final = ("sub", "repository", "repository_id", "project_path", "project_id")
"""Claims of which a publisher must pin one: without it, every job of the issuer would be trusted."""

_NEVER: Final = frozenset({Role.ADMIN, Role.APPROVER})
"""Roles that no job gets by itself: what it publishes, people approve."""


def attempt_to_trust(request: PublisherRequest) -> Attempt:
    return Attempt(action="publisher.create", subject=request.name, namespace=home_of(request.grants))


def attempt_to_remove(publisher: str) -> Attempt:
    return Attempt(action="publisher.revoke", subject=publisher, namespace="")


def create(session: Session, request: PublisherRequest, *, by: Caller, private: bool) -> Publisher:
    """Trust jobs of which an issuer says all these claims. Raises Forbidden and InvalidRequest."""
    need_to_administer(by, request.grants)
    _check(request, private=private)
    now = time_of(session)
    row = TrustedPublisher(
        id="pub_" + secrets.token_hex(8),
        name=request.name,
        issuer=request.issuer,
        claims=dict(request.claims),
        grants=[grant.model_dump(mode="json") for grant in request.grants],
        created_at=now,
        created_by=by.label,
        pending_until=now + PENDING,
    )
    session.add(row)
    append(session, attempt_to_trust(request), by=by, after=_recorded(row), at=now)
    return view(row)


def _check(request: PublisherRequest, *, private: bool) -> None:
    check_url(request.issuer, private=private, setting="GOVCTL_OIDC_PRIVATE", pointer="/issuer")
    faults = []
    if not any(name in request.claims for name in WHOSE):
        pinned = ", ".join(WHOSE)
        faults.append(Fault(pointer="/claims", message=f"pins none of {pinned}", code="too-wide"))
    for name, value in request.claims.items():
        if value.endswith("*") and (name in WHOSE or len(value) < 2):
            faults.append(Fault(pointer=f"/claims/{name}", message="must be said whole", code="too-wide"))
        if name in ("iss", "aud", "exp", "iat", "nbf", "jti"):
            faults.append(Fault(pointer=f"/claims/{name}", message="is checked anyway", code="claim"))
    for index, grant in enumerate(request.grants):
        if grant.role in _NEVER:
            message = f"no job may be {grant.role.value}"
            faults.append(Fault(pointer=f"/grants/{index}/role", message=message, code="role"))
    if faults:
        raise InvalidRequest(
            "Such a publisher would be trusted too far.",
            fix="Pin the repository, the workflow and the environment the job must come from.",
            faults=faults,
        )


def listed(session: Session, *, by: Caller) -> list[Publisher]:
    """The publishers whose every grant the caller administers, oldest first, revoked ones too."""
    rows = session.exec(select(TrustedPublisher).order_by(col(TrustedPublisher.created_at), col(TrustedPublisher.id)))
    return [view(row) for row in rows if _may_manage(by, row)]


def one(session: Session, publisher: str, *, by: Caller) -> Publisher:
    """Raises NotFound."""
    row = session.get(TrustedPublisher, publisher)
    if row is None or not _may_manage(by, row):
        raise NotFound("There is no such publisher.", fix="List them with `govctl publisher list`.")
    return view(row)


def revoke(session: Session, publisher: str, *, by: Caller) -> Publisher:
    """Trust it no more; tokens it has had run out by themselves. Raises NotFound."""
    row = session.exec(select(TrustedPublisher).where(col(TrustedPublisher.id) == publisher).with_for_update()).first()
    if row is None or not _may_manage(by, row):
        raise NotFound("There is no such publisher.", fix="List them with `govctl publisher list`.")
    if row.revoked_at is None:
        before = _recorded(row)
        row.revoked_at, row.revoked_by = time_of(session), by.label
        session.add(row)
        namespace = home_of([Grant.model_validate(grant) for grant in row.grants])
        attempt = Attempt(action="publisher.revoke", subject=row.id, namespace=namespace)
        append(session, attempt, by=by, before=before, after=_recorded(row))
    return view(row)


def identify(database: Database, issuers: Issuers, assertion: str, *, audience: str) -> tuple[Assertion, list[str]]:
    """What the issuer says of the job, and the publishers that trust it, by id.

    Raises:
        Unauthenticated: nobody could be held to this assertion.
        Forbidden: it is sound, and no publisher trusts such a job.
        ServiceUnavailable: the issuer's keys cannot be had.
    """
    unverified = opened(assertion)
    with database.transaction() as session:
        now = time_of(session)
        known = [row for row in _of_issuer(session, unverified.issuer) if _stands(row, now)]
        wanted = {row.id: dict(row.claims) for row in known}
    if not wanted:
        raise refused("issuer", "No publisher here trusts that issuer.")
    keys = issuers.keys(unverified.issuer, unverified.key_id)
    found = verified(unverified, keys, audience=audience, now=int(now.timestamp()))
    return found, [publisher for publisher, claims in wanted.items() if matches(found.claims, claims)]


def exchange(session: Session, found: Assertion, publishers: list[str], *, by: Caller) -> Exchanged:
    """A short token with what the publishers grant; the assertion is spent.

    Raises:
        Unauthenticated: the assertion was exchanged before.
        Forbidden: no publisher trusts the job, or none does any more.
    """
    now = time_of(session)
    rows = session.exec(
        select(TrustedPublisher)
        .where(col(TrustedPublisher.id).in_(publishers))
        .order_by(col(TrustedPublisher.id))
        .with_for_update()
    ).all()
    rows = [row for row in rows if _stands(row, now)]
    if not rows:
        raise Forbidden(
            "The assertion is sound, and no publisher here trusts such a job.",
            fix="Have an admin add one with these claims: `govctl publisher add`.",
            details={"subject": found.subject, "issuer": found.issuer},
        )
    expires = datetime.fromtimestamp(found.expires_at, UTC) + timedelta(minutes=5)
    session.execute(_FORGET)
    spent = session.execute(
        insert(SpentAssertion)
        .values(digest=found.digest, expires_at=expires)
        .on_conflict_do_nothing()
        .returning(col(SpentAssertion.digest))
    )
    if spent.first() is None:
        raise Forbidden(
            "The assertion was exchanged before.",
            fix="Ask your CI for a fresh one: each is good once.",
            details={"subject": found.subject, "issuer": found.issuer},
        )
    grants = {(grant["role"], grant["namespace"]) for row in rows for grant in row.grants}
    given = [Grant(role=Role(role), namespace=namespace) for role, namespace in sorted(grants)]
    for row in rows:
        row.first_used_at, row.last_used_at = row.first_used_at or now, now
        session.add(row)
    secret, expires_at = short_lived(session, by.name, given, life=TOKEN_LIFE, by=by)
    attempt = attempt_to_exchange(found, home_of(given))
    append(session, attempt, by=by, after=_told(found, rows), at=now)
    return Exchanged(
        token=secret, expires_at=expires_at, grants=given, subject=found.subject, publishers=[row.name for row in rows]
    )


_FORGET: Final = text("DELETE FROM spent_assertion WHERE expires_at < now()")


def attempt_to_exchange(found: Assertion, namespace: str = "") -> Attempt:
    return Attempt(action="publisher.exchange", subject=found.subject, namespace=namespace)


def job(found: Assertion, *, request_id: str, trace_id: str) -> Caller:
    """The job as records name it: no token yet, but somebody who can be held to it."""
    return Caller(id=f"oidc:{found.issuer}", name=f"ci {found.subject}"[:200], request_id=request_id, trace_id=trace_id)


def _told(found: Assertion, rows: list[TrustedPublisher]) -> dict[str, Any]:
    pinned = sorted({name for row in rows for name in row.claims})
    return {
        "issuer": found.issuer,
        "publishers": [row.id for row in rows],
        "claims": {name: str(found.claims.get(name))[:500] for name in pinned},
    }


def _of_issuer(session: Session, issuer: str) -> list[TrustedPublisher]:
    return list(session.exec(select(TrustedPublisher).where(col(TrustedPublisher.issuer) == issuer)))


def _stands(row: TrustedPublisher, now: datetime) -> bool:
    used = row.first_used_at is not None or (row.pending_until is not None and row.pending_until > now)
    return row.revoked_at is None and used


def _may_manage(by: Caller, row: TrustedPublisher) -> bool:
    return all(administers(by, grant["namespace"]) for grant in row.grants)


def _recorded(row: TrustedPublisher) -> dict[str, Any]:
    return {"name": row.name, "issuer": row.issuer, "claims": row.claims, "grants": row.grants}


def view(row: TrustedPublisher) -> Publisher:
    state = "revoked" if row.revoked_at else "active" if row.first_used_at else "pending"
    return Publisher(
        id=row.id,
        name=row.name,
        issuer=row.issuer,
        claims=row.claims,
        grants=[Grant.model_validate(grant) for grant in row.grants],
        state=state,
        created_at=row.created_at,
        created_by=row.created_by,
        pending_until=row.pending_until if state == "pending" else None,
        last_used_at=row.last_used_at,
    )
