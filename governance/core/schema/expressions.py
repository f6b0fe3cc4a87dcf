"""The kinds of expression that denote a language of strings. Make them through ``language``, which knows the laws."""

from __future__ import annotations

from typing import Final, TypeAlias

from governance.core.schema.budget import BudgetExceeded
from governance.core.schema.charset import CharSet

MAX_NESTING: Final = 120
"""How deep an expression may nest before it is given up; derivation recurses that deep."""


class Regex:
    """A language. ``nullable``: holds the empty string; ``shortest`` and ``longest`` bound the lengths of its
    strings from outside (None: no bound); ``rank`` orders members by their shape, so that the same question takes the
    same way in every process."""

    __slots__ = ("_cost", "_moves", "longest", "nesting", "nullable", "rank", "shortest")

    def __init__(
        self, *, nullable: bool, shortest: int, longest: int | None, nesting: int, shape: tuple[int, ...]
    ) -> None:
        if nesting > MAX_NESTING:
            raise BudgetExceeded("the expression nests too deep")
        self.nullable = nullable
        self.shortest = shortest
        self.longest = longest
        self.nesting = nesting
        self.rank = hash(shape)
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
        super().__init__(nullable=False, shortest=1, longest=1, nesting=1, shape=(1, hash(chars.ranges)))
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
            shape=(2, head.rank, tail.rank),
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
            shape=(3, body.rank, low, -1 if high is None else high),
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
            shape=(4, *(member.rank for member in members)),
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
            shape=(5, *(member.rank for member in members)),
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
            shape=(6, inner.rank),
        )
        self.inner = inner


class Knot(Regex):
    """A language defined by an equation in itself: ``X = after | … X …`` with every X behind a character."""

    __slots__ = ("definition",)

    def __init__(self, after: Regex) -> None:
        super().__init__(
            nullable=after.nullable, shortest=0, longest=None, nesting=after.nesting + 2, shape=(7, after.rank)
        )
        self.definition: Regex = after

    def tie(self, definition: Regex) -> None:
        self.definition = definition
        self.nesting = max(self.nesting, definition.nesting + 1)
