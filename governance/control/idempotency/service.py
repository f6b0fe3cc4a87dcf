"""One key, one request: claimed before the work, marked done in the transaction that makes the thing.

No answer is kept, only the id of what was made: a stored check reads back as it was answered, and the secret of a
token is nowhere. The claim of a process that died is free again after a while; should it be alive after all, its
transaction finds the claim gone and is undone, so nothing is made twice.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Header, Request
from sqlalchemy import text
from sqlmodel import Session

from governance.control.auth.roles import Caller
from governance.control.database import Database
from governance.errors import (
    IdempotencyKeyReused,
    RequestRunning,
    ServiceUnavailable,
    TooManyRequests,
    UsageError,
)

log = logging.getLogger("governance.control")

KEPT_HOURS: Final = 24
LEASE_SEC: Final = 300
MOST_KEYS: Final = 10_000
"""Keys one caller may have in use."""
REPLAYED: Final = "Idempotency-Replayed"
"""Stands in an answer that an earlier request with the same key earned."""

_KEY: Final = re.compile(r'"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,255})')


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key as it was given, with what tells the request it came with from others."""

    text: str
    fingerprint: bytes


def key_of(
    request: Request,
    given: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            max_length=300,
            description=(
                f"Makes the request safe to repeat for {KEPT_HOURS} hours, for this token: the same key with the same"
                " body makes nothing twice. 1 to 255 printable ASCII characters, quoted or not."
            ),
        ),
    ] = None,
) -> Key | None:
    """The request's key, None without one. Raises UsageError for what is none."""
    if given is None:
        return None
    match = _KEY.fullmatch(given.strip())
    if match is None or len(request.headers.getlist("idempotency-key")) > 1:
        raise UsageError(
            "The Idempotency-Key is none: it is one string of 1 to 255 printable ASCII characters.",
            fix='Send one, for example `Idempotency-Key: "8e03978e-40d5-43e8-bc93-6894a57f9324"`.',
        )
    body: bytes = getattr(request.state, "body_digest", b"")
    route = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return Key(text=match[1] or match[2], fingerprint=hashlib.sha256(route + body).digest())


GivenKey = Annotated[Key | None, Depends(key_of)]
"""Declare it after the body, whose digest it reads."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to do the work of a request. ``made`` is the id of what an earlier one made: do nothing then."""

    made: str | None = None
    _done: Callable[[Session, str], None] = lambda session, made: None

    def done(self, session: Session, made: str) -> None:
        """Note in the transaction that makes the thing that it is made."""
        self._done(session, made)


@contextmanager
def claimed(database: Database, key: Key | None, *, by: Caller) -> Iterator[Claim]:
    """Hold the claim on ``key`` for the block; without a key there is nothing to hold. A block that fails frees it.

    Raises:
        IdempotencyKeyReused: the key stands for another request.
        RequestRunning: the request it stands for is still at work.
        TooManyRequests: the caller has too many keys in use.
    """
    if key is None:
        yield Claim()
        return
    mine = secrets.token_hex(16)

    def done(session: Session, thing: str) -> None:
        _done(session, key, mine, by.id, thing)

    try:
        with database.transaction() as current:
            made = _claim(current, key, mine, by.id)
        yield Claim(_done=done) if made is None else Claim(made=made)
    except BaseException:
        _free(database, key, mine, by.id)
        raise


_SWEEP: Final = text(
    "DELETE FROM idempotency_key WHERE (caller, key) IN (SELECT caller, key FROM idempotency_key"
    " WHERE expires_at <= now() ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)"
)
_COUNT: Final = text("SELECT count(*) FROM (SELECT FROM idempotency_key WHERE caller = :caller LIMIT :most) AS used")
_TAKE: Final = text(
    f"""
    INSERT INTO idempotency_key AS k (caller, key, fingerprint, claim, claimed_at, expires_at)
    VALUES (:caller, :key, :fingerprint, :claim, now(), now() + interval '{KEPT_HOURS} hours')
    ON CONFLICT (caller, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, claim = excluded.claim, made = NULL,
      claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
    WHERE k.expires_at <= now() OR (
      k.made IS NULL AND k.fingerprint = excluded.fingerprint
      AND k.claimed_at < now() - interval '{LEASE_SEC} seconds'
    )
    RETURNING claim
    """
)
_LOOK: Final = text("SELECT fingerprint, made FROM idempotency_key WHERE caller = :caller AND key = :key")
_DONE: Final = text(
    "UPDATE idempotency_key SET made = :made WHERE caller = :caller AND key = :key AND claim = :claim RETURNING claim"
)
_FREE: Final = text(
    "DELETE FROM idempotency_key WHERE caller = :caller AND key = :key AND claim = :claim AND made IS NULL"
)


def _claim(session: Session, key: Key, mine: str, caller: str) -> str | None:
    """None when the claim is ours, else the id of what was made."""
    session.execute(_SWEEP)
    used = session.execute(_COUNT, {"caller": caller, "most": MOST_KEYS}).scalar_one()
    named = {"caller": caller, "key": key.text}
    there = session.execute(_LOOK, named).one_or_none()
    if there is None and used >= MOST_KEYS:
        raise TooManyRequests(
            f"This token has {MOST_KEYS} idempotency keys in use.",
            fix=f"Send fewer requests with a key; each is kept for {KEPT_HOURS} hours.",
        )
    taken = session.execute(_TAKE, {**named, "fingerprint": key.fingerprint, "claim": mine}).one_or_none()
    if taken is not None:
        return None
    fingerprint, made = session.execute(_LOOK, named).one()
    if bytes(fingerprint) != key.fingerprint:
        raise IdempotencyKeyReused(
            "This Idempotency-Key came with another request before.",
            fix="Take a new key for a new request; send the old one with the very bytes it came with.",
        )
    if made is None:
        raise RequestRunning(
            "The request with this Idempotency-Key is still at work.", fix="Send it again in a moment."
        )
    return str(made)


def _free(database: Database, key: Key, mine: str, caller: str) -> None:
    """Free the claim, if it was taken and nothing was made; one that cannot be freed now is free when its lease ends.

    A commit whose answer was lost may have happened: then ``made`` stands there, and the claim with it.
    """
    try:
        with database.transaction() as current:
            current.execute(_FREE, {"caller": caller, "key": key.text, "claim": mine})
    except ServiceUnavailable:
        log.warning("an idempotency key stays claimed for a while")


def _done(session: Session, key: Key, mine: str, caller: str, made: str) -> None:
    named = {"caller": caller, "key": key.text, "claim": mine, "made": made}
    if session.execute(_DONE, named).one_or_none() is None:
        raise RequestRunning(
            "Another request with this Idempotency-Key took over, for this one took too long.",
            fix="Send it again in a moment: what the other made is answered.",
        )
