"""The judge: comparisons with memory, and the gate's decision on a candidate against what is published."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from governance.control.skills.reading import STORED, Found, published
from governance.core import gate
from governance.core.compat.engine import DEFAULT_SETTINGS, SecondOpinion, check
from governance.core.compat.engine import Settings as Comparing
from governance.core.compat.model import Comparison, Verdict
from governance.core.contract import SkillManifest, manifest_from_document
from governance.core.document import read_json
from governance.core.lint import lint
from governance.telemetry import Telemetry, span

_REMEMBERED: Final = 512

K = TypeVar("K")
V = TypeVar("V")

NOT_CHECKED: Final = tuple(what for what in gate.NEEDS_A_REGISTRY if what != "replacement")
"""What the gate cannot ask yet; every decision names it."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a candidate is to be judged."""

    fail_on: str | None = None
    """``risky`` or ``breaking``."""
    transitive: bool = True


class _Memory(Generic[K, V]):
    """The most recently used values, shared between threads."""

    def __init__(self) -> None:
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > _REMEMBERED:
                self._values.popitem(last=False)


class Judge:
    """One an application, safe to share between threads.

    Published contracts never change, so a comparison is remembered by the two manifest digests: the dry run
    of a pull request and the publish that follows it pay once.
    """

    def __init__(self, *, opinion: SecondOpinion | None, telemetry: Telemetry) -> None:
        self._opinion = opinion
        self._telemetry = telemetry
        self._comparisons: _Memory[tuple[str | None, str | None, Comparing], Comparison] = _Memory()
        self._manifests: _Memory[str, SkillManifest] = _Memory()

    def compare(
        self, old: SkillManifest | None, new: SkillManifest | None, settings: Comparing = DEFAULT_SETTINGS
    ) -> Comparison:
        """The comparison of two manifests; ``None`` stands for "there is no such skill"."""
        key = (_digest(old), _digest(new), settings)
        known = self._comparisons.get(key)
        if known is None:
            known = check(old, new, settings=settings, opinion=self._opinion)
            self._comparisons.put(key, known)
        return known

    def compare_stored(self, old: Found, new: Found, settings: Comparing = DEFAULT_SETTINGS) -> Comparison:
        """The comparison of two stored versions."""
        return self.compare(self.manifest(old), self.manifest(new), settings)

    def manifest(self, row: Found) -> SkillManifest:
        """The manifest of a stored version, read once."""
        digest: str = row["manifest_digest"]
        known = self._manifests.get(digest)
        if known is None:
            known = stored_manifest(row["manifest"])
            self._manifests.put(digest, known)
        return known

    def decide(
        self,
        candidate: SkillManifest,
        history: Iterable[Found],
        terms: Terms,
        replacement: gate.ReplacementFacts | None = None,
    ) -> gate.GateDecision:
        """The gate's decision. ``history`` holds rows of all published versions, with manifests."""
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
                not_checked=NOT_CHECKED,
            )
        self._telemetry.observe("governance_decision_duration_seconds", time.perf_counter() - started)
        return decision


def _digest(manifest: SkillManifest | None) -> str | None:
    return None if manifest is None else manifest.manifest_digest


def stored_manifest(data: bytes) -> SkillManifest:
    """A manifest as it was let in; later rules do not judge it again."""
    return manifest_from_document(read_json(data, limits=STORED), native=False)
