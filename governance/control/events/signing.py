"""Signatures of deliveries, as Standard Webhooks 1.0.0 has them: receivers verify with the library of their language.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

SECRET_PREFIX: Final = "whsec_"
_SECRET_BYTES: Final = 32


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def shown(secret: bytes) -> str:
    """The secret as receivers keep it."""
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def signed_headers(delivery: str, body: bytes, *, at: int, keys: Iterable[bytes]) -> dict[str, str]:
    """The three headers of an attempt, signed with each key. ``at``: seconds since 1970."""
    signed = f"{delivery}.{at}.".encode() + body
    signatures = (base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys)
    return {
        "webhook-id": delivery,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
