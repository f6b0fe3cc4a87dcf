"""The judge: comparisons with memory, and the gate's decision on a candidate against what is published."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from governance.comparing import Comparer
from governance.control.skills.reading import STORED, Found, published
from governance.core import gate
from governance.core.compat.engine import DEFAULT_SETTINGS
from governance.core.compat.engine import Settings as Comparing
from governance.core.compat.model import Comparison, Verdict
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.document import read_json
from governance.core.lint import Severity, lint
from governance.telemetry import Telemetry, span

log = logging.getLogger("governance.control")

_REMEMBERED_COMPARISONS: Final = 512
_REMEMBERED_MANIFEST_BYTES: Final = 8 * 1024 * 1024
"""Of JSON, which takes some ten times that as values: thousands of manifests as they usually are."""

BLOCKING_LINTS: Final = frozenset({Severity.ERROR})
"""The gate asks for no others; `govctl lint` does."""

_MOST_ASKED: Final = 200
"""Newest versions whose comparisons with a candidate are asked for together."""

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a candidate is to be judged."""

    fail_on: str | None = None
    """``risky`` or ``breaking``."""
    transitive: bool = True


class _Memory(Generic[K, V]):
    """The most recently used values, shared between threads; the sum of their weights stays within ``limit``."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._weight = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: K, value: V, *, weight: int = 1) -> None:
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = (value, weight)
            self._weight += weight - before
            while self._weight > self._limit:
                _, (_, gone) = self._values.popitem(last=False)
                self._weight -= gone


Pair: TypeAlias = tuple[str, str]
"""The manifest digests of the older and the newer version."""


class KeptVerdicts(Protocol):
    """Comparisons kept beyond this process, by both manifest digests and the settings. Neither method raises."""

    def get(self, pairs: Iterable[Pair], settings: Comparing, /) -> Mapping[Pair, Comparison]: ...

    def put(self, computed: Mapping[Pair, Comparison], settings: Comparing, /) -> None: ...


class Judge:
    """One an application, safe to share between threads.

    Published contracts never change, so a comparison is remembered by the two manifest digests: the dry run
    of a pull request and the publish that follows it pay once, whichever replica they reach.
    """

    def __init__(self, *, comparer: Comparer, telemetry: Telemetry, kept: KeptVerdicts | None = None) -> None:
        self._comparer = comparer
        self._kept = kept
        self._telemetry = telemetry
        self._comparisons: _Memory[tuple[str, str, Comparing], Comparison] = _Memory(_REMEMBERED_COMPARISONS)
        self._manifests: _Memory[str, SkillManifest] = _Memory(_REMEMBERED_MANIFEST_BYTES)

    def compare(
        self, old: SkillManifest | None, new: SkillManifest | None, settings: Comparing = DEFAULT_SETTINGS
    ) -> Comparison:
        """The comparison of two manifests; ``None`` stands for "there is no such skill"."""
        if old is None or new is None:
            return self._comparer.check(old, new, settings=settings)
        pair = (old.manifest_digest, new.manifest_digest)
        known, source = self._comparisons.get((*pair, settings)), "memory"
        if known is None and self._kept is not None:
            known, source = self._kept.get([pair], settings).get(pair), "stored"
        if known is None:
            known, source = self._computed(old, new, settings), "computed"
            if self._kept is not None:
                self._kept.put({pair: known}, settings)
        return self._taken(pair, settings, known, source)

    @contextmanager
    def _sitting(self, candidate: SkillManifest, versions: Sequence[Found]) -> Iterator[gate.Compare]:
        """The comparisons of one decision: those kept are asked for in one statement, new ones kept in another."""
        pairs = {(row["manifest_digest"], candidate.manifest_digest) for row in versions[-_MOST_ASKED:]}
        open_ = {pair for pair in pairs if self._comparisons.get((*pair, DEFAULT_SETTINGS)) is None}
        kept = self._kept.get(open_, DEFAULT_SETTINGS) if self._kept is not None else {}
        fresh: dict[Pair, Comparison] = {}

        def compare(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
            pair = ("", "") if old is None or new is None else (old.manifest_digest, new.manifest_digest)
            if old is None or new is None or pair not in open_:
                return self.compare(old, new)
            open_.remove(pair)
            if pair in kept:
                return self._taken(pair, DEFAULT_SETTINGS, kept[pair], "stored")
            fresh[pair] = self._computed(old, new, DEFAULT_SETTINGS)
            return self._taken(pair, DEFAULT_SETTINGS, fresh[pair], "computed")

        yield compare
        if self._kept is not None:
            self._kept.put(fresh, DEFAULT_SETTINGS)

    def _taken(self, pair: Pair, settings: Comparing, comparison: Comparison, source: str) -> Comparison:
        """The comparison, remembered and counted."""
        if source != "memory" and not comparison.interrupted:
            self._comparisons.put((*pair, settings), comparison)
        self._telemetry.count("governance_comparisons_total", source=source)
        return comparison

    def _computed(self, old: SkillManifest, new: SkillManifest, settings: Comparing) -> Comparison:
        comparison = self._comparer.check(old, new, settings=settings)
        if comparison.interrupted:
            self._telemetry.count("governance_comparisons_interrupted_total")
        for side in comparison.disagreement:
            self._telemetry.count("governance_opinion_disagreements_total")
            told = {"old": old.manifest_digest, "new": new.manifest_digest, "side": side.value}
            log.error("the second opinion denies what the engine proved", extra=told)
        return comparison

    def compare_stored(self, old: Found, new: Found, settings: Comparing = DEFAULT_SETTINGS) -> Comparison:
        """The comparison of two stored versions."""
        return self.compare(self.manifest(old), self.manifest(new), settings)

    def manifest(self, row: Found) -> SkillManifest:
        """The manifest of a stored version, read once."""
        digest: str = row["manifest_digest"]
        known = self._manifests.get(digest)
        if known is None:
            known = stored_manifest(row["manifest"])
            self._manifests.put(digest, known, weight=len(row["manifest"]))
        return known

    def decide(
        self,
        candidate: SkillManifest,
        history: Iterable[Found],
        terms: Terms,
        replacement: gate.ReplacementFacts | None,
        around: gate.Surroundings,
    ) -> gate.GateDecision:
        """The gate's decision. ``history`` holds rows of all published versions, with manifests.

        A candidate that may pass is remembered, for the next version of its skill is judged against it.
        """
        started, rows = time.perf_counter(), list(history)
        with (
            span("governance.decide", **{"governance.skill": candidate.name}),
            self._sitting(candidate, rows) as compare,
        ):
            decision = gate.decide(
                candidate,
                [gate.HistoryItem(published=published(row), manifest=self.manifest(row)) for row in rows],
                compare=compare,
                lint_findings=lint(candidate, severities=BLOCKING_LINTS),
                transitive=terms.transitive,
                fail_on=None if terms.fail_on is None else Verdict(terms.fail_on),
                replacement=replacement,
                around=around,
                today=datetime.now(UTC).date(),
            )
        if decision.outcome is not gate.Outcome.BLOCK:
            self._manifests.put(candidate.manifest_digest, candidate, weight=len(candidate.canonical))
        self._telemetry.observe("governance_decision_duration_seconds", time.perf_counter() - started)
        return decision


def stored_manifest(data: bytes) -> SkillManifest:
    """A manifest as it was let in; later rules do not judge it again."""
    return manifest_from_document(read_json(data, limits=STORED), native=False)
