"""What containment cannot show: fields silently ignored, objects closed, names typed, formats tightened.

A parallel walk over the declared fields of both documents; it decides nothing about sets of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from governance.core.compat.branch_fields import lost_in_branches
from governance.core.compat.codes import CODES
from governance.core.compat.model import ABSENT, Evidence, Finding, FindingLevel, Side
from governance.core.compat.places import Places, Spot, field_of
from governance.core.schema import kinds as n
from governance.core.schema.answers import ASKED, DENIED, entry
from governance.core.schema.budget import Budget
from governance.core.schema.kinds import Mode
from governance.core.schema.lower import Lowering
from governance.core.schema.nodes import Node
from governance.core.schema.solver import Solver

_MAX_PREFIX: Final = 64
_STEPS_A_SPOT: Final = 15
_KEYWORD_WITH_A_SIGN: Final = "'$"
"""As a reference or an identifier starts in a printed dict."""
_OF_THE_REST: Final = ("additionalProperties", "unevaluatedProperties")
_MAY_CLOSE: Final = frozenset((
    "$dynamicRef", "$recursiveRef", "const", "enum", "maxProperties", "not", "patternProperties", "propertyNames",
))  # fmt: skip
"""Keywords that may leave no room for fields that nothing declares."""
_STRUCTURING: Final = ("properties", "patternProperties")

Fields = dict[str, list[Spot]]


class Risks:
    """Walks one side; both lowerings share a forest, so equal shapes are identical nodes."""

    def __init__(self, old: Lowering, new: Lowering, side: Side, budget: Budget) -> None:
        self.side = side
        self.budget = budget
        self.old, self.new = Places(old), Places(new)
        self.solver = Solver(old.forest, budget)
        self.found: list[Finding] = []
        self._seen: set[tuple[int, ...]] = set()
        self._told: set[tuple[str | None, ...]] = set()

    def findings(self) -> list[Finding]:
        """Risky findings and notes, in the order of the documents.

        Raises:
            BudgetExceeded: the documents apply too much to too many places; ``found`` holds what was seen till then.
        """
        self._position([self.old.root], [self.new.root])
        return self.found

    def _position(self, old_roots: list[Spot], new_roots: list[Spot]) -> None:
        if not old_roots or not new_roots:
            return
        old, new = self.old.in_place(old_roots), self.new.in_place(new_roots)
        self.budget.spend(_STEPS_A_SPOT * (len(old) + len(new)))
        key = (*_identity(old), -1, *_identity(new))
        if key in self._seen:
            return
        self._seen.add(key)
        if self.side is Side.INPUT:
            self._unconstrained(old_roots, new_roots)
        if not old or not new:
            return
        olds, news = self.old.properties(old), self.new.properties(new)
        if self.side is Side.INPUT:
            if any(spot.has(keyword) for keyword in _STRUCTURING for spot in (*old, *new)):
                alike = self._shape(self.old, old_roots) is self._shape(self.new, new_roots)
                is_open = alike or self._open(self.new, new_roots, news)
                was_open = is_open or self._open(self.old, old_roots, olds)
                self._input_fields(old, new, olds, news, (was_open, is_open))
            self._format("input.format-tightened", old, new)
        else:
            closed = any(name not in olds for name in news) and not self._open(self.old, old_roots, olds)
            for lost, _ in lost_in_branches(self.old, old, self.new, new, unless_required=True):
                self._add("output.field-dropped", lost, None, old=lost.schema, new=ABSENT)
            for gained, meant in lost_in_branches(self.new, new, self.old, old):
                code = "output.field-added-to-closed" if any(map(_closing, meant)) else "output.property-added"
                self._add(code, None, gained, old=ABSENT, new=gained.schema)
            self._output_fields(olds, news, promised=_promised(old), closed=closed)
            self._format("output.format-loosened", new, old)
        for name in olds:
            if name in news and not self._unchanged(olds[name], news[name]):
                self._position(olds[name], news[name])
        prefixes = [
            len(places.lowering.item_schemas(spot.schema)[0])
            for places, spots in ((self.old, old), (self.new, new))
            for spot in spots
        ]
        for position in (*range(min(max(prefixes), _MAX_PREFIX)), None):
            one, other = self.old.items(old, position), self.new.items(new, position)
            self._position(one, other)
            if position is None and one and not other and self.side is Side.INPUT:
                self._dropped(one, new, "array", ("items",))
        self._undeclared(old, new)

    def _undeclared(self, old: list[Spot], new: list[Spot]) -> None:
        """The values under names that are not declared one by one."""
        patterns, rest = self.old.patterns(old), _rest(self.old, old)
        others, other = self.new.patterns(new), _rest(self.new, new)
        for pattern in patterns:
            self._position(patterns[pattern], others.get(pattern, []))
        self._position(rest, other)
        if self.side is Side.INPUT and not others and not other:
            for gone in (*patterns.values(), rest):
                if gone:
                    self._dropped(gone, new, "object", _OF_THE_REST)

    def _unchanged(self, old: list[Spot], new: list[Spot]) -> bool:
        """Is the very same written in both places, and nothing in it that might lead elsewhere?"""
        if len(old) != len(new) or self.old.lowering.dialect is not self.new.lowering.dialect:
            return False
        return all(
            one.schema == other.schema and _KEYWORD_WITH_A_SIGN not in repr(one.schema)
            for one, other in zip(old, new, strict=True)
        )

    # Requests.

    def _open(self, places: Places, roots: list[Spot], fields: Fields) -> bool:
        """May an object hold a field that nothing here declares? Asked of the meaning, not of a keyword."""
        forest = self.old.lowering.forest
        if self._shape(places, roots).can_hold & n.OBJECT and not any(map(_may_close, places.in_place(roots))):
            return True  # nothing speaks of other fields, so there is nothing to ask
        patterns = {p for spot in places.in_place(roots) for p in spot.schema.get("patternProperties", {})}
        only_declared = forest.props(
            [(name, forest.true) for name in fields], [(p, forest.true) for p in patterns], forest.false, Mode.SILENT
        )
        asked = entry(self._shape(places, roots), ASKED), entry(forest.types(n.OBJECT), ASKED)
        if self.solver.question((*asked, entry(only_declared, DENIED))).found is not False:
            return True
        # Patterns that any name matches leave nothing undeclared, and so close nothing.
        return bool(patterns) and self.solver.question((entry(only_declared, DENIED),)).found is False

    def _input_fields(
        self, old: list[Spot], new: list[Spot], olds: Fields, news: Fields, opened: tuple[bool, bool]
    ) -> None:
        gone = [name for name in olds if name not in news and not self.new.describes(new, name)]
        added = [name for name in news if name not in olds]
        for lost, _ in lost_in_branches(self.old, old, self.new, new):
            self._add("input.field-ignored", lost, None, old=lost.schema, new=ABSENT)
        explicit = bool(olds) and any(spot.schema.get("additionalProperties") in (True, {}) for spot in old)
        was_open, is_open = opened
        closed = not is_open
        renamed = {} if closed else self._renamed(gone, added, olds, news)
        for name in gone:
            if closed:
                continue  # a refused field is a break, and found as one
            if name in renamed:
                other = renamed[name]
                self._add(
                    "input.field-renamed", olds[name][0], news[other][0], old=name, new=other,
                    field=f"{_at(olds[name][0])} → {_at(news[other][0])}",
                )  # fmt: skip
            else:
                self._add("input.field-ignored", olds[name][0], None, old=olds[name][0].schema, new=ABSENT)
        for name in added:
            if name in renamed.values():
                continue
            free = news[name][0].schema in (True, {})
            code = "input.open-name-typed" if explicit and not free else "input.property-added"
            self._add(code, None, news[name][0], old=ABSENT, new=news[name][0].schema)
        if closed and was_open:
            spot = next((spot for spot in new if _closing(spot)), None)
            at = replace(spot, pointer=f"{spot.pointer}/{_closing(spot)}") if spot else new[0]
            self._add("input.closed", old[0], at, old=ABSENT, new=False if spot else new[0].schema)

    def _renamed(self, gone: list[str], added: list[str], olds: Fields, news: Fields) -> dict[str, str]:
        """Old name to new: the same shape and a similar name, if only one field is both."""
        pairs: dict[str, str] = {}
        for name in gone:
            shape = self._shape(self.old, olds[name])
            alike = [
                other for other in added if other not in pairs.values() and self._shape(self.new, news[other]) is shape
            ]
            similar = [other for other in alike if _similar(name, other)]
            if len(similar) == 1:
                pairs[name] = similar[0]
        return pairs

    def _shape(self, places: Places, spots: list[Spot]) -> Node:
        lowering = places.lowering
        return lowering.forest.conjunction(lowering.lower(spot.schema, spot.scope, lifted=False) for spot in spots)

    def _unconstrained(self, old: list[Spot], new: list[Spot]) -> None:
        before, after = self._shape(self.old, old), self._shape(self.new, new)
        forest = self.old.lowering.forest
        # What was forbidden altogether and is open now was opened on purpose.
        if before not in (forest.true, forest.false) and after is forest.true:
            self._add("input.unconstrained", old[0], new[0], old=old[0].schema, new=new[0].schema)

    def _dropped(self, old: list[Spot], new: list[Spot], kind: str, keywords: Iterable[str]) -> None:
        """A list is still a list, or a map a map, but nothing says any more what is in it."""
        kept = [spot for spot in new if kind in _types(spot)]
        said = any(spot.schema.get(keyword, True) not in (True, {}) for spot in new for keyword in keywords)
        if kept and not said and self._shape(self.old, old) is not self.old.lowering.forest.true:
            self._add("input.unconstrained", old[0], kept[0], old=old[0].schema, new=ABSENT)

    def _format(self, code: str, sender: list[Spot], receiver: list[Spot]) -> None:
        """A format that the receiver speaks of and the sender was not held to."""
        sent = {str(spot.schema["format"]) for spot in sender if spot.has("format")}
        for spot in receiver:
            if spot.has("format") and str(spot.schema["format"]) not in sent:
                theirs = replace(spot, pointer=spot.pointer + "/format"), spot.schema["format"]
                ours = sender[0], sorted(sent)[0] if sent else ABSENT
                old, new = (ours, theirs) if self.side is Side.INPUT else (theirs, ours)
                self._add(code, old[0], new[0], old=old[1], new=new[1])

    # Results.

    def _output_fields(self, olds: Fields, news: Fields, *, promised: set[str], closed: bool) -> None:
        for name, spots in olds.items():
            if name not in news and name not in promised:
                self._add("output.field-dropped", spots[0], None, old=spots[0].schema, new=ABSENT)
        for name, spots in news.items():
            if name not in olds:
                code = "output.field-added-to-closed" if closed else "output.property-added"
                self._add(code, None, spots[0], old=ABSENT, new=spots[0].schema)

    def _add(self, code: str, at_old: Spot | None, at_new: Spot | None, *, old: Any, new: Any, field: str = "") -> None:
        # A definition that is used in many places is one cause.
        told = code, at_old.pointer if at_old else None, at_new.pointer if at_new else None
        if told in self._told:
            return
        self._told.add(told)
        row = CODES[code]
        where = field or _at(at_old or at_new)
        evidence = None
        if row.level is FindingLevel.RISKY:
            evidence = Evidence(
                field=where,
                old=None if old is ABSENT else old,
                new=None if new is ABSENT else new,
            )
        self.found.append(
            Finding(
                code=code,
                side=self.side,
                level=row.level,
                message=f"`{where}`: {row.title}" if where else f"the root: {row.title}",
                fix=row.fix,
                old_pointer=at_old.pointer if at_old else None,
                new_pointer=at_new.pointer if at_new else None,
                old=old,
                new=new,
                evidence=evidence,
            )
        )


def _rest(places: Places, spots: list[Spot]) -> list[Spot]:
    """What describes the values under names that nothing declares."""
    unevaluated = [
        places.child(spot, "/unevaluatedProperties", spot.schema["unevaluatedProperties"])
        for spot in spots
        if isinstance(spot.schema.get("unevaluatedProperties"), dict)
    ]
    return [*places.additional(spots), *unevaluated]


def _identity(spots: list[Spot]) -> list[int]:
    """What makes two positions the same: a bare reference adds nothing to where it leads."""
    return [id(spot.schema) for spot in spots if spot.schema.keys() != {"$ref"}]


def _at(spot: Spot | None) -> str:
    return field_of(spot.pointer) if spot else ""


def _types(spot: Spot) -> list[Any]:
    named = spot.schema.get("type", [])
    return named if isinstance(named, list) else [named]


def _promised(spots: list[Spot]) -> set[str]:
    """The fields that are always there."""
    return {name for spot in spots if spot.sure for name in spot.schema.get("required", ())}


def _may_close(spot: Spot) -> bool:
    """Does it speak of fields that it does not name?"""
    schema = spot.schema
    if not _MAY_CLOSE.isdisjoint(schema):
        return True
    return any(schema.get(keyword, True) not in (True, {}) for keyword in _OF_THE_REST)


def _closing(spot: Spot) -> str | None:
    """The keyword by which the spot closes its object, if it does."""
    return next((keyword for keyword in _OF_THE_REST if spot.schema.get(keyword) is False), None)


def _similar(one: str, other: str) -> bool:
    """Names that a reader would call the same: equal letters, one within the other, or a shared word."""
    left, right = (re.sub(r"[\W_]+", "", name).lower() or name for name in (one, other))
    return bool(_words(one) & _words(other)) or left in right or right in left


def _words(name: str) -> set[str]:
    words, word = set(), ""
    for character in name:
        if character.isupper() and word and not word[-1].isupper():
            words.add(word.lower())
            word = ""
        if character.isalnum():
            word += character
        elif word:
            words.add(word.lower())
            word = ""
    return words | ({word.lower()} if word else set())


def breaks_explained(breaks: Iterable[Finding], risks: Iterable[Finding]) -> list[Finding]:
    """One cause, one finding: a risk at a field that a break already speaks of is left out, a rename is said."""
    breaks, risks = list(breaks), list(risks)
    broken = [finding for finding in breaks if finding.level is FindingLevel.BREAKING]
    required = {str(finding.new): finding for finding in broken if finding.code == "input.required-added"}
    renames = {str(risk.new): risk for risk in risks if risk.code == "input.field-renamed"}
    merged: list[Finding] = []
    for finding in breaks:
        rename = renames.get(str(finding.new)) if finding.code == "input.required-added" else None
        if rename is not None:
            hint = f"; it looks like `{rename.old}` under a new name"
            finding = replace(finding, message=finding.message + hint, old_pointer=rename.old_pointer)
        merged.append(finding)
    places = {p for f in broken for p in (f.old_pointer, f.new_pointer) if p is not None}
    for risk in risks:
        if risk.code == "input.field-renamed" and str(risk.new) in required:
            continue
        if risk.code in ("input.property-added", "input.open-name-typed") and _last(risk.new_pointer) in required:
            continue
        if risk.code == "input.closed" and risk.new_pointer in places:
            continue
        if any(place in places for place in (risk.old_pointer, risk.new_pointer) if place):
            continue
        merged.append(risk)
    return merged


def _last(pointer: str | None) -> str:
    return (pointer or "").rpartition("/")[2].replace("~1", "/").replace("~0", "~")
