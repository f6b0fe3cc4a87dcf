"""From a schema of any dialect to nodes. Each keyword is lowered once, here; annotations drop out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from governance.core.schema import kinds as n
from governance.core.schema.assertions import assertions
from governance.core.schema.dialects import Dialect, dialect_of
from governance.core.schema.exact import NumberTooLarge, whole
from governance.core.schema.kinds import Kind, Mode
from governance.core.schema.nodes import Forest, Node
from governance.core.schema.references import DynamicReference, References, Scope, UnresolvedReference
from governance.core.schema.subschemas import subschemas

_OF_ARRAYS: Final = frozenset(("items", "prefixItems", "additionalItems", "uniqueItems", "contains"))
_OF_OBJECTS: Final = frozenset(("properties", "patternProperties", "additionalProperties", "required", "propertyNames"))
_IN_PLACE: Final = frozenset((
    "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if",
    "dependentRequired", "dependentSchemas", "dependencies",
))  # fmt: skip
MAX_DEPTH: Final = 400
"""Schemas within schemas, references followed."""
_STEPS_A_SCHEMA: Final = 8
_PLACES_A_STEP: Final = 2


class Lowering:
    """Lowers the subschemas of one document into a shared forest, on whose budget it draws.

    ``lifted``: the open reading of a receiver, in which a ``false`` of additional or unevaluated properties
    is no constraint (in positive positions). ``assert_formats``: ``format`` constrains.
    """

    def __init__(
        self,
        forest: Forest,
        document: Any,
        *,
        lifted: bool = False,
        assert_formats: bool = False,
        dialect: Dialect | None = None,
    ) -> None:
        found = dialect or dialect_of(document)
        assert found is not None, "the caller checked the schema for faults"
        self.forest = forest
        self.document = document
        self.dialect = found
        self.lifted = lifted
        self.assert_formats = assert_formats
        self.references = References(document, found, forest.budget)
        self._done: dict[tuple[int, bool, bool], Node] = {}
        self._alone: dict[int, dict[str, Any]] = {}
        self._under_way: set[tuple[int, bool, bool]] = set()
        self._recursive: set[tuple[int, int, bool, bool]] = set()

    def lower(self, schema: Any = None, scope: Scope = None, *, lifted: bool | None = None, bare: bool = False) -> Node:
        """The node of ``schema`` (the document by default) as seen from ``scope``.

        ``bare`` leaves out the schema's own ``unevaluated*`` keywords, for the caller who handles them.
        """
        if schema is None:
            schema, scope = self.document, self.references.root
        if lifted is None:
            lifted = self.lifted
        if schema is True:
            return self.forest.true
        if schema is False:
            return self.forest.false
        key = (id(schema), lifted, bare)
        if (done := self._done.get(key)) is not None:
            return done
        if len(self._under_way) > MAX_DEPTH or self.forest.is_full():
            reason = "budget" if self.forest.is_full() else "depth"
            return self.forest.opaque(reason, (id(self), *key))
        reference_key = (id(self), *key)
        if key in self._under_way:
            self._recursive.add(reference_key)
            return self.forest.ref(reference_key)
        self.forest.budget.spend(_STEPS_A_SCHEMA)
        self._under_way.add(key)
        try:
            node = self._schema(schema, self.references.enter(schema, scope), lifted, bare)
        finally:
            self._under_way.discard(key)
        self._done[key] = node
        self.forest.targets[reference_key] = node
        if not self._under_way:
            self._open_loops()
        return node

    def _open_loops(self) -> None:
        """A reference that leads back to itself without passing a child position means nothing: make it opaque."""
        for key in [key for key in self._recursive if key in self.forest.targets]:
            self._recursive.discard(key)
            stack, seen = [self.forest.targets[key]], set()
            while stack:
                node = stack.pop()
                self.forest.budget.spend()
                if node.kind is Kind.REF and node.args[0] == key:
                    self.forest.targets[key] = self.forest.opaque("reference-loop", key)
                    break
                if node.id in seen:
                    continue
                seen.add(node.id)
                if node.kind is Kind.REF:
                    stack.append(self.forest.targets[node.args[0]])
                elif node.kind in (Kind.AND, Kind.OR, Kind.NOT):
                    stack.extend(node.args)
                elif node.kind is Kind.ONEOF:
                    stack.extend(node.args[0])

    def _schema(self, schema: dict[str, Any], scope: Scope, lifted: bool, bare: bool) -> Node:
        outer = self.dialect
        embedded = dialect_of(schema, outer)
        if embedded is not None and embedded is not outer and schema is not self.document:
            self.dialect = embedded
        try:
            if "$ref" in schema and self.dialect.ref_hides_siblings:
                return self._reference(schema["$ref"], scope, lifted, self.references.follow)
            if not bare and (unevaluated := self._unevaluated_keywords(schema, lifted)):
                from governance.core.schema.evaluation import lower_unevaluated

                return lower_unevaluated(self, schema, scope, lifted, unevaluated)
            return self.forest.conjunction(self.parts(schema, scope, lifted))
        finally:
            self.dialect = outer

    def said(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema without what its reference hides; the same object whenever it is asked for."""
        if not self.dialect.ref_hides_siblings or "$ref" not in schema or len(schema) == 1:
            return schema
        return self._alone.setdefault(id(schema), {"$ref": schema["$ref"]})

    def _unevaluated_keywords(self, schema: dict[str, Any], lifted: bool) -> tuple[str, ...]:
        if self.dialect.draft < 2019:
            return ()
        keywords = []
        properties = schema.get("unevaluatedProperties", True)
        if properties is not True and not (lifted and properties is False):
            keywords.append("unevaluatedProperties")
        if schema.get("unevaluatedItems", True) is not True:
            keywords.append("unevaluatedItems")
        return tuple(keywords)

    def parts(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        """The conjuncts of one schema object, without its ``unevaluated*``."""
        parts = self.own_parts(schema, scope, lifted)
        if not _IN_PLACE.isdisjoint(schema):
            parts.extend(self._references_in_place(schema, scope, lifted))
            parts.extend(self._combinators(schema, scope, lifted))
        return parts

    def own_parts(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        """The conjuncts that apply no other schema in place."""
        parts = assertions(self.forest, schema, self.dialect, assert_formats=self.assert_formats)
        if not _OF_ARRAYS.isdisjoint(schema):
            parts.extend(self._arrays(schema, scope, lifted))
        if not _OF_OBJECTS.isdisjoint(schema):
            parts.extend(self._objects(schema, scope, lifted))
        return parts

    def _arrays(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        forest, parts = self.forest, []
        prefix, rest = self.item_schemas(schema)
        forest.budget.spend(len(prefix) // _PLACES_A_STEP)
        parts.append(
            forest.items(
                tuple(self.lower(child, scope, lifted=lifted) for child in prefix),
                self.lower(rest, scope, lifted=lifted),
            )
        )
        if schema.get("uniqueItems") is True:
            parts.append(forest.literal(Kind.UNIQUE))
        if "contains" in schema and self.dialect.draft >= 6:
            try:
                minimum, maximum = self._contains_counts(schema)
            except NumberTooLarge:
                return [*parts, forest.opaque("number-too-large", (id(self), id(schema), "contains"))]
            # An upper count asks the schema negatively, where nothing is lifted.
            node = self.lower(schema["contains"], scope, lifted=lifted and maximum is None)
            parts.append(forest.contains(node, minimum, maximum))
        return parts

    def _contains_counts(self, schema: dict[str, Any]) -> tuple[int, int | None]:
        if self.dialect.draft < 2019:
            return 1, None
        maximum = schema.get("maxContains")
        return whole(schema.get("minContains", 1)), None if maximum is None else whole(maximum)

    def item_schemas(self, schema: dict[str, Any]) -> tuple[list[Any], Any]:
        """Positional schemas and the one for the rest, in whichever spelling the dialect has."""
        items = schema.get("items", True)
        if self.dialect.draft >= 2020:
            return list(schema.get("prefixItems", [])), items
        if isinstance(items, list):
            return items, schema.get("additionalItems", True)
        return [], items

    def _objects(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        forest, parts = self.forest, []
        additional = schema.get("additionalProperties", True)
        if lifted and additional is False:
            additional = True
        structures = "properties" in schema or "patternProperties" in schema
        rest = self.lower(additional, scope, lifted=lifted)
        forest.budget.spend((len(schema.get("properties", ())) + len(schema.get("required", ()))) // _PLACES_A_STEP)
        if structures or rest is not forest.true:
            parts.append(
                forest.props(
                    [(k, self.lower(v, scope, lifted=lifted)) for k, v in schema.get("properties", {}).items()],
                    [(k, self.lower(v, scope, lifted=lifted)) for k, v in schema.get("patternProperties", {}).items()],
                    rest,
                    Mode.STRUCTURES if structures else Mode.DECLARES,
                )
            )
        parts.extend(forest.literal(Kind.REQUIRED, name) for name in schema.get("required", ()))
        if "propertyNames" in schema and self.dialect.draft >= 6:
            names = self.lower(schema["propertyNames"], scope, lifted=False)
            if names.can_fail & n.STRING:
                parts.append(forest.literal(Kind.NAMES, names))
        return parts

    def _references_in_place(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        references = self.references
        followers: tuple[tuple[str, int, int, Callable[[str, Scope], tuple[Any, Scope]]], ...] = (
            ("$ref", 4, 9999, references.follow),
            ("$dynamicRef", 2020, 9999, references.follow_dynamic),
            ("$recursiveRef", 2019, 2019, references.follow_recursive),
        )
        return [
            self._reference(schema[keyword], scope, lifted, follow)
            for keyword, since, until, follow in followers
            if keyword in schema and since <= self.dialect.draft <= until
        ]

    def _reference(
        self, reference: Any, scope: Scope, lifted: bool, follow: Callable[[str, Scope], tuple[Any, Scope]]
    ) -> Node:
        try:
            target, target_scope = follow(reference, scope)
        except DynamicReference:
            return self.forest.opaque("dynamic-reference", (id(self), reference))
        except UnresolvedReference:
            return self.forest.opaque("unresolved-reference", (id(self), reference))
        return self.lower(target, target_scope, lifted=lifted)

    def _combinators(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        forest, parts = self.forest, []
        for child in schema.get("allOf", ()):
            parts.append(self.lower(child, scope, lifted=lifted))
        if "anyOf" in schema:
            parts.append(forest.disjunction(self.lower(child, scope, lifted=lifted) for child in schema["anyOf"]))
        if "oneOf" in schema:
            parts.append(self._one_of(schema["oneOf"], scope, lifted))
        if "not" in schema:
            parts.append(forest.negate(self.lower(schema["not"], scope, lifted=False)))
        if "if" in schema and self.dialect.draft >= 7:
            parts.append(self._conditional(schema, scope, lifted))
        parts.extend(self.dependent_parts(schema, scope, lifted))
        return parts

    def _one_of(self, branches: list[Any], scope: Scope, lifted: bool) -> Node:
        if lifted and any(self._lifts_anything(branch, scope) for branch in branches):
            return self.forest.disjunction(self.lower(branch, scope, lifted=True) for branch in branches)
        return self.forest.exactly_one([self.lower(branch, scope, lifted=False) for branch in branches])

    def _conditional(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> Node:
        forest = self.forest
        condition = self.lower(schema["if"], scope, lifted=False)
        then = self.lower(schema.get("then", True), scope, lifted=lifted)
        otherwise = self.lower(schema.get("else", True), scope, lifted=lifted)
        if then is forest.true and otherwise is forest.true and not condition.tells:
            return forest.true
        return forest.disjunction(
            [
                forest.conjunction([condition, then]),
                forest.conjunction([forest.negate(condition), otherwise]),
            ]
        )

    def dependent_parts(self, schema: dict[str, Any], scope: Scope, lifted: bool) -> list[Node]:
        """``dependentRequired``, ``dependentSchemas`` and the older ``dependencies`` that was both."""
        forest = self.forest
        parts: list[Node] = []
        lists, schemas = self.dependencies(schema)
        told: set[str] = set()
        for name, names in lists:
            told |= {name, *names}
            lacks = forest.negate(forest.literal(Kind.REQUIRED, name))
            parts.extend(forest.disjunction([lacks, forest.literal(Kind.REQUIRED, needed)]) for needed in names)
        if told:
            parts.append(forest.props([(name, forest.true) for name in told], (), forest.true, Mode.DECLARES))
        for name, child in schemas:
            # Said with the trigger present: where it is absent the schema does not apply and declares nothing.
            absent = forest.lacking(name)
            applied = forest.conjunction([forest.negate(absent), self.lower(child, scope, lifted=lifted)])
            parts.append(forest.disjunction([absent, applied]))
        return parts

    def dependencies(self, schema: dict[str, Any]) -> tuple[list[tuple[str, list[str]]], list[tuple[str, Any]]]:
        """(trigger, required names) pairs and (trigger, schema) pairs, from all three keywords."""
        lists: list[tuple[str, list[str]]] = []
        schemas: list[tuple[str, Any]] = []
        # The independent validator honours ``dependencies`` in every dialect, as the specification allows.
        for name, dependency in schema.get("dependencies", {}).items():
            if isinstance(dependency, list):
                lists.append((name, dependency))
            else:
                schemas.append((name, dependency))
        if self.dialect.draft >= 2019:
            lists.extend(schema.get("dependentRequired", {}).items())
            schemas.extend(schema.get("dependentSchemas", {}).items())
        return lists, schemas

    def _lifts_anything(self, schema: Any, scope: Scope) -> bool:
        """Would the open reading change this schema? Over-approximates through every reachable subschema."""
        stack, seen = [(schema, scope)], set()
        while stack:
            node, at = stack.pop()
            self.forest.budget.spend(_STEPS_A_SCHEMA)
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            if node.get("additionalProperties") is False or node.get("unevaluatedProperties") is False:
                return True
            inner = self.references.enter(node, at)
            for reference in (node.get("$ref"), node.get("$dynamicRef"), node.get("$recursiveRef")):
                if isinstance(reference, str):
                    try:
                        stack.append(self.references.follow(reference, inner))
                    except UnresolvedReference:
                        continue
            stack.extend((child, inner) for _, child in subschemas(node, self.dialect) if child is not node.get("not"))
        return False
