"""Assertions of CI jobs: what an OIDC issuer signed about one, checked before anything in it is believed.

Rules of RFC 7519 and OpenID Connect Core 1.0, section 3.1.3.7, with the narrower choice wherever they leave one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from governance.core.document import Limits, read_json
from governance.errors import GovernanceError, Unauthenticated

ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA",
)  # fmt: skip
"""Of signatures with a private key that the issuer alone has; never a shared secret, never none."""

MAX_BYTES: Final = 16 * 1024
LEEWAY_SEC: Final = 30
MAX_LIFE_SEC: Final = 24 * 3_600
_LIMITS: Final = Limits(size=MAX_BYTES, depth=8, nodes=2_000)


@dataclass(frozen=True, kw_only=True)
class Unverified:
    """What an assertion says of itself; nothing of it is to be believed yet."""

    text: str
    issuer: str
    algorithm: str
    key_id: str | None


@dataclass(frozen=True, kw_only=True)
class Assertion:
    """What the issuer said of a job."""

    issuer: str
    subject: str
    claims: Mapping[str, Any]
    expires_at: int
    """Seconds since 1970."""
    digest: bytes
    """What makes it one of a kind: SHA-256 over issuer and ``jti``, else over what was signed."""


def opened(text: str) -> Unverified:
    """Read what must be known to find the issuer's key. Raises Unauthenticated."""
    parts = text.split(".")
    if len(text) > MAX_BYTES or not text.isascii() or len(parts) != 3:
        raise refused("form", "That is no signed assertion.")
    header, payload = _part(parts[0]), _part(parts[1])
    algorithm, key_id, issuer = header.get("alg"), header.get("kid"), payload.get("iss")
    if algorithm not in ALGORITHMS:
        raise refused("algorithm", f"Assertions are not taken with the algorithm {str(algorithm)[:40]!r}.")
    if "crit" in header or header.get("b64") is False:
        raise refused("header", "The assertion asks for extensions that nobody here knows.")
    if not isinstance(issuer, str) or not (key_id is None or isinstance(key_id, str)):
        raise refused("form", "The assertion does not say who made it.")
    return Unverified(text=text, issuer=issuer, algorithm=str(algorithm), key_id=key_id)


def _part(text: str) -> dict[str, Any]:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        found = read_json(data, limits=_LIMITS)
    except (binascii.Error, GovernanceError):
        raise refused("form", "That is no signed assertion.") from None
    if not isinstance(found, dict):
        raise refused("form", "That is no signed assertion.")
    return found


def verified(unverified: Unverified, keys: KeySet, *, audience: str, now: int) -> Assertion:
    """Check the signature, then every claim that limits what the assertion is good for. Raises Unauthenticated.

    ``now``: seconds since 1970.
    """
    if unverified.key_id is None and len(keys.keys) > 1:
        raise refused("key", "The assertion does not say which of the issuer's keys signed it.")
    try:
        signed = jws.deserialize_compact(unverified.text, keys, algorithms=[unverified.algorithm])
    except (JoseError, ValueError, TypeError, KeyError):
        raise refused("signature", "The assertion is not signed by a key of its issuer.") from None
    claims = _part(base64.urlsafe_b64encode(signed.payload).decode())
    if claims.get("iss") != unverified.issuer:
        raise refused("form", "The assertion says two things of who made it.")
    _check_audience(claims, audience)
    expires_at = _check_times(claims, now)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 500:
        raise refused("subject", "The assertion does not say whom it is about.")
    return Assertion(
        issuer=unverified.issuer,
        subject=subject,
        claims=claims,
        expires_at=expires_at,
        digest=_digest(unverified, claims),
    )


def _check_audience(claims: Mapping[str, Any], audience: str) -> None:
    named = claims.get("aud")
    named = [named] if isinstance(named, str) else named
    if not isinstance(named, list) or audience not in named:
        raise refused("audience", f"The assertion is for somebody else: its audience is not {audience!r}.")


def _check_times(claims: Mapping[str, Any], now: int) -> int:
    expires, issued = _time(claims, "exp"), _time(claims, "iat")
    not_before = _time(claims, "nbf") if "nbf" in claims else issued
    if now >= expires + LEEWAY_SEC:
        raise refused("expired", "The assertion has expired.")
    if max(issued, not_before) > now + LEEWAY_SEC:
        raise refused("time", "The assertion does not hold yet.")
    if expires - issued > MAX_LIFE_SEC:
        raise refused("time", "The assertion holds for longer than a day.")
    return expires


def _time(claims: Mapping[str, Any], name: str) -> int:
    value = claims.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 40:
        raise refused("time", "The assertion does not say from when until when it holds.")
    return value


def _digest(unverified: Unverified, claims: Mapping[str, Any]) -> bytes:
    jti = claims.get("jti")
    told = f"jti {jti}" if isinstance(jti, str) and jti else unverified.text.rpartition(".")[0]
    return hashlib.sha256(f"{unverified.issuer}\n{told}".encode()).digest()


def matches(claims: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Has every wanted claim the value it must have? A trailing ``*`` of a wanted value stands for any rest."""
    return all(_is(claims.get(name), value) for name, value in wanted.items())


def _is(said: Any, wanted: str) -> bool:
    if not isinstance(said, str):
        return False
    return said.startswith(wanted[:-1]) if wanted.endswith("*") else said == wanted


def refused(cause: str, sentence: str) -> Unauthenticated:
    return Unauthenticated(
        sentence,
        fix="Ask your CI for a fresh ID token with this service's audience; see the documentation on CI.",
        details={"cause": f"assertion-{cause}"},
    )


def keys_of(document: Any) -> KeySet:
    """The usable public keys of a JWKS. Raises ValueError where there are none."""
    listed = document.get("keys") if isinstance(document, dict) else None
    public: Sequence[Any] = [
        one
        for one in (listed if isinstance(listed, list) else [])[:100]
        if isinstance(one, dict) and one.get("kty") in ("RSA", "EC", "OKP") and one.get("use", "sig") == "sig"
    ]
    if not public:
        raise ValueError("no public keys")
    try:
        return KeySet.import_key_set({"keys": [_without_private(one) for one in public]})
    except (JoseError, ValueError, TypeError, KeyError):
        raise ValueError("keys that cannot be read") from None


_NOT_OURS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "x5c", "x5u"})
"""Private parts that a careless issuer shows, and certificates nobody looks at."""


def _without_private(key: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name not in _NOT_OURS}
