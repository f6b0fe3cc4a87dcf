"""Does a value satisfy a node? The plain evaluation that guides the search: it splits only what a guess violates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from governance.core.schema import kinds as n
from governance.core.schema.budget import Budget
from governance.core.schema.exact import NumberTooLarge, exact, scalar_key
from governance.core.schema.kinds import LITERAL_TYPES, Kind
from governance.core.schema.nodes import Forest, Node
from governance.core.schema.regex import UnsupportedPattern, compile_pattern, matches

Held = bool | None


def type_of(value: Any) -> int:
    """The type mask of a JSON value."""
    if value is None:
        return n.NULL
    if isinstance(value, bool):
        return n.BOOLEAN
    if isinstance(value, str):
        return n.STRING
    if isinstance(value, list):
        return n.ARRAY
    return n.OBJECT if isinstance(value, dict) else n.NUMBER


class Holding:
    """Evaluates the nodes of one forest. None means that it cannot be said."""

    def __init__(self, forest: Forest, budget: Budget) -> None:
        self.forest = forest
        self.budget = budget

    def holds(self, node: Node, value: Any) -> Held:
        """Does ``value`` satisfy ``node``?"""
        self.budget.spend()
        type_mask = type_of(value)
        if not node.can_fail & type_mask:
            return True
        if not node.can_hold & type_mask:
            return False
        kind, args = node.kind, node.args
        if kind in LITERAL_TYPES:
            try:
                return self._literal(kind, args, value)
            except (NumberTooLarge, UnsupportedPattern):
                return None
        if kind is Kind.ENUM:
            return self._constant(args[0], value)
        if kind is Kind.AND:
            return _all(self.holds(child, value) for child in args)
        if kind is Kind.OR:
            return _any(self.holds(child, value) for child in args)
        if kind is Kind.NOT:
            return _not(self.holds(args[0], value))
        if kind is Kind.ONEOF:
            return self._counted(args[0], value)
        return self.holds(self.forest.targets[args[0]], value) if kind is Kind.REF else None

    def _constant(self, keys: frozenset[Any], value: Any) -> Held:
        try:
            return not isinstance(value, dict | list) and scalar_key(value) in keys
        except NumberTooLarge:
            return None

    def _counted(self, branches: tuple[Node, ...], value: Any) -> Held:
        passed = 0
        for branch in branches:
            held = self.holds(branch, value)
            if held is None:
                return None
            passed += held
        return passed == 1

    def _literal(self, kind: Kind, args: tuple[Any, ...], value: Any) -> Held:
        type_mask = LITERAL_TYPES[kind]
        if type_mask == n.NUMBER:
            return _number(kind, args, value)
        if type_mask == n.STRING:
            if kind is Kind.PATTERN:
                return bool(matches(compile_pattern(args[0]), value, self.budget))
            if kind is Kind.FORMAT:
                return None
            return _within(len(value), args[0], at_least=kind is Kind.MINLENGTH)
        return self._array(kind, args, value) if type_mask == n.ARRAY else self._object(kind, args, value)

    def _array(self, kind: Kind, args: tuple[Any, ...], value: list[Any]) -> Held:
        if kind is Kind.ITEMS:
            prefix, rest = args
            return _all(
                self.holds(prefix[position] if position < len(prefix) else rest, item)
                for position, item in enumerate(value)
            )
        if kind is Kind.CONTAINS:
            held = [self.holds(args[0], item) for item in value]
            if None in held:
                return None
            count = held.count(True)
            return bool(count >= args[1] and (args[2] is None or count <= args[2]))
        if kind is Kind.UNIQUE:
            return None if len(value) > 1 else True
        return _within(len(value), args[0], at_least=kind is Kind.MINITEMS)

    def _object(self, kind: Kind, args: tuple[Any, ...], value: dict[str, Any]) -> Held:
        if kind is Kind.REQUIRED:
            return args[0] in value
        if kind is Kind.NAMES:
            return _all(self.holds(args[0], name) for name in value)
        if kind is not Kind.PROPS:
            return _within(len(value), args[0], at_least=kind is Kind.MINPROPS)
        names, patterns, rest, _ = args
        declared = dict(names)
        compiled = [(compile_pattern(pattern), child) for pattern, child in patterns]
        for name, member in value.items():
            children = [child for regex, child in compiled if matches(regex, name, self.budget)]
            if name in declared:
                children.append(declared[name])
            held = _all(self.holds(child, member) for child in children or [rest])
            if held is not True:
                return held
        return True


def _within(count: int, bound: int, *, at_least: bool) -> bool:
    return count >= bound if at_least else count <= bound


def _number(kind: Kind, args: tuple[Any, ...], value: Any) -> bool:
    number = exact(value)
    if kind is Kind.MULTIPLE:
        return bool((number / args[0]).denominator == 1)
    bound, exclusive = args
    if number == bound:
        return not exclusive
    return bool(number > bound) if kind is Kind.MINIMUM else bool(number < bound)


def _not(held: Held) -> Held:
    return None if held is None else not held


def _all(results: Iterable[Held]) -> Held:
    unsaid = False
    for held in results:
        if held is False:
            return False
        unsaid = unsaid or held is None
    return None if unsaid else True


def _any(results: Iterable[Held]) -> Held:
    return _not(_all(_not(held) for held in results))
