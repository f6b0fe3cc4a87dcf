"""Keys of issuers: looked up where their discovery document says, kept a while, asked for again when one is unknown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from joserfc.jwk import KeySet

from governance.control.identity.assertions import keys_of
from governance.control.outbound import Unreachable, fetched
from governance.core.document import Limits, read_json
from governance.errors import GovernanceError, ServiceUnavailable

KEPT_SEC: Final = 600.0
AGAIN_SEC: Final = 30.0
"""Between two questions to one issuer, whatever keys assertions name: forged ones must not make us knock."""
_MAX_BYTES: Final = 256 * 1024
_PATIENCE_SEC: Final = 5.0
_MOST: Final = 100
_WELL_KNOWN: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, kw_only=True)
class _Kept:
    keys: KeySet
    at: float

    def has(self, key_id: str | None) -> bool:
        return key_id is None or any(key.kid == key_id for key in self.keys.keys)


class Issuers:
    """The keys of the issuers that somebody trusts; one an application, shared between threads."""

    def __init__(self, *, private: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._private = private
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def keys(self, issuer: str, key_id: str | None) -> KeySet:
        """The issuer's keys, fresh where they are old or do not hold ``key_id``.

        Call it with issuers of trusted publishers alone: it goes where the issuer says. Raises ServiceUnavailable.
        """
        with self._lock:
            kept = self._kept.get(issuer)
        age = self._clock() - kept.at if kept is not None else KEPT_SEC
        if kept is not None and age < KEPT_SEC and (kept.has(key_id) or age < AGAIN_SEC):
            return kept.keys
        try:
            fresh = _Kept(keys=self._fetch(issuer), at=self._clock())
        except (Unreachable, GovernanceError, ValueError) as error:
            raise ServiceUnavailable(
                f"The keys of {issuer} cannot be had: {error}.",
                fix="Try again in a moment; until then publish with a token.",
            ) from None
        with self._lock:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[issuer] = fresh
        return fresh.keys

    def _fetch(self, issuer: str) -> KeySet:
        about = self._document(issuer.rstrip("/") + _WELL_KNOWN)
        if about.get("issuer") != issuer:
            raise ValueError("its discovery document is another issuer's")
        address = about.get("jwks_uri")
        if not isinstance(address, str) or not address.startswith(
            ("https://", "http://" if self._private else "https://")
        ):
            raise ValueError("its discovery document names no keys")
        return keys_of(self._document(address))

    def _document(self, url: str) -> dict[str, Any]:
        data = fetched(url, private=self._private, most_bytes=_MAX_BYTES, timeout_sec=_PATIENCE_SEC)
        found = read_json(data, limits=Limits(size=_MAX_BYTES, depth=16, nodes=20_000))
        if not isinstance(found, dict):
            raise ValueError("it answered no object")
        return found
