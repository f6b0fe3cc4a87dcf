"""Sets of characters as sorted intervals, interned, with remembered operations.

The alphabet is the Unicode scalar values: a JSON text cannot hold a lone surrogate.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

Ranges = tuple[tuple[int, int], ...]

_SCALARS: Final[Ranges] = ((0x0, 0xD7FF), (0xE000, 0x10FFFF))

# What reads well in a payload comes first: letters, digits, signs, the world's letters, the rest, controls, NUL.
_TASTE: Final[Ranges] = (
    *((ord(low), ord(high)) for low, high in ("az", "AZ", "09", "--", "__", "!,", "./", ":@", "[^", "``", "{~", "  ")),
    *((0xC0, 0xD6), (0xE0, 0xF6), (0x4E00, 0x9FA5), (0x1F600, 0x1F64F), (0xA1, 0xAC), (0xAE, 0x2FF)),
    *((0x370, 0x1FFF), (0x2030, 0xD7FF), (0xE000, 0x10FFFF), (0xA, 0xA), (0x9, 0x9), (0x1, 0x2FFF), (0x0, 0x0)),
)

_INTERNED_LIMIT: Final = 20_000
_REMEMBERED_RANGES: Final = 64
"""Larger sets are not kept in the tables, whose size would else be the patterns' to choose."""
_interned: dict[Ranges, CharSet] = {}
_products: dict[tuple[CharSet, CharSet], tuple[CharSet, CharSet]] = {}


class CharSet:
    """An immutable set of scalar values. Equal small sets are one object (until the table overflows)."""

    __slots__ = ("_best", "_rank", "ranges")

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self._best = -1
        self._rank = -1

    @staticmethod
    def of(ranges: Iterable[tuple[int, int]]) -> CharSet:
        """The set of inclusive intervals in any order; surrogates fall out."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                if high > merged[-1][1]:
                    merged[-1] = (merged[-1][0], high)
            else:
                merged.append((low, high))
        return _intern(_meet(tuple(merged), _SCALARS))

    @staticmethod
    @lru_cache(maxsize=1024)
    def char(codepoint: int) -> CharSet:
        return CharSet.of(((codepoint, codepoint),))

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, codepoint: int) -> bool:
        return any(low <= codepoint <= high for low, high in self.ranges)

    def __repr__(self) -> str:
        shown = [f"{low:X}" if low == high else f"{low:X}-{high:X}" for low, high in self.ranges[:8]]
        return f"CharSet({' '.join(shown)}{' …' if len(self.ranges) > 8 else ''})"

    def split(self, other: CharSet) -> tuple[CharSet, CharSet]:
        """The part inside ``other`` and the part outside it."""
        if self is other or self.ranges == other.ranges:
            return self, NOTHING
        found = _products.get((self, other))
        if found is None:
            inside = _intern(_meet(self.ranges, other.ranges))
            outside = _intern(_meet(self.ranges, _invert(other.ranges)))
            found = (inside, outside)
            if len(inside.ranges) + len(outside.ranges) <= _REMEMBERED_RANGES:
                if len(_products) > _INTERNED_LIMIT:
                    _products.clear()
                _products[self, other] = found
        return found

    def __and__(self, other: CharSet) -> CharSet:
        return self.split(other)[0]

    def __sub__(self, other: CharSet) -> CharSet:
        return self.split(other)[1]

    def __or__(self, other: CharSet) -> CharSet:
        return self if self is other else CharSet.of(self.ranges + other.ranges)

    def __invert__(self) -> CharSet:
        return ANY.split(self)[1]

    def __iter__(self) -> Iterator[int]:
        """Every character once, the most readable first."""
        left = self
        for low, high in _TASTE:
            taken, left = left.split(CharSet.of(((low, high),)))
            yield from chain.from_iterable(range(start, end + 1) for start, end in taken.ranges)
            if not left:
                return

    @property
    def best(self) -> int:
        """The most readable character.

        Raises:
            ValueError: the set is empty.
        """
        if self._best < 0:
            self._judge()
        return self._best

    @property
    def rank(self) -> int:
        """How readable ``best`` is: lower is better, and disjoint sets differ."""
        if self._rank < 0:
            self._judge()
        return self._rank

    def _judge(self) -> None:
        before = 0
        for low, high in _TASTE:
            index = bisect_left(self.ranges, (low, 0))
            if index and self.ranges[index - 1][1] >= low:
                found = low
            elif index < len(self.ranges) and self.ranges[index][0] <= high:
                found = self.ranges[index][0]
            else:
                before += high - low + 1
                continue
            self._best, self._rank = found, before + found - low
            return
        raise ValueError("the empty set has no best character")


def _intern(ranges: Ranges) -> CharSet:
    found = _interned.get(ranges)
    if found is None:
        made = CharSet(ranges)
        if len(ranges) > _REMEMBERED_RANGES:
            return made
        if len(_interned) > _INTERNED_LIMIT:
            _interned.clear()
            _interned.update({NOTHING.ranges: NOTHING, ANY.ranges: ANY})
        found = _interned.setdefault(ranges, made)
    return found


def _meet(left: Ranges, right: Ranges) -> Ranges:
    met: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            met.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(met)


def _invert(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= 0x10FFFF:
        gaps.append((start, 0x10FFFF))
    return _meet(tuple(gaps), _SCALARS)


NOTHING: Final = _intern(())
ANY: Final = _intern(_SCALARS)
DIGIT: Final = CharSet.of(((0x30, 0x39),))
WORD: Final = CharSet.of(((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
SPACE: Final = CharSet.of(
    (
        *((0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
        *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
    )
)
LINE_END: Final = CharSet.of(((0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029)))
