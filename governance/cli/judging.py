"""One candidate of a release judged without a registry, apart from the others: whichever process does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from governance.cli.announcing import Numbers, assumed, unreadable_before, withheld
from governance.cli.present import JSONObject
from governance.core.compat.model import Comparison, Verdict
from governance.core.gate import NEEDS_A_REGISTRY, Compare, LintComplaint, auto_version, decide, replay
from governance.core.skill import SkillManifest
from governance.core.versioning import Version
from governance.errors import UsageError

Lint = Callable[[SkillManifest], Iterable[LintComplaint]]

_ASSUMED: Final = "1.0.0"
"""The number of what stood before, where nobody numbers anything."""

_OLD_VERSION: Final = "Say which number stands there with --old-version, or undo the change."


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A skill and all versions of it that stood before. ``hidden``: name and complaint of what may have been one."""

    manifest: SkillManifest
    stood: tuple[SkillManifest, ...] = ()
    hidden: tuple[str, str] | None = None

    @property
    def is_numbered(self) -> bool:
        """Does all that stood before have a version?"""
        return all(one.version for one in self.stood)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How candidates are judged; called with one it gives its decision as a document."""

    against: str
    compare: Compare
    lint: Lint
    fail_on: Verdict | None
    transitive: bool
    numbers: Numbers

    def numbers_itself(self, one: Candidate) -> bool:
        """Is the candidate judged under a number that nobody gave it?"""
        return self.numbers.automatic or not one.manifest.version or not one.is_numbered

    def __call__(self, one: Candidate) -> JSONObject:
        """
        Raises:
            UsageError: the candidate's version lies below the one before it.
        """
        manifest, known, numbers = one.manifest, one.is_numbered, self.numbers
        compare = _once(self.compare)
        history = replay(one.stood if known else [replace(one.stood[-1], version=_ASSUMED)], compare=compare)
        candidate = manifest
        if self.numbers_itself(one):
            number = auto_version(manifest, history, compare=compare)
            candidate = replace(manifest, version=str(number))
        elif history and history[-1].version > Version.parse(manifest.version):
            raise UsageError(
                f"{manifest.name} is {manifest.version} and stands at {history[-1].version} in {self.against}.",
                fix="Compare with something older, or give a higher version.",
            )
        decision: JSONObject = decide(
            candidate,
            history,
            compare=compare,
            lint_findings=self.lint(candidate),
            transitive=self.transitive,
            fail_on=self.fail_on,
            not_checked=NEEDS_A_REGISTRY,
        ).to_document()
        if not numbers.automatic and not manifest.version:
            decision = withheld(decision, number=decision["smallest_version"] if known else None)
        elif not numbers.automatic and not known:
            decision = withheld(
                decision, number=None, why=f"What stands in {self.against} has no version", do=_OLD_VERSION
            )
        if one.hidden is not None:
            name, why = one.hidden
            decision = unreadable_before(decision, name=name, why=why, against=self.against)
        return decision if known else assumed(decision)


def _once(compare: Compare) -> Compare:
    """Each pair is compared once: what number a candidate gets changes no comparison."""
    known: dict[tuple[Any, Any], Comparison] = {}

    def compared(old: SkillManifest | None, new: SkillManifest | None) -> Comparison:
        key = _unnumbered(old), _unnumbered(new)
        if key not in known:
            known[key] = compare(old, new)
        return known[key]

    return compared


def _unnumbered(manifest: SkillManifest | None) -> tuple[int, ...]:
    """The very values that a manifest holds, whatever its version: a copy under another number has the same."""
    return () if manifest is None else tuple(id(getattr(manifest, name)) for name in _UNNUMBERED)


_UNNUMBERED: Final = tuple(field.name for field in fields(SkillManifest) if field.name != "version")
