"""Languages of strings as immutable expressions that can be derived: the algebra under patterns.

Expressions are interned, so equal ones are one object and unequal ones are *mostly* unequal languages: the
constructors know the cheap laws, a search over derivatives knows the rest. ``moves`` is the derivative by every
character at once: disjoint character sets, each with the language of what may follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, TypeAlias

from governance.core.schema.budget import Budget
from governance.core.schema.charset import ANY, NOTHING, CharSet
from governance.core.schema.expressions import Chars, Concat, Epsilon, Inter, Loop, Not, Regex, Union

_INTERNED_LIMIT: Final = 60_000
_Key: TypeAlias = tuple[object, ...]
_interned: dict[_Key, Regex] = {}


def recall(pattern: str) -> Regex | None:
    """What ``keep`` was given for the pattern, unless the table has overflowed since."""
    return _interned.get(("pattern", pattern))


def keep(pattern: str, compiled: Regex) -> None:
    """Keep a compiled pattern beside its parts, so that one limit holds for both."""
    _remember(("pattern", pattern), compiled)


def _remember(key: _Key, made: Regex) -> Regex:
    if len(_interned) > _INTERNED_LIMIT:
        _interned.clear()  # costs sharing, never an answer: nothing compares languages by identity alone
        _interned.update(_CONSTANTS)
    return _interned.setdefault(key, made)


def chars(members: CharSet) -> Regex:
    if not members:
        return NONE
    return _interned.get((Chars, members)) or _remember((Chars, members), Chars(members))


def concat(head: Regex, tail: Regex, budget: Budget | None = None) -> Regex:
    """``head`` then ``tail``; walking down a long head is charged to ``budget``."""
    if head is NONE or tail is NONE:
        return NONE
    if tail is EPSILON:
        return head
    heads: list[Regex] = []
    while isinstance(head, Concat):
        heads.append(head.head)
        head = head.tail
    if budget is not None and heads:
        budget.spend(len(heads))
    tail = _prepend(head, tail)
    for head in reversed(heads):
        tail = _prepend(head, tail)
    return tail


def _prepend(head: Regex, tail: Regex) -> Regex:
    if head is EPSILON:
        return tail
    first, rest = (tail.head, tail.tail) if isinstance(tail, Concat) else (tail, EPSILON)
    if isinstance(head, Loop) and isinstance(first, Loop):
        if first.body is head.body:
            high = None if head.high is None or first.high is None else head.high + first.high
            return _prepend(loop(head.body, head.low + first.low, high), rest)
        if head is ALL and first.high != first.low:  # anything may stand before, so the least count is enough
            return _prepend(ALL, concat(loop(first.body, first.low, first.low), rest))
    if tail is ALL and isinstance(head, Loop) and head.high != head.low:
        head = loop(head.body, head.low, head.low)
        return ALL if head is EPSILON else _prepend(head, ALL)
    if head is ALL and tail.nullable:
        return ALL
    if tail is ALL and head.nullable:
        return ALL
    return _interned.get((head, tail)) or _remember((head, tail), Concat(head, tail))


def loop(body: Regex, low: int, high: int | None) -> Regex:
    """``low`` to ``high`` times ``body`` (None: without end)."""
    if high == 0 or body is EPSILON:
        return EPSILON
    if body is NONE:
        return NONE if low else EPSILON
    if body.nullable:
        low = 0
    if low == high == 1:
        return body
    if isinstance(body, Loop) and _unbroken(body, low, high):
        top = None if high is None or body.high is None else high * body.high
        return loop(body.body, low * body.low, top)
    key = (Loop, body, low, high)
    return _interned.get(key) or _remember(key, Loop(body, low, high))


def _unbroken(inner: Loop, low: int, high: int | None) -> bool:
    """Do low..high rounds of the inner loop reach every count between the least and the most?"""
    if high == low:
        return True
    reach = None if inner.high is None else low * inner.high
    return (reach is None and low > 0) or (reach or 0) + 1 >= (low + 1) * inner.low


def union(*members: Regex) -> Regex:
    """The strings of any member; of none: ``NONE``."""
    if len(members) == 2 and members[0] is members[1]:
        return members[0]
    flat: dict[Regex, None] = {}
    empty = False
    stack = list(reversed(members))
    while stack:
        member = stack.pop()
        if isinstance(member, Union):
            stack.extend(reversed(member.members))
        elif member is EPSILON:
            empty = True
        elif isinstance(member, Loop) and member.high == 1:
            empty = True
            stack.append(member.body)
        elif member is not NONE:
            flat[member] = None
    merged: dict[Regex, None] = {}
    while len(flat) > 1 and merged.keys() != flat.keys():
        # What merged may merge again with what stood beside it: on to the end, so that equal is one object.
        merged, flat = flat, dict.fromkeys(_merged(flat))
    if ALL in flat or any(isinstance(member, Not) and member.inner in flat for member in flat):
        return ALL
    if not flat:
        return EPSILON if empty else NONE
    if len(flat) == 1:
        (result,) = flat
    else:
        key = (Union, frozenset(flat))
        result = _interned.get(key) or _remember(key, Union(tuple(sorted(flat, key=_rank))))
    return loop(result, 0, 1) if empty and not result.nullable else result


def _merged(members: Iterable[Regex]) -> Iterable[Regex]:
    """Members that differ in their first character set or first count alone become one."""
    sets: dict[Regex, CharSet] = {}
    loops: dict[tuple[Regex, Regex], list[Loop]] = {}
    rest: list[Regex] = []
    for member in members:
        head, tail = (member.head, member.tail) if isinstance(member, Concat) else (member, EPSILON)
        if isinstance(head, Chars):
            sets[tail] = sets[tail] | head.chars if tail in sets else head.chars
        elif isinstance(head, Loop):
            loops.setdefault((head.body, tail), []).append(head)
        else:
            rest.append(member)
    rest.extend(concat(chars(members), tail) for tail, members in sets.items())
    for (body, tail), counts in loops.items():
        counts.sort(key=lambda count: count.low)
        low, high = counts[0].low, counts[0].high
        for count in counts[1:]:
            if high is not None and count.low > high + 1:
                rest.append(concat(loop(body, low, high), tail))
                low, high = count.low, count.high
            elif high is not None:
                high = None if count.high is None else max(high, count.high)
        rest.append(concat(loop(body, low, high), tail))
    return rest


_FLATTENED: Final = (Inter, Chars, Epsilon)


def intersection(*members: Regex) -> Regex:
    """The strings of every member; of none: ``ALL``."""
    if len(members) == 2 and not any(isinstance(member, _FLATTENED) for member in members):
        if members[0] is ALL or members[0] is members[1]:
            return members[1]
        return members[0] if members[1] is ALL else _joined(members)
    flat: dict[Regex, None] = {}
    letters: CharSet | None = None
    stack = list(reversed(members))
    while stack:
        member = stack.pop()
        if isinstance(member, Inter):
            stack.extend(reversed(member.members))
        elif isinstance(member, Chars):
            letters = member.chars if letters is None else letters & member.chars
        elif member is not ALL:
            flat[member] = None
    if letters is not None:
        flat[chars(letters)] = None
    if not flat:
        return ALL
    if NONE in flat:
        return NONE
    if len(flat) == 1:
        (single,) = flat
        return single
    if EPSILON in flat:
        return EPSILON if all(member.nullable for member in flat) else NONE
    return _joined(flat)


def _joined(members: Collection[Regex]) -> Regex:
    for member in members:
        if isinstance(member, Not) and _covers(member.inner, members):
            return NONE
    key = (Inter, frozenset(members))
    found = _interned.get(key)
    if found is not None:
        return found
    made = Inter(tuple(sorted(members, key=_negative_last)))
    return NONE if made.longest is not None and made.shortest > made.longest else _remember(key, made)


def _covers(ways: Regex, members: Collection[Regex]) -> bool:
    """Is one of the members among the ways of a union, so that nothing of it lies outside?"""
    if isinstance(ways, Union):
        return any(member in ways.members for member in members)
    return ways in members


def alternatives(regex: Regex) -> tuple[Regex, ...]:
    """Expressions that together hold the same strings: a union, also one inside an intersection, taken apart."""
    if isinstance(regex, Union):
        return regex.members
    if isinstance(regex, Loop) and regex.high == 1:
        return (EPSILON, *alternatives(regex.body))
    if isinstance(regex, Inter):
        widest = max(regex.members, key=_width)
        if _width(widest) > 1:
            rest = [member for member in regex.members if member is not widest]
            return tuple(intersection(way, *rest) for way in alternatives(widest))
    return (regex,)


def _width(regex: Regex) -> int:
    if isinstance(regex, Union):
        return len(regex.members)
    return 1 + _width(regex.body) if isinstance(regex, Loop) and regex.high == 1 else 1


def complement(inner: Regex) -> Regex:
    """Every string (of scalar values) that ``inner`` does not hold."""
    if isinstance(inner, Not):
        return inner.inner
    if inner is NONE:
        return ALL
    if inner is ALL:
        return NONE
    return _interned.get((Not, inner)) or _remember((Not, inner), Not(inner))


def _rank(regex: Regex) -> int:
    return regex.rank


def _negative_last(regex: Regex) -> tuple[bool, int]:
    return isinstance(regex, Not), regex.rank


EPSILON: Final[Regex] = Epsilon(nullable=True, shortest=0, longest=0, nesting=1, shape=(0,))
NONE: Final[Regex] = Chars(NOTHING)
SIGMA: Final[Regex] = Chars(ANY)
ALL: Final[Regex] = Loop(SIGMA, 0, None)
_CONSTANTS: Final[dict[_Key, Regex]] = {(Chars, ANY): SIGMA, (Loop, SIGMA, 0, None): ALL}
_interned.update(_CONSTANTS)
