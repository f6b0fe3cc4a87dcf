"""Tokens: made once, shown once, revoked for ever."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text
from sqlmodel import Session, col, select

from governance.control.audit.service import SYSTEM, Attempt, append
from governance.control.auth.roles import Caller, Right
from governance.control.auth.service import hash_of, is_whole, new_secret, shown_prefix
from governance.control.auth.tables import Token
from governance.control.database import time_of
from governance.errors import Forbidden, NotFound
from governance.wire import Grant, Role, TokenCreated, TokenRequest, TokenView

LOCAL_TOKEN_NAME: Final = "local admin"
LOCAL_TOKEN_DAYS: Final = 366
_LOCAL_ADMIN_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('local admin', 0))")
_RENEW_BEFORE = timedelta(days=180)


def attempt_to_create(request: TokenRequest) -> Attempt:
    return Attempt(action="token.create", subject=request.name, namespace=home_of(request.grants))


def attempt_to_revoke(token_id: str) -> Attempt:
    return Attempt(action="token.revoke", subject=token_id, namespace="")


def create(session: Session, request: TokenRequest, *, by: Caller) -> TokenCreated:
    """A new token. Raises Forbidden."""
    need_to_administer(by, request.grants)
    return _create(session, request, by=by)


def need_to_administer(caller: Caller, grants: Iterable[Grant]) -> None:
    """Nobody gives away more than they administer. Raises Forbidden."""
    for grant in grants:
        if not administers(caller, grant.namespace):
            caller.need(Right.ADMINISTER, grant.namespace)
            raise Forbidden(
                f"This token does not administer {grant.namespace!r}.", fix="Ask an admin of all namespaces."
            )


def _create(session: Session, request: TokenRequest, *, by: Caller, secret: str | None = None) -> TokenCreated:
    secret = secret or new_secret()
    life = timedelta(days=request.expires_in_days)
    token = _made(session, request.name, request.grants, secret, life=life, by=by)
    return TokenCreated(token=secret, **view(token).model_dump())


def short_lived(
    session: Session, name: str, grants: Sequence[Grant], *, life: timedelta, by: Caller
) -> tuple[str, datetime]:
    """The secret of a token that runs out by itself after ``life``, and when it does."""
    secret = new_secret()
    return secret, _made(session, name, grants, secret, life=life, by=by).expires_at


def _made(session: Session, name: str, grants: Sequence[Grant], secret: str, *, life: timedelta, by: Caller) -> Token:
    now = time_of(session)
    token = Token(
        id="tok_" + secrets.token_hex(8),
        name=name,
        prefix=shown_prefix(secret),
        secret_hash=hash_of(secret),
        grants=[grant.model_dump(mode="json") for grant in grants],
        created_at=now,
        created_by=by.label,
        expires_at=now + life,
    )
    session.add(token)
    attempt = Attempt(action="token.create", subject=name, namespace=home_of(grants))
    append(session, attempt, by=by, after=_recorded(token), at=now)
    return token


def page(session: Session, *, by: Caller, after: str | None, limit: int) -> tuple[list[TokenView], str | None]:
    """Tokens whose every grant the caller administers, by id; and the id to go on after, if there are more."""
    found: list[TokenView] = []
    position = after or ""
    while True:
        query = select(Token).where(col(Token.id) > position).order_by(col(Token.id)).limit(limit + 1)
        rows = session.exec(query).all()
        for row in rows:
            if len(found) == limit:
                return found, found[-1].id
            if _may_manage(by, row):
                found.append(view(row))
        if len(rows) <= limit:
            return found, None
        position = rows[-1].id


def revoke(session: Session, token_id: str, *, by: Caller) -> TokenView:
    """Revoke at once; one that is revoked already stays as it is.

    Raises NotFound, also for a token the caller may not see.
    """
    token = session.exec(select(Token).where(col(Token.id) == token_id).with_for_update()).one_or_none()
    if token is None or not _may_manage(by, token):
        raise NotFound("There is no such token.", fix="List them with `govctl token list`.")
    if token.revoked_at is None:
        before = _recorded(token)
        token.revoked_at = time_of(session)
        token.revoked_by = by.label
        session.add(token)
        append(session, attempt_to_revoke(token_id), by=by, before=before, after=_recorded(token))
    return view(token)


def local_admin(session: Session, secret: str | None) -> str:
    """The secret of a token for the owner of this machine: ``secret`` if it serves on or is new here, else a new one.

    One that this database never saw is taken if it is whole: replicas can be given the same one, and a home can
    outlive its database. One that ends soon is replaced and revoked; one that was revoked stays so. The caller
    keeps the secret where the owner alone can read it.
    """
    session.connection().execute(_LOCAL_ADMIN_LOCK)
    now = time_of(session)
    given: str | None = None
    if secret:
        query = select(Token).where(col(Token.secret_hash) == hash_of(secret)).with_for_update()
        token = session.exec(query).one_or_none()
        if token is None and is_whole(secret):
            given = secret
        if token is not None and token.name == LOCAL_TOKEN_NAME and token.revoked_at is None:
            if token.expires_at > now + _RENEW_BEFORE:
                return secret
            before = _recorded(token)
            token.revoked_at, token.revoked_by = now, SYSTEM.label
            session.add(token)
            append(session, attempt_to_revoke(token.id), by=SYSTEM, before=before, after=_recorded(token))
    request = TokenRequest(
        name=LOCAL_TOKEN_NAME,
        grants=[Grant(role=Role.ADMIN, namespace="*")],
        expires_in_days=LOCAL_TOKEN_DAYS,
    )
    return _create(session, request, by=SYSTEM, secret=given).token


def view(token: Token) -> TokenView:
    return TokenView(
        id=token.id,
        name=token.name,
        prefix=token.prefix,
        grants=[Grant.model_validate(grant) for grant in token.grants],
        created_at=token.created_at,
        created_by=token.created_by,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
        revoked_at=token.revoked_at,
    )


def administers(caller: Caller, namespace: str) -> bool:
    """``*`` is administered by those who hold it everywhere."""
    if namespace == "*":
        return "*" in caller.reach(Right.ADMINISTER)
    return caller.may(Right.ADMINISTER, namespace)


def _may_manage(by: Caller, token: Token) -> bool:
    return all(administers(by, grant["namespace"]) for grant in token.grants)


def home_of(granted: Sequence[Grant]) -> str:
    """The namespace an entry about a token belongs to: that of its grants, if they agree."""
    namespaces = {grant.namespace for grant in granted}
    return namespaces.pop() if len(namespaces) == 1 else "*"


def _recorded(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "prefix": token.prefix,
        "grants": token.grants,
        "expires_at": token.expires_at.isoformat(timespec="seconds"),
        "revoked_at": token.revoked_at and token.revoked_at.isoformat(timespec="seconds"),
    }
