"""What a move from one version to another means to one consumer, in the fields it sends and reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from governance.core.compat.model import ABSENT, Comparison, Finding, FindingLevel, Side, Verdict, verdict_of
from governance.core.consumers.narrowing import ANY_ITEM, added_pointer, declared_names, names_in, narrowed
from governance.core.consumers.needs import Need
from governance.core.lines import Compare
from governance.core.skill import SkillManifest

_OF_SENDERS: Final = frozenset(
    {
        "input.field-ignored", "input.field-renamed", "input.format-tightened", "input.open-name-typed",
        "input.unconstrained",
    }
)  # fmt: skip
"""Risks of whoever sends the field. A default, say, is one of whoever leaves it out."""
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf"})


@dataclass(frozen=True, kw_only=True)
class Moves:
    """Comparisons as consumers see them, each made once. ``compare`` is the engine's, with a cache before it."""

    compare: Compare
    _known: dict[tuple[str, str, tuple[str, ...] | None, tuple[str, ...] | None, bool], Comparison] = field(
        default_factory=dict
    )
    _declared: dict[str, frozenset[str]] = field(default_factory=dict)

    def __call__(self, need: Need, old: SkillManifest, new: SkillManifest) -> tuple[Comparison, bool]:
        """What a move from ``old`` to ``new`` means to a consumer, and whether only its own fields were looked at."""
        whole = self._compared(old, new, None, None)
        if not whole.identical and (hit := self._sends_what_was_free(need, old, new)) is not None:
            return hit, True
        if whole.verdict is Verdict.COMPATIBLE or (need.sends is None and need.reads is None):
            return whole, False
        own = self._compared(old, new, need.sends, need.reads)
        if own.verdict is Verdict.INVALID or (need.sends is not None and self._sends_nothing(need, old)):
            return whole, False
        return _in_what_it_sends(own, need.sends), True

    def _sends_what_was_free(self, need: Need, old: SkillManifest, new: SkillManifest) -> Comparison | None:
        """The break of a consumer that sends what ``old`` let pass undeclared, and ``new`` does not."""
        if need.sends is None:
            return None
        if old.manifest_digest not in self._declared:
            self._declared[old.manifest_digest] = declared_names(old)
        if names_in(need.sends) <= self._declared[old.manifest_digest]:
            return None
        told = self._compared(old, new, need.sends, need.reads, told=True)
        if told.verdict is not Verdict.BREAKING:
            return None
        nowhere = added_pointer(old)
        findings = [
            replace(one, old_pointer=None, old=ABSENT)
            if one.side is Side.INPUT and (one.old_pointer or "").startswith(nowhere)
            else one
            for one in told.findings
        ]
        return replace(told, findings=tuple(findings))

    def _compared(
        self,
        old: SkillManifest,
        new: SkillManifest,
        sends: tuple[str, ...] | None,
        reads: tuple[str, ...] | None,
        *,
        told: bool = False,
    ) -> Comparison:
        key = (old.manifest_digest, new.manifest_digest, _in_order(sends), _in_order(reads), told)
        if key not in self._known:
            mine = narrowed(old, sends=sends, reads=reads, told=told)
            # its name is the old one's: a comparison of two names would be one of two skills
            self._known[key] = self.compare(mine, new).named(new.name)
        return self._known[key]

    def _sends_nothing(self, need: Need, old: SkillManifest) -> bool:
        """No valid input has these fields alone: what the consumer says of itself cannot be, and narrows nothing."""
        key = (old.manifest_digest, "", _in_order(need.sends), None, False)
        if key not in self._known:
            mine = narrowed(old, sends=need.sends, reads=None)
            self._known[key] = self.compare(mine, _nothing(mine))
        return self._known[key].verdict is Verdict.COMPATIBLE


def _in_order(fields: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if fields is None else tuple(sorted(fields))


def _nothing(manifest: SkillManifest) -> SkillManifest:
    """The same skill, except that it accepts no input at all."""
    never = {"type": "object", "not": {}}
    dialect = manifest.input_schema.get("$schema") if isinstance(manifest.input_schema, dict) else None
    return replace(manifest, input_schema={**never, **({"$schema": dialect} if dialect else {})})


def _in_what_it_sends(comparison: Comparison, sends: tuple[str, ...] | None) -> Comparison:
    """The comparison without the risks of fields that the consumer never sends."""
    if sends is None:
        return comparison
    sent = [tuple(pointer.split("/")[1:]) for pointer in sends]
    kept = tuple(one for one in comparison.findings if not _elsewhere(one, sent))
    if len(kept) == len(comparison.findings):
        return comparison
    return replace(comparison, findings=kept, verdict=verdict_of(kept))


def _elsewhere(finding: Finding, sent: list[tuple[str, ...]]) -> bool:
    """Is this a risk of senders of a field, and the field plainly none of these, nor within one, nor around one?"""
    if finding.level is not FindingLevel.RISKY or finding.code not in _OF_SENDERS:
        return False
    pointer = finding.old_pointer if finding.old_pointer is not None else finding.new_pointer
    path = tuple(_fields(pointer or ""))
    return bool(path) and all(path[: len(one)] != one[: len(path)] for one in sent)


def _fields(pointer: str) -> Iterator[str]:
    """The fields on the way to a place in a schema, as far as it leads straight there from the root."""
    tokens = iter(pointer.split("/")[1:])
    for token in tokens:
        if token == "properties":
            yield next(tokens, "")
        elif token == "items":
            yield ANY_ITEM
        elif token in _IN_PLACE:
            next(tokens, "")
        else:
            return
