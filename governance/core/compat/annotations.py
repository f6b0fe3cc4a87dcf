"""What a schema says beside its rules: defaults, sensitivity, texts, examples.

None of it moves a set of values, so containment never sees it. Both documents are walked in parallel, by the
same field on both sides; references inside the document are followed, so that moving a field into ``$defs``
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from governance.core.canonical import canonical_or_text, escape
from governance.core.compat.codes import CODES
from governance.core.compat.model import ABSENT, JSON, Evidence, Finding, Reading, Side
from governance.core.compat.places import field_of
from governance.core.compat.telling import left_open
from governance.core.schema.budget import READING_STEPS, Budget, BudgetExceeded

MAX_REFERENCES: Final = 16
"""References that are followed from one position before it is taken as it stands."""

_STEPS_A_POSITION: Final = 15
_KEYWORDS_A_STEP: Final = 2
_CHARACTERS_A_STEP: Final = 50

MAX_SHOWN: Final = 20
"""Places that one finding lists; the count is always whole."""

TEXTS: Final = frozenset({"title", "description", "$comment"})
_SUBSCHEMA: Final = (
    "additionalProperties", "unevaluatedProperties", "propertyNames", "items", "additionalItems",
    "unevaluatedItems", "contains", "not", "if", "then", "else", "contentSchema",
)  # fmt: skip
_SUBSCHEMA_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_SUBSCHEMA_LISTS: Final = ("prefixItems", "items", "allOf", "anyOf", "oneOf")
_VALIDATES: Final = frozenset(
    {
        *_SUBSCHEMA, *_SUBSCHEMA_MAPS, *_SUBSCHEMA_LISTS, "$defs", "definitions", "dependencies",
        "$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef",
        "$recursiveAnchor", "$vocabulary", "type", "enum", "const", "multipleOf", "maximum", "minimum",
        "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems",
        "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required",
        "dependentRequired", "format", "contentEncoding", "contentMediaType",
    }
)  # fmt: skip
_OWN_CODE: Final = frozenset({"default", "x-sensitive"})


def annotation_changes(old: JSON, new: JSON, side: Side, budget: Budget | None = None) -> list[Finding]:
    """Findings about annotations of the fields that both schemas have.

    A moved or dropped default is a finding of its own, on the input side alone. Reworded texts are one note a
    side, and so are other annotations, however many fields they stand at. Where the budget does not last, what lies
    past it is said to be undecided.
    """
    walk = _Walk(old=old, new=new, side=side, budget=budget or Budget(READING_STEPS))
    try:
        for position in walk.positions():
            walk.compare(position)
    except BudgetExceeded:
        return [*walk.findings(), left_open(side, Reading.DEFAULT, walk.budget.reason, "what stands beside its rules")]
    return walk.findings()


@dataclass(frozen=True)
class _Homes:
    """Where the keywords of a schema stand that was put together over its references."""

    own: str
    led: tuple[tuple[frozenset[str], str], ...] = ()
    """Keywords that stand at the end of a reference, and where that is."""

    def of(self, keyword: str) -> str:
        """The pointer of the schema object that holds the keyword."""
        return next((home for keywords, home in self.led if keyword in keywords), self.own)


@dataclass(frozen=True, kw_only=True)
class _Position:
    """The same place in both documents; ``newly_required``: absence of the field is no longer allowed.

    ``path`` leads there through all references, as a reader sees the field; pointers lead where it is written.
    """

    old: dict[str, Any]
    new: dict[str, Any]
    old_homes: _Homes
    new_homes: _Homes
    path: str
    newly_required: bool = False


@dataclass(kw_only=True)
class _Walk:
    old: JSON
    new: JSON
    side: Side
    budget: Budget
    found: list[Finding] = field(default_factory=list)
    reworded: list[tuple[str, JSON, JSON]] = field(default_factory=list)
    annotated: list[tuple[str, JSON, JSON]] = field(default_factory=list)

    def positions(self) -> Iterator[_Position]:
        """Every pair of schema objects that describe one place, each pair once, outermost first."""
        seen: set[tuple[int, int]] = set()
        keep: list[_Position] = []  # merged schemas live as long as the walk, so that no id is used twice
        stack: list[_Child] = [(("", "", ""), self.old, self.new, False)]
        while stack:
            self.budget.spend()
            (path, old_pointer, new_pointer), old, new, required = stack.pop()
            if not isinstance(old, dict) or not isinstance(new, dict) or (id(old), id(new)) in seen:
                continue
            targets = (_target_id(self.old, old), _target_id(self.new, new))
            if targets in seen and old.keys() | new.keys() == {"$ref"}:
                continue
            seen |= {(id(old), id(new)), targets}
            (was, old_homes), (now, new_homes) = (
                _resolved(self.old, old, old_pointer),
                _resolved(self.new, new, new_pointer),
            )
            position = _Position(
                old=was, new=now, old_homes=old_homes, new_homes=new_homes, path=path, newly_required=required
            )
            keep.append(position)
            self.budget.spend(_STEPS_A_POSITION + (len(position.old) + len(position.new)) // _KEYWORDS_A_STEP)
            yield position
            stack.extend(reversed(list(_children(position))))

    def compare(self, at: _Position) -> None:
        if self.side is Side.INPUT and not at.newly_required:
            self._default(at)
        if at.old.get("x-sensitive") is True and at.new.get("x-sensitive") is not True:
            self._say("sensitivity-dropped", at, keyword="x-sensitive")
        for keyword in sorted(at.old.keys() | at.new.keys()):
            if keyword in _VALIDATES or keyword in _OWN_CODE:
                continue
            before, after = at.old.get(keyword, ABSENT), at.new.get(keyword, ABSENT)
            if not self._same(before, after):
                changed = self.reworded if keyword in TEXTS else self.annotated
                changed.append((f"{at.path}/{escape(keyword)}", before, after))

    def _default(self, at: _Position) -> None:
        before, after = at.old.get("default", ABSENT), at.new.get("default", ABSENT)
        if self._same(before, after):
            return
        if before is ABSENT:
            self._say("default-added", at, keyword="default")
        else:
            self._say("default-dropped" if after is ABSENT else "default-moved", at, keyword="default")

    def _same(self, one: JSON, other: JSON) -> bool:
        if one is ABSENT or other is ABSENT:
            return one is other
        if one is other:
            return True
        before, after = canonical_or_text(one), canonical_or_text(other)
        self.budget.spend((len(before) + len(after)) // _CHARACTERS_A_STEP)
        return before == after

    def _say(self, code: str, at: _Position, *, keyword: str) -> None:
        row = CODES[f"{self.side}.{code}"]
        before, after = at.old.get(keyword, ABSENT), at.new.get(keyword, ABSENT)
        values = [_shown(value) for value in (before, after) if value is not ABSENT]
        named = field_of(at.path)
        place = f"`{named}`" if named else "the root"
        self.found.append(
            Finding(
                code=row.id,
                side=self.side,
                level=row.level,
                message=f"{place}: {row.title} ({' → '.join(values)})",
                fix=row.fix,
                old_pointer=at.old_homes.of(keyword),
                new_pointer=at.new_homes.of(keyword),
                old=before,
                new=after,
                evidence=Evidence(field=f"{at.path}/{keyword}", old=_plain(before), new=_plain(after)),
            )
        )

    def findings(self) -> list[Finding]:
        for code, changed in (("wording-changed", self.reworded), ("annotations-changed", self.annotated)):
            if changed:
                self.found.append(self._summary(code, changed))
        return self.found

    def _summary(self, code: str, changed: list[tuple[str, JSON, JSON]]) -> Finding:
        """One note for all of them: a reader with forty reworded fields wants one line and the places."""
        row = CODES[f"{self.side}.{code}"]
        first = field_of(changed[0][0]) or "the root"
        places = f"{first} and {len(changed) - 1} more" if len(changed) > 1 else first
        return Finding(
            code=row.id,
            side=self.side,
            level=row.level,
            message=f"{row.title}: {places}",
            fix=row.fix,
            evidence=Evidence(
                field=f"{self.side}_schema",
                old={place: _plain(before) for place, before, _ in changed[:MAX_SHOWN]},
                new={place: _plain(after) for place, _, after in changed[:MAX_SHOWN]},
            ),
        )


_Child = tuple[tuple[str, str, str], JSON, JSON, bool]
"""(path, old pointer, new pointer), both schemas, and whether the field is newly required."""


def _children(at: _Position) -> Iterator[_Child]:
    def child(*path: str, old: JSON, new: JSON, required: bool = False) -> _Child:
        place = "".join(f"/{escape(token)}" for token in path)
        homes = at.path, at.old_homes.of(path[0]), at.new_homes.of(path[0])
        return (homes[0] + place, homes[1] + place, homes[2] + place), old, new, required

    was, now = (_strings(schema.get("required")) for schema in (at.old, at.new))
    newly = now - was
    for keyword in _SUBSCHEMA_MAPS:
        before, after = at.old.get(keyword), at.new.get(keyword)
        if isinstance(before, dict) and isinstance(after, dict):
            for name in before:
                if name in after:
                    required = keyword == "properties" and name in newly
                    yield child(keyword, name, old=before[name], new=after[name], required=required)
    for keyword in _SUBSCHEMA:
        if keyword in at.old and keyword in at.new:
            yield child(keyword, old=at.old[keyword], new=at.new[keyword])
    for keyword in _SUBSCHEMA_LISTS:
        before, after = at.old.get(keyword), at.new.get(keyword)
        # branches of another number cannot be paired by place
        if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            for index, (one, other) in enumerate(zip(before, after, strict=True)):
                yield child(keyword, str(index), old=one, new=other)


def _target(document: JSON, schema: dict[str, Any]) -> dict[str, Any] | None:
    """What a local reference leads to."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    node = document
    for token in reference[1:].split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node if isinstance(node, dict) and (reference == "#" or reference.startswith("#/")) else None


def _resolved(document: JSON, schema: dict[str, Any], pointer: str) -> tuple[dict[str, Any], _Homes]:
    """The schema with what its references say, and where that stands; what stands beside a reference goes before."""
    found, end = schema, schema
    led: list[tuple[frozenset[str], str]] = []
    for _ in range(MAX_REFERENCES):
        target = _target(document, end)
        if target is None:
            break
        led.append((frozenset(target.keys() - (found.keys() - {"$ref"})), end["$ref"][1:]))
        found = {**target, **{key: value for key, value in found.items() if key != "$ref"}}
        end = target
    return found, _Homes(pointer, tuple(led))


def _target_id(document: JSON, schema: dict[str, Any]) -> int:
    """The identity of the schema at the end of the references, so that a cycle is walked once."""
    for _ in range(MAX_REFERENCES):
        target = _target(document, schema)
        if target is None:
            break
        schema = target
    return id(schema)


def _strings(value: JSON) -> set[str]:
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()


def _plain(value: JSON) -> JSON:
    return None if value is ABSENT else value


def _shown(value: JSON) -> str:
    text = canonical_or_text(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
