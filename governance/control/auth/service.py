"""Secrets in, callers out. Authentication is always on: there is no setting that turns it off."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Annotated, Any, Final

import psycopg
from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from governance.control.auth.roles import Caller
from governance.control.database import Database
from governance.errors import Unauthenticated
from governance.wire import Grant

SECRET_PREFIX: Final = "govctl_"
_SECRET_BYTES = 32
_WHOLE = re.compile(re.escape(SECRET_PREFIX) + r"[A-Za-z0-9_-]{43}")
_SHOWN = len(SECRET_PREFIX) + 5
_MAX_SECRET = 200
_USE_RESOLUTION_SEC = 60
"""Last use is written at most this often, so that reads stay reads."""


def new_secret() -> str:
    """A secret of 256 random bits, recognisable by its prefix."""
    return SECRET_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


def is_whole(secret: str) -> bool:
    """Whether it has the form, and so the length, of what :func:`new_secret` makes."""
    return _WHOLE.fullmatch(secret) is not None


def hash_of(secret: str) -> bytes:
    """SHA-256; a secret of 256 random bits needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


def shown_prefix(secret: str) -> str:
    return secret[:_SHOWN]


_USED_LATELY = f"coalesce(last_used_at >= now() - interval '{_USE_RESOLUTION_SEC} seconds', false)"
_LOOK_UP = f"""
SELECT id, name, grants, revoked_at, expires_at, expires_at <= now(), {_USED_LATELY} FROM token WHERE secret_hash = %s
"""
_TOUCH = f"UPDATE token SET last_used_at = now() WHERE id = %s AND NOT {_USED_LATELY}"
_STANDS = "SELECT revoked_at IS NULL AND expires_at > now() FROM token WHERE id = %s"
"""Times are the database's: a replica whose clock is wrong lets nobody in for longer, nor for less."""


async def caller(
    request: Request,
    shown: Annotated[Any, Depends(HTTPBearer(auto_error=False, description="A govctl token"))],
) -> Caller:
    """The caller of this request.

    Raises Unauthenticated; its ``details["cause"]`` is missing, malformed, unknown, expired or revoked, of which
    the caller is told the last two only with a secret that was once right.
    """
    secret = _bearer(request)
    database: Database = request.app.state.database
    async with database.read() as connection:
        cursor = await connection.execute(_LOOK_UP, (hash_of(secret),))
        row = await cursor.fetchone()
        if row is None:
            raise _refused("unknown", "Nobody knows this token.")
        token_id, name, grants, revoked_at, expires_at, is_expired, used_lately = row
        if revoked_at is not None:
            raise _refused("revoked", f"This token was revoked at {revoked_at:%Y-%m-%d %H:%M} UTC.")
        if is_expired:
            raise _refused("expired", f"This token expired at {expires_at:%Y-%m-%d %H:%M} UTC.")
        if not used_lately:
            await connection.execute(_TOUCH, (token_id,))
    known = Caller(
        id=token_id,
        name=name,
        grants=tuple(Grant.model_validate(grant) for grant in grants),
        request_id=request.state.request_id,
        trace_id=request.state.trace_id,
    )
    request.state.caller = known
    return known


async def stands(connection: psycopg.AsyncConnection[Any], known: Caller) -> bool:
    """Does the token of a caller who was let in still stand? For what goes on long after that."""
    cursor = await connection.execute(_STANDS, (known.id,))
    return bool((await cursor.fetchone() or (False,))[0])


def _bearer(request: Request) -> str:
    header = request.headers.get("authorization")
    if header is None:
        raise _refused("missing", "The request carries no token.")
    scheme, _, secret = header.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret.startswith(SECRET_PREFIX) or len(secret) > _MAX_SECRET:
        raise _refused("malformed", "The Authorization header holds no token of this service.")
    if not secret.isascii():
        raise _refused("malformed", "The Authorization header holds no token of this service.")
    return secret


def _refused(cause: str, sentence: str) -> Unauthenticated:
    return Unauthenticated(
        sentence,
        fix="Send `Authorization: Bearer TOKEN`; an admin makes tokens with `govctl token create`.",
        details={"cause": cause},
    )


Known = Annotated[Caller, Depends(caller)]
"""The dependency of every route that is not open to all."""
