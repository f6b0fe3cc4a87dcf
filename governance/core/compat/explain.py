"""Every independent break of one side, each with its place in both documents and a payload of its own.

The walk follows the receiver's schema keyword by keyword. At each it puts the solver the same question as the
verdict did, with everything but this one keyword masked, so a finding is a proof about that keyword alone. It is put
at the nearest position that can be asked about by itself, so that a finding costs the same at any depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from governance.core.canonical import escape
from governance.core.compat.branches import Branches, Partners
from governance.core.compat.keywords import KIND, MASKING, SCALAR
from governance.core.compat.model import ABSENT, Finding, Side
from governance.core.compat.places import Places, Spot, field_of, fits, nearest
from governance.core.compat.positions import Position
from governance.core.compat.question import Question
from governance.core.compat.telling import tell
from governance.core.schema.answers import Answer
from governance.core.schema.kinds import Kind, Mode
from governance.core.schema.nodes import Forest, Node

Wrap: TypeAlias = Callable[[Node], Node]
"""Puts a node of one place into the position around it, so that it can be asked there."""


def _here(node: Node) -> Node:
    """The place is the position itself."""
    return node


MAX_FINDINGS: Final = 200
MAX_DEPTH: Final = 200


@dataclass(frozen=True, kw_only=True)
class _At:
    """Where the walk stands: the receiver's spot, the sender's spots there, and where that can be asked about."""

    spot: Spot
    partners: list[Spot]
    lifted: bool
    position: Position
    wrap: Wrap = _here
    masks: tuple[Node, ...] = ()
    """What the position's values meet beside all that is sent: what else they lack is told elsewhere."""
    path: tuple[int, ...] = field(default=())

    def child(self, spot: Spot, partners: list[Spot], wrap: Wrap, *, part: Position | None = None) -> _At:
        """A place below, or beside, within the same position; or ``part``, which is asked about by itself."""
        path = (*self.path, id(self.spot.schema))
        if part is not None:
            return replace(self, spot=spot, partners=partners, path=path, position=part, wrap=_here, masks=())
        return replace(self, spot=spot, partners=partners, path=path, wrap=wrap)


