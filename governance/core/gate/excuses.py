"""Exceptions in force, asked whether one lets a finding pass: same finding, same surroundings, same scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from governance.core.compat.model import Finding
from governance.core.exceptions import Enclosures, between, moved
from governance.core.gate.decision import Reason
from governance.core.gate.facts import GateException
from governance.core.gate.reasons import REASONS
from governance.core.skill import SkillManifest


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Whom a finding is about, where it is about one; an exception for one of them opens nothing else."""

    environment: str | None = None
    consumer: str | None = None


WHOLE = Scope()
"""The skill as a whole, as a publish opens it."""


@dataclass(frozen=True, kw_only=True)
class Excuses:
    """The exceptions in force for one skill. ``old`` and ``new`` are those of the comparison that found it."""

    exceptions: tuple[GateException, ...] = ()
    _enclosures: dict[int, Enclosures] = field(default_factory=dict)

    @cached_property
    def _by_fingerprint(self) -> dict[str, list[GateException]]:
        found: dict[str, list[GateException]] = {}
        for one in self.exceptions:
            found.setdefault(one.fingerprint, []).append(one)
        return found

    def around(self, finding: Finding, old: SkillManifest, new: SkillManifest) -> str:
        """The finding's surroundings now, as :func:`governance.core.exceptions.surroundings`."""
        return between(finding, self._of(old), self._of(new))

    def _of(self, manifest: SkillManifest) -> Enclosures:
        key = id(manifest)
        if key not in self._enclosures:
            self._enclosures[key] = Enclosures(manifest=manifest)
        return self._enclosures[key]

    def of(
        self, finding: Finding, old: SkillManifest, new: SkillManifest, scope: Scope = WHOLE
    ) -> GateException | None:
        """The exception that lets the finding pass, if there is one."""
        named = list(self._named(finding, scope))
        if not named:
            return None
        now = self.around(finding, old, new)
        return next((one for one in named if one.surroundings == now), None)

    def told(self, finding: Finding, old: SkillManifest, new: SkillManifest, what: str) -> Reason | None:
        """``what`` passes by an exception, or would if the surroundings were those that were approved."""
        exception = self.of(finding, old, new)
        if exception is not None:
            return used(exception, what)
        stale = next(self._named(finding, WHOLE), None)
        if stale is None:
            return None
        row, changed = REASONS["exception-reopened"], moved(stale.surroundings, self.around(finding, old, new))
        message = f"Exception {stale.id} was given for {finding.code}, but around it {changed} changed since."
        return replace(used(stale, what), code=row.id, outcome=row.outcome, message=message, fix=row.fix)

    def _named(self, finding: Finding, scope: Scope) -> Iterator[GateException]:
        for one in self._by_fingerprint.get(finding.fingerprint, ()) if self.exceptions else ():
            if one.environment in (None, scope.environment) and one.consumer in (None, scope.consumer):
                yield one


def used(exception: GateException, what: str) -> Reason:
    """That an exception lets ``what`` pass."""
    row = REASONS["exception-used"]
    why = f" ({exception.reason})" if exception.reason else ""
    return Reason(
        code=row.id,
        outcome=row.outcome,
        message=f"By exception {exception.id}{why} passes {what}",
        fix=row.fix,
        fingerprint=exception.fingerprint,
        surroundings=exception.surroundings or None,
        exception=exception,
    )
