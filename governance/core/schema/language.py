"""Languages of strings as immutable expressions that can be derived: the algebra under patterns.

Expressions are interned, so equal ones are one object and unequal ones are *mostly* unequal languages: the
constructors know the cheap laws, a search over derivatives knows the rest. ``moves`` is the derivative by every
character at once: disjoint character sets, each with the language of what may follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.charset import ANY, NOTHING, CharSet

MAX_NESTING: Final = 120
"""How deep an expression may nest before it is given up; derivation recurses that deep."""
_INTERNED_LIMIT: Final = 60_000


class Regex:
    """A language. ``nullable``: holds the empty string; ``shortest`` and ``longest`` bound the lengths of its
    strings from outside (None: no bound)."""

    __slots__ = ("_cost", "_moves", "longest", "nesting", "nullable", "serial", "shortest")

    def __init__(self, *, nullable: bool, shortest: int, longest: int | None, nesting: int) -> None:
        if nesting > MAX_NESTING:
            raise BudgetExceeded("the expression nests too deep")
        self.nullable = nullable
        self.shortest = shortest
        self.longest = longest
        self.nesting = nesting
        self.serial = _next_serial()
        self._moves: Moves | None = None
        self._cost = 0


Moves: TypeAlias = tuple[tuple[CharSet, Regex], ...]


class Epsilon(Regex):
    """The empty string alone."""

    __slots__ = ()


class Chars(Regex):
    """The strings of one character out of a set."""

    __slots__ = ("chars",)

    def __init__(self, chars: CharSet) -> None:
        super().__init__(nullable=False, shortest=1, longest=1, nesting=1)
        self.chars = chars


class Concat(Regex):
    """``head`` then ``tail``; the head is never itself a concatenation."""

    __slots__ = ("head", "tail")

    def __init__(self, head: Regex, tail: Regex) -> None:
        bounded = head.longest is not None and tail.longest is not None
        super().__init__(
            nullable=head.nullable and tail.nullable,
            shortest=head.shortest + tail.shortest,
            longest=(head.longest or 0) + (tail.longest or 0) if bounded else None,
            nesting=max(head.nesting + 1, tail.nesting if head.nullable else 0),
        )
        self.head = head
        self.tail = tail


class Loop(Regex):
    """``low`` to ``high`` times ``body`` (None: without end). Counts stay numbers, so {0,100000} is one node."""

    __slots__ = ("body", "high", "low")

    def __init__(self, body: Regex, low: int, high: int | None) -> None:
        super().__init__(
            nullable=low == 0 or body.nullable,
            shortest=low * body.shortest,
            longest=None if high is None or body.longest is None else high * body.longest,
            nesting=body.nesting + 1,
        )
        self.body = body
        self.low = low
        self.high = high


class Union(Regex):
    __slots__ = ("members",)

    def __init__(self, members: tuple[Regex, ...]) -> None:
        lengths = [member.longest for member in members if member.longest is not None]
        super().__init__(
            nullable=any(member.nullable for member in members),
            shortest=min(member.shortest for member in members),
            longest=max(lengths) if len(lengths) == len(members) else None,
            nesting=1 + max(member.nesting for member in members),
        )
        self.members = members


class Inter(Regex):
    __slots__ = ("members",)

    def __init__(self, members: tuple[Regex, ...]) -> None:
        super().__init__(
            nullable=all(member.nullable for member in members),
            shortest=max(member.shortest for member in members),
            longest=min((m.longest for m in members if m.longest is not None), default=None),
            nesting=1 + max(member.nesting for member in members),
        )
        self.members = members


class Not(Regex):
    __slots__ = ("inner",)

    def __init__(self, inner: Regex) -> None:
        super().__init__(
            nullable=not inner.nullable,
            shortest=1 if inner.nullable else 0,
            longest=None,
            nesting=inner.nesting + 1,
        )
        self.inner = inner


class Knot(Regex):
    """A language defined by an equation in itself: ``X = after | … X …`` with every X behind a character."""

    __slots__ = ("definition",)

    def __init__(self, after: Regex) -> None:
        super().__init__(nullable=after.nullable, shortest=0, longest=None, nesting=after.nesting + 2)
        self.definition: Regex = after

    def tie(self, definition: Regex) -> None:
        self.definition = definition
        self.nesting = max(self.nesting, definition.nesting + 1)


_Key: TypeAlias = tuple[object, ...]
_interned: dict[_Key, Regex] = {}
_serials = iter(range(1 << 62))


def _next_serial() -> int:
    return next(_serials)


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
    if isinstance(head, Loop):
        after = tail.head if isinstance(tail, Concat) else tail
        if isinstance(after, Loop) and after.body is head.body:
            high = None if head.high is None or after.high is None else head.high + after.high
            merged = loop(head.body, head.low + after.low, high)
            return _prepend(merged, tail.tail) if isinstance(tail, Concat) else merged
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
    if ALL in flat or any(isinstance(member, Not) and member.inner in flat for member in flat):
        return ALL
    if len(flat) > 1:
        flat = dict.fromkeys(_merged(flat))
    if not flat:
        return EPSILON if empty else NONE
    if len(flat) == 1:
        (result,) = flat
    else:
        key = (Union, frozenset(flat))
        result = _interned.get(key) or _remember(key, Union(tuple(sorted(flat, key=_serial))))
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


def intersection(*members: Regex) -> Regex:
    """The strings of every member; of none: ``ALL``."""
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
    if NONE in flat or any(isinstance(member, Not) and member.inner in flat for member in flat):
        return NONE
    if len(flat) == 1:
        (single,) = flat
        return single
    if EPSILON in flat:
        return EPSILON if all(member.nullable for member in flat) else NONE
    key = (Inter, frozenset(flat))
    found = _interned.get(key)
    if found is not None:
        return found
    made = Inter(tuple(sorted(flat, key=_negative_last)))
    return NONE if made.longest is not None and made.shortest > made.longest else _remember(key, made)


def complement(inner: Regex) -> Regex:
    """Every string (of scalar values) that ``inner`` does not hold."""
    if isinstance(inner, Not):
        return inner.inner
    if inner is NONE:
        return ALL
    if inner is ALL:
        return NONE
    return _interned.get((Not, inner)) or _remember((Not, inner), Not(inner))


def _serial(regex: Regex) -> int:
    return regex.serial


def _negative_last(regex: Regex) -> tuple[bool, int]:
    return isinstance(regex, Not), regex.serial


EPSILON: Final[Regex] = Epsilon(nullable=True, shortest=0, longest=0, nesting=1)
NONE: Final[Regex] = Chars(NOTHING)
SIGMA: Final[Regex] = Chars(ANY)
ALL: Final[Regex] = Loop(SIGMA, 0, None)
_CONSTANTS: Final[dict[_Key, Regex]] = {(Chars, ANY): SIGMA, (Loop, SIGMA, 0, None): ALL}
_interned.update(_CONSTANTS)