class Explainer:
    """Explains why a question was answered with a value, or where it could not be answered."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.forest = question.forest
        self.lowering = question.receiver_lowering
        self.theirs = Places(question.receiver_lowering)
        self.ours = Places(question.sender_lowering)
        self.found: list[Finding] = []
        self._reported = 0
        """How often something was found; what one cause breaks in several places is told once."""
        self._causes: set[tuple[Any, ...]] = set()
        self._deferred: set[int] = set()
        """Schemas met again below themselves, whose own frame has the last word."""

    def findings(self) -> list[Finding]:
        """The breaks and the undecided places, in the order of the receiver's document."""
        self._walk(
            _At(
                spot=self.theirs.root,
                partners=self.ours.in_place([self.ours.root]),
                lifted=self.lowering.lifted,
                position=Position.root(self.question),
            )
        )
        return self.found

    # The walk.

    def _walk(self, at: _At) -> None:
        schema, forest = at.spot.schema, self.forest
        node = self.lowering.lower(schema, at.spot.scope, lifted=at.lifted)
        if self._exhausted(at) or not node.can_fail or self._probe(at, node).found is False:
            return
        if not isinstance(schema, dict):
            self._leaf(at, "false", "", forest.false)
            return
        if id(schema) in at.path:
            # Deeper rounds of a recursion break for the reason that its first round is about to tell.
            self._deferred.add(id(schema))
            return
        before = self._reported
        self._keywords(at, schema)
        self._deferred.discard(id(schema))
        if self._reported == before and not self._deferred:
            self._leaf(at, "schema", "", node)

    def _exhausted(self, at: _At) -> bool:
        """Enough found, no steps left to find more with, or too deep."""
        steps = self.question.solver.budget.remaining
        return len(self.found) >= MAX_FINDINGS or steps <= 0 or len(at.path) > MAX_DEPTH

    def _keywords(self, at: _At, schema: dict[str, Any]) -> None:
        scope = self.lowering.references.enter(schema, at.spot.scope)
        hides = self.lowering.dialect.ref_hides_siblings
        for spot in self.theirs.followed(at.spot):
            self._walk(at.child(spot, at.partners, at.wrap))
        if hides and "$ref" in schema:
            return
        masks: list[Node] = list(at.masks)
        for keyword in MASKING:
            node = self._node_of(schema, (keyword,), scope, at.lifted)
            if node is not None:
                reported = self._leaf(replace(at, masks=tuple(masks)), keyword, f"/{keyword}", node)
                if reported:
                    masks.append(at.wrap(node))
        at = replace(at, masks=tuple(masks))
        self._required(at, schema)
        self._properties(at, schema, scope)
        self._items(at, schema, scope)
        for keywords in SCALAR:
            node = self._node_of(schema, keywords, scope, at.lifted)
            if node is not None:
                present = self._changed(at, schema, keywords)
                self._leaf(at, KIND.get(present, present), f"/{present}", node)
        for index, child in enumerate(schema.get("allOf", ())):
            self._walk(at.child(self.theirs.child(at.spot, f"/allOf/{index}", child), at.partners, at.wrap))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                self._union(at, keyword, schema[keyword], scope)
        self._unevaluated(at, schema, scope)

    def _node_of(self, schema: dict[str, Any], keywords: Iterable[str], scope: Any, lifted: bool) -> Node | None:
        """These keywords alone, as a node."""
        chosen = {keyword: schema[keyword] for keyword in keywords if keyword in schema}
        if not chosen:
            return None
        node = self.forest.conjunction(self.lowering.parts(chosen, scope, lifted))
        return node if node.can_fail else None

    def _changed(self, at: _At, schema: dict[str, Any], keywords: Iterable[str]) -> str:
        """Of keywords that are judged together the first that the sender spells otherwise; else the first."""
        present = [keyword for keyword in keywords if keyword in schema]
        said = [(keyword, self._partner(at, keyword)) for keyword in present] if len(present) > 1 else []
        other = (keyword for keyword, one in said if one is None or one.schema[keyword] != schema[keyword])
        return next(other, present[0])

    def _required(self, at: _At, schema: dict[str, Any]) -> None:
        declared = self.ours.properties(at.partners)
        for index, name in enumerate(schema.get("required", ())):
            node = self.forest.literal(Kind.REQUIRED, name)
            kind = "became-required" if name in declared else "required-added"
            old = nearest(declared.get(name, []), f"{at.spot.pointer}/properties/{escape(name)}")
            pointer = None if old is None else old.pointer
            self._leaf(at, kind, f"/required/{index}", node, name=name, partner_pointer=pointer)

    def _properties(self, at: _At, schema: dict[str, Any], scope: Any) -> None:
        forest = self.forest
        named: dict[str, Any] = schema.get("properties", {})
        patterns: dict[str, Any] = schema.get("patternProperties", {})
        for name, child in named.items():
            spot = self.theirs.child(at.spot, f"/properties/{escape(name)}", child)
            self._walk_property(at, name, spot)
        for pattern, child in patterns.items():
            spot = self.theirs.child(at.spot, f"/patternProperties/{escape(pattern)}", child)
            partners = [
                self.ours.child(partner, f"/patternProperties/{escape(pattern)}", children[pattern])
                for partner in at.partners
                if pattern in (children := partner.schema.get("patternProperties", {}))
            ]

            def wrap(node: Node, pattern: str = pattern) -> Node:
                return at.wrap(forest.props((), [(pattern, node)], forest.true, Mode.SILENT))

            self._walk(at.child(spot, self.ours.in_place(partners), wrap))
        additional = schema.get("additionalProperties", True)
        if additional is True or (additional is False and at.lifted):
            return
        told = self.ours.properties(at.partners)
        undeclared = [
            name for name in told if name not in named and not any(fits(pattern, name) for pattern in patterns)
        ]
        for name in undeclared:
            if additional is False:
                node = forest.props([(name, forest.false)], (), forest.true, Mode.SILENT)
                declared = told[name][0].pointer
                self._leaf(at, "field", "/additionalProperties", node, name=name, partner_pointer=declared)
            else:
                self._walk_property(at, name, self.theirs.child(at.spot, "/additionalProperties", additional))
        rest = self.lowering.lower(additional, scope, lifted=at.lifted)
        free = [(name, forest.true) for name in (*named, *undeclared)]
        others = forest.props(free, [(pattern, forest.true) for pattern in patterns], rest, Mode.SILENT)
        self._leaf(at, "additionalProperties", "/additionalProperties", others)

    def _walk_property(self, at: _At, name: str, spot: Spot) -> None:
        forest = self.forest

        def wrap(node: Node) -> Node:
            return at.wrap(forest.props([(name, node)], (), forest.true, Mode.SILENT))

        node = self.lowering.lower(spot.schema, spot.scope, lifted=at.lifted)
        declared = self.ours.property(at.partners, name)
        # What the sender is held to by the very same node cannot be refused: no need to ask.
        if self._holds_to(declared, node) or self._holds_to(partners := self.ours.in_place(declared), node):
            return
        part = at.position.field(name, at.masks) if at.wrap is _here else None
        self._walk(at.child(spot, partners, wrap, part=part))

    def _holds_to(self, partners: list[Spot], node: Node) -> bool:
        lower = self.question.sender_lowering.lower
        return any(one.sure and lower(one.schema, one.scope) is node for one in partners)

    def _items(self, at: _At, schema: dict[str, Any], scope: Any) -> None:
        forest = self.forest
        prefix, rest = self.lowering.item_schemas(schema)
        keyword = self.lowering.dialect.tuple_keyword
        for position, child in enumerate(prefix):
            self.question.solver.budget.remaining -= position // 4

            def wrap(node: Node, position: int = position) -> Node:
                return at.wrap(forest.items((*(forest.true,) * position, node), forest.true))

            partners = self.ours.in_place(self.ours.items(at.partners, position))
            spot = self.theirs.child(at.spot, f"/{keyword}/{position}", child)
            part = at.position.item(position, at.masks, alike=False) if at.wrap is _here else None
            self._walk(at.child(spot, partners, wrap, part=part))

        def wrap_rest(node: Node) -> Node:
            return at.wrap(forest.items((forest.true,) * len(prefix), node))

        place = "/additionalItems" if isinstance(schema.get("items"), list) else "/items"
        if rest is False:
            self._leaf(at, "items", place, forest.items((forest.true,) * len(prefix), forest.false))
        elif rest is not True:
            partners = self.ours.in_place(self.ours.items(at.partners, None))
            part = at.position.item(len(prefix), at.masks, alike=True) if at.wrap is _here else None
            self._walk(at.child(self.theirs.child(at.spot, place, rest), partners, wrap_rest, part=part))

    def _union(self, at: _At, keyword: str, schemas: list[Any], scope: Any) -> None:
        """Blame a branch where values were clearly meant for it; else the union as a whole."""
        forest = self.forest
        branches = Branches(self.theirs, schemas, scope, lifted=at.lifted)
        union = branches.union
        before = self._reported
        if self._probe(at, union).found is not False:
            heads = branches.heads(at.partners)
            partners = Partners(self.ours, at.partners)
            for index, (schema, head) in enumerate(zip(schemas, heads, strict=True)):
                if head is forest.true:
                    continue
                meant = replace(at, masks=(*at.masks, at.wrap(head)))
                if self._probe(meant, union).found:
                    spot = self.theirs.child(at.spot, f"/{keyword}/{index}", schema)
                    wrap = _beside(branches.beside(index, head), at.wrap, forest)
                    self._walk(meant.child(spot, partners.meant_for(head), wrap))
            # What was meant for no branch is the union's own loss. All branches' heads are masked for good.
            told = forest.disjunction(head for head in heads if head is not forest.true)
            elsewhere = at
            if self._reported > before:
                elsewhere = replace(at, masks=(*at.masks, at.wrap(forest.negate(told))))
            self._leaf(elsewhere, keyword, f"/{keyword}", union)
        if keyword == "oneOf":
            whole = forest.conjunction(self.lowering.parts({"oneOf": schemas}, scope, at.lifted))
            self._leaf(replace(at, masks=(*at.masks, at.wrap(union))), "overlap", "/oneOf", whole)

    def _unevaluated(self, at: _At, schema: dict[str, Any], scope: Any) -> None:
        if "unevaluatedProperties" not in schema and "unevaluatedItems" not in schema:
            return
        whole = self.lowering.lower(schema, at.spot.scope, lifted=at.lifted)
        bare = self.lowering.lower(schema, at.spot.scope, lifted=at.lifted, bare=True)
        keyword = "unevaluatedProperties" if "unevaluatedProperties" in schema else "unevaluatedItems"
        self._leaf(replace(at, masks=(*at.masks, at.wrap(bare))), "unevaluated", f"/{keyword}", whole)

    # One question, one finding.

    def _probe(self, at: _At, node: Node) -> Answer:
        return at.position.ask(at.wrap(node), at.masks)

    def _leaf(
        self,
        at: _At,
        kind: str,
        place: str,
        node: Node,
        *,
        name: str | None = None,
        partner_pointer: str | None = None,
    ) -> bool:
        """Report what this node refuses; True when something was reported."""
        if not node.can_fail:
            return False
        answer = self._probe(at, node)
        if answer.found is False:
            return False
        keyword = place.removeprefix("/").partition("/")[0]
        partner = self._partner(at, keyword)
        beside = nearest(at.partners, at.spot.pointer)
        ours = partner.pointer + f"/{keyword}" if partner else (beside.pointer if beside else None)
        theirs = at.spot.pointer + place
        ours_fragment = partner.schema[keyword] if partner and name is None else ABSENT
        theirs_fragment = name if name is not None else _fragment(at.spot.schema, keyword)
        side = self.question.side
        self._reported += 1
        # A definition that is used in many places is one cause.
        cause = kind, name, theirs, partner_pointer if name is not None else ours, answer.found, answer.reason
        if cause in self._causes:
            return True
        if answer.found:
            answer = answer._replace(value=at.position.payload(answer.value))
        finding = tell(
            self.question,
            answer,
            kind,
            ours=(partner_pointer if name is not None else ours, ours_fragment),
            theirs=(theirs, theirs_fragment),
            field=name or field_of(theirs if side is Side.INPUT else (ours or theirs)),
            named=name is not None,
        )
        self.found.append(finding)
        if finding.witness is not None or not answer.found:
            self._causes.add(cause)
        return True

    def _partner(self, at: _At, keyword: str) -> Spot | None:
        """The sender's spot that speaks of the keyword; rather one that does not say the very same of it."""
        spoken = [spot for spot in at.partners if keyword and spot.has(keyword)]
        said = _fragment(at.spot.schema, keyword)
        return nearest([spot for spot in spoken if spot.schema[keyword] != said] or spoken, at.spot.pointer)


def _beside(others: list[Node], wrap: Wrap, forest: Forest) -> Wrap:
    """Of a branch: its part is missed where no other branch takes the value either."""
    return wrap if not others else lambda node: wrap(forest.disjunction([*others, node]))


def _fragment(schema: Any, keyword: str) -> Any:
    if not keyword:
        return schema
    return schema[keyword] if isinstance(schema, dict) and keyword in schema else ABSENT
