"""Verdicts in Postgres: what one replica computed, none computes again, nor the same one after a restart.

A cache and nothing more: whatever is wrong with it, the comparison is computed. It keeps one connection of its own,
since a publish asks it while it holds one of the pool, and none waits long for another.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, TypeAlias

import psycopg

from governance.control.database import Database
from governance.core.compat.engine import Settings
from governance.core.compat.model import Comparison, FindingLevel, Verdict
from governance.core.compat.stored import kept_comparison, kept_document
from governance.core.document import read_json
from governance.errors import GovernanceError
from governance.wire import write_json

log = logging.getLogger("governance.control")

Pair: TypeAlias = tuple[str, str]
"""The manifest digests of the older and the newer version."""

MAX_ROWS: Final = 50_000
MAX_BYTES: Final = 64 * 1024
"""A larger comparison is not kept. So the table holds 3 GB at the very most; as contracts are, some 100 MB."""
_PRUNE_EVERY: Final = 1_000
_PATIENCE_SEC: Final = 0.1
_PAUSE_SEC: Final = 10.0
_STATEMENT_MS: Final = 500

_GET: Final = "SELECT key, comparison, seal FROM verdict WHERE key = ANY(%s)"
_PUT: Final = """
    INSERT INTO verdict (key, comparison, seal, computed_at)
    SELECT key, comparison, seal, now()
    FROM unnest(%s::bytea[], %s::bytea[], %s::bytea[]) AS computed (key, comparison, seal)
    ON CONFLICT (key) DO UPDATE
    SET comparison = excluded.comparison, seal = excluded.seal, computed_at = excluded.computed_at
"""
_PRUNE: Final = """
    DELETE FROM verdict WHERE computed_at <= (
        SELECT computed_at FROM verdict ORDER BY computed_at DESC OFFSET %s LIMIT 1
    )
"""


class Verdicts:
    """Comparisons by both manifest digests, the settings and the engine. Safe to share between threads."""

    def __init__(self, database: Database, *, max_rows: int = MAX_ROWS, prune_every: int = _PRUNE_EVERY) -> None:
        self._database = database
        self._max_rows = max_rows
        self._prune_every = prune_every
        self._lock = threading.Lock()
        self._connection: psycopg.Connection | None = None
        self._put_since_pruned = 0
        self._not_before = 0.0

    def get(self, pairs: Iterable[Pair], settings: Settings) -> dict[Pair, Comparison]:
        """What was computed for these manifests, where sound rows say so. One statement; never raises."""
        keys = {_key(*pair, settings): pair for pair in pairs}
        rows: list[tuple[bytes, bytes, bytes]] = []
        if keys:
            with self._borrowed() as connection:
                if connection is not None:
                    rows = connection.execute(_GET, (list(keys),)).fetchall()
        found = {keys[bytes(key)]: _read(bytes(key), bytes(kept), bytes(seal)) for key, kept, seal in rows}
        return {pair: comparison for pair, comparison in found.items() if comparison is not None}

    def put(self, computed: Mapping[Pair, Comparison], settings: Settings) -> None:
        """Keep those of which another run could only say the same. One statement; never raises."""
        final = {
            _key(*pair, settings): write_json(kept_document(one)) for pair, one in computed.items() if _is_final(one)
        }
        # In one order everywhere, so that no two replicas wait for each other.
        kept = {key: final[key] for key in sorted(final) if len(final[key]) <= MAX_BYTES}
        if not kept:
            return
        with self._borrowed() as connection:
            if connection is None:
                return
            connection.execute(_PUT, (list(kept), list(kept.values()), [_seal(*one) for one in kept.items()]))
            self._put_since_pruned += len(kept)
            if self._put_since_pruned >= self._prune_every:
                self._put_since_pruned = 0
                connection.execute(_PRUNE, (self._max_rows,))

    def close(self) -> None:
        """Give the connection back; a later question opens another."""
        with self._lock:
            self._drop()

    @contextmanager
    def _borrowed(self) -> Iterator[psycopg.Connection | None]:
        """The connection, or None where it is busy or lately failed. A failure inside the block ends the block."""
        if not self._lock.acquire(timeout=_PATIENCE_SEC):
            yield None
            return
        try:
            try:
                connection = self._open()
            except (psycopg.Error, OSError) as error:
                self._pause(error)
                connection = None
            try:
                yield connection
            except (psycopg.Error, OSError) as error:
                self._pause(error)
        finally:
            self._lock.release()

    def _pause(self, error: Exception) -> None:
        self._drop()
        self._not_before = time.monotonic() + _PAUSE_SEC
        log.warning("verdicts are not kept for a while", extra={"cause": str(error).strip()})

    def _open(self) -> psycopg.Connection | None:
        if self._connection is None and time.monotonic() >= self._not_before:
            connection = self._database.connect()
            connection.autocommit = True
            self._connection = connection
            # A verdict lost in a crash is computed again, so no publish waits for the disk to have it.
            connection.execute(f"SET statement_timeout = {_STATEMENT_MS}; SET synchronous_commit = off")
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_final(comparison: Comparison) -> bool:
    """Would any run say the same? What time or the second opinion left open may be closed by another."""
    return (
        not comparison.interrupted
        and comparison.verdict is not Verdict.INVALID
        and not comparison.disagreement
        and all(finding.level is not FindingLevel.UNDECIDED for finding in comparison.findings)
    )


def _key(old: str, new: str, settings: Settings) -> bytes:
    asked = (settings.reading.value, settings.assert_formats, settings.step_budget)
    return hashlib.sha256(repr((old, new, asked, engine_digest())).encode()).digest()


def _read(key: bytes, kept: bytes, seal: bytes) -> Comparison | None:
    try:
        if seal != _seal(key, kept):
            raise ValueError("the seal is broken")
        return kept_comparison(read_json(kept))
    except (ValueError, GovernanceError) as error:
        log.warning("a stored verdict is passed over", extra={"key": key.hex(), "cause": str(error)})
        return None


def _seal(key: bytes, kept: bytes) -> bytes:
    return hashlib.sha256(key + kept).digest()


@cache
def engine_digest() -> str:
    """The engine as it is installed: its own sources and the validator's version. A change of either is a new key."""
    digest = hashlib.sha256(metadata.version("jsonschema-rs").encode())
    for name, content in sorted(_sources(files("governance.core"), "")):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield prefix + entry.name, entry.read_bytes()
