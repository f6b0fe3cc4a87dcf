"""Where a reference leads, inside one document and the well-known metaschemas; nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from jsonschema_specifications import REGISTRY
from referencing import Registry
from referencing.exceptions import Unresolvable

from governance.core.schema.budget import READING_STEPS, Budget
from governance.core.schema.dialects import Dialect

Scope: TypeAlias = Any
"""A ``referencing`` resolver, or None in documents without identifiers (most of them: the fast path)."""

_STEPS_A_REFERENCE: Final = 2
_STEPS_A_RESOURCE: Final = 25
_CHARACTERS_A_STEP: Final = 16
_VALUES_A_STEP: Final = 8
_IDENTIFIERS = {"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"}


def reference_keywords(draft: int) -> tuple[str, ...]:
    """The keywords that refer to other schemas in a dialect."""
    if draft == 2019:
        return ("$ref", "$recursiveRef")
    return ("$ref", "$dynamicRef") if draft >= 2020 else ("$ref",)


class UnresolvedReference(Exception):
    """The reference leads nowhere in this document."""


class DynamicReference(Exception):
    """A dynamic reference whose target depends on the path that led to it."""


class References:
    """Resolves the references of one document. Draws on ``budget``; raises BudgetExceeded where it does not last."""

    def __init__(self, document: Any, dialect: Dialect, budget: Budget | None = None) -> None:
        self.document = document
        self.dialect = dialect
        self.budget = budget or Budget(READING_STEPS)
        self._counted: dict[tuple[str, Any], int] = {}
        self.identified = _mentions(document, _IDENTIFIERS, self.budget)
        self.root: Scope = None
        if self.identified:
            resource = dialect.specification.create_resource(document)
            base = resource.id() or ""
            registry: Registry[Any] = REGISTRY.with_resource(base, resource)
            self.root = registry.crawl().resolver(base)

    def enter(self, schema: Any, scope: Scope) -> Scope:
        """The scope inside ``schema``, which may open a resource of its own by ``$id``."""
        if scope is None or not isinstance(schema, dict) or schema is self.document:
            return scope
        identifier = schema.get(self.dialect.id_keyword)
        if not isinstance(identifier, str) or (self.dialect.ref_hides_siblings and "$ref" in schema):
            return scope
        self.budget.spend(_STEPS_A_RESOURCE)
        return scope.in_subresource(self.dialect.specification.create_resource(schema))

    def follow(self, reference: str, scope: Scope) -> tuple[Any, Scope]:
        """The schema that ``reference`` names, and the scope there.

        Raises:
            UnresolvedReference: there is none.
        """
        self.budget.spend(_STEPS_A_REFERENCE + len(reference) // _CHARACTERS_A_STEP)
        if scope is None and (not reference or reference.startswith("#")):
            return _by_pointer(self.document, reference.removeprefix("#")), None
        self.budget.spend(_STEPS_A_RESOURCE)
        resolver = scope if scope is not None else REGISTRY.resolver()
        try:
            resolved = resolver.lookup(reference)
        except (Unresolvable, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise UnresolvedReference(reference) from error
        if self._hides_its_name(resolved.contents, reference):
            raise UnresolvedReference(reference)
        return resolved.contents, resolved.resolver

    def _hides_its_name(self, target: Any, reference: str) -> bool:
        """Does the target call itself so beside a ``$ref``, where its dialect overlooks it?"""
        return (
            self.dialect.ref_hides_siblings
            and isinstance(target, dict)
            and target is not self.document
            and "$ref" in target
            and isinstance(target.get(self.dialect.id_keyword), str)
            and not reference.partition("#")[2]
        )

    def follow_dynamic(self, reference: str, scope: Scope) -> tuple[Any, Scope]:
        """``$dynamicRef``: exact where at most one ``$dynamicAnchor`` of the name exists.

        Raises:
            UnresolvedReference: it leads nowhere.
            DynamicReference: several anchors of that name exist, so the target depends on the caller.
        """
        anchor = reference.rpartition("#")[2]
        found = self.follow(reference, scope)
        if not anchor.startswith("/") and self._count("$dynamicAnchor", anchor) > 1:
            raise DynamicReference(reference)
        return found

    def follow_recursive(self, reference: str, scope: Scope) -> tuple[Any, Scope]:
        """``$recursiveRef``: exact where at most one resource sets ``$recursiveAnchor``."""
        if self._count("$recursiveAnchor", True) > 1:
            raise DynamicReference(reference)
        if scope is not None and self._count(self.dialect.id_keyword, None) > 1:
            raise DynamicReference(reference)
        return self.follow(reference, scope)

    def _count(self, key: str, value: Any) -> int:
        """How often the keyword has the value (None: any) in the document."""
        known = self._counted.get((key, value))
        if known is None:
            known = self._counted[key, value] = _count(self.document, key, value, self.budget)
        return known


def _by_pointer(document: Any, pointer: str) -> Any:
    if pointer and not pointer.startswith("/"):
        raise UnresolvedReference("#" + pointer)
    node = document
    for raw in pointer.split("/")[1:]:
        token = _percent_decoded(raw).replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and token in node:
            node = node[token]
        elif isinstance(node, list) and token.isascii() and token.isdigit() and int(token) < len(node):
            node = node[int(token)]
        else:
            raise UnresolvedReference("#" + pointer)
    if not isinstance(node, dict | bool):
        raise UnresolvedReference("#" + pointer)
    return node


def _percent_decoded(token: str) -> str:
    """``%25`` and the like in a URI fragment, as UTF-8."""
    if "%" not in token:
        return token
    raw, position = bytearray(), 0
    data = token.encode()
    while position < len(data):
        if data[position] == 0x25 and len(data) >= position + 3:
            try:
                raw.append(int(data[position + 1 : position + 3], 16))
            except ValueError:
                raw.append(data[position])
            else:
                position += 3
                continue
        else:
            raw.append(data[position])
        position += 1
    return raw.decode(errors="replace")


def _mentions(document: Any, keys: set[str], budget: Budget) -> bool:
    stack = [document] if isinstance(document, dict | list) else []
    while stack:
        node = stack.pop()
        budget.spend(1 + len(node) // _VALUES_A_STEP)
        children: Iterable[Any] = node
        if isinstance(node, dict):
            # A property may be *called* id; only a string or a true there can identify a schema.
            if not keys.isdisjoint(node) and any(
                isinstance(node[key], str) or node[key] is True for key in keys & node.keys()
            ):
                return True
            children = node.values()
        stack.extend([child for child in children if isinstance(child, dict | list)])
    return False


def _count(document: Any, key: str, value: Any, budget: Budget) -> int:
    count, stack = 0, [document]
    while stack:
        node = stack.pop()
        budget.spend()
        if isinstance(node, dict):
            found = node.get(key)
            count += found is not None and (value is None or found == value)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return count
