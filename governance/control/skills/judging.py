"""The judge: comparisons with memory, and the gate's decision on a candidate against what is published."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Generic, Protocol, TypeVar

from governance.comparing import Comparer
from governance.control.skills.reading import STORED, Found, published
from governance.core import gate
from governance.core.compat.engine import DEFAULT_SETTINGS
from governance.core.compat.engine import Settings as Comparing
from governance.core.compat.model import Comparison, Verdict
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.document import read_json
from governance.core.lint import lint
from governance.telemetry import Telemetry, span
from governance.wire import write_json

log = logging.getLogger("governance.control")

_REMEMBERED_COMPARISONS: Final = 512
_REMEMBERED_MANIFEST_BYTES: Final = 8 * 1024 * 1024
"""Of JSON, which takes some ten times that as values: thousands of manifests as they usually are."""

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


class KeptVerdicts(Protocol):
    """Comparisons kept beyond this process, by both manifest digests and the settings. Neither method raises."""

    def get(self, old: str, new: str, settings: Comparing, /) -> Comparison | None: ...

    def put(self, old: str, new: str, settings: Comparing, comparison: Comparison, /) -> None: ...


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
        key = (old.manifest_digest, new.manifest_digest, settings)
        known, source = self._comparisons.get(key), "memory"
        if known is None and self._kept is not None:
            known, source = self._kept.get(*key), "stored"
        if known is None:
            known, source = self._computed(old, new, settings), "computed"
        if source != "memory" and not known.interrupted:
            self._comparisons.put(key, known)
        self._telemetry.count("governance_comparisons_total", source=source)
        return known

    def _computed(self, old: SkillManifest, new: SkillManifest, settings: Comparing) -> Comparison:
        comparison = self._comparer.check(old, new, settings=settings)
        if comparison.interrupted:
            self._telemetry.count("governance_comparisons_interrupted_total")
        for side in comparison.disagreement:
            self._telemetry.count("governance_opinion_disagreements_total")
            told = {"old": old.manifest_digest, "new": new.manifest_digest, "side": side.value}
            log.error("the second opinion denies what the engine proved", extra=told)
        if self._kept is not None:
            self._kept.put(old.manifest_digest, new.manifest_digest, settings, comparison)
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
        started = time.perf_counter()
        with span("governance.decide", **{"governance.skill": candidate.name}):
            decision = gate.decide(
                candidate,
                [gate.HistoryItem(published=published(row), manifest=self.manifest(row)) for row in history],
                compare=self.compare,
                lint_findings=lint(candidate),
                transitive=terms.transitive,
                fail_on=None if terms.fail_on is None else Verdict(terms.fail_on),
                replacement=replacement,
                around=around,
                today=datetime.now(UTC).date(),
            )
        if decision.outcome is not gate.Outcome.BLOCK:
            weight = len(write_json(candidate.to_document()))
            self._manifests.put(candidate.manifest_digest, candidate, weight=weight)
        self._telemetry.observe("governance_decision_duration_seconds", time.perf_counter() - started)
        return decision


def stored_manifest(data: bytes) -> SkillManifest:
    """A manifest as it was let in; later rules do not judge it again."""
    return manifest_from_document(read_json(data, limits=STORED), native=False)
