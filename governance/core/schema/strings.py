"""Strings that satisfy every constraint at once, shortest and most readable first, or the proof that none does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from governance.core.schema.budget import Budget, BudgetExceeded
from governance.core.schema.charset import CharSet
from governance.core.schema.countdown import countdown, counted_down
from governance.core.schema.derivation import moves, surely_within
from governance.core.schema.expressions import Inter, Moves, Not, Regex, Union
from governance.core.schema.language import ALL, NONE, alternatives, complement, intersection

_CHARACTERS_A_STEP: Final = 16
_STEPS_A_WAY: Final = 12
_STEPS_A_CHARACTER: Final = 3
_LONGEST_RUN: Final = 1_000_000
_Level: TypeAlias = dict[Regex, list[tuple[CharSet, Regex]]]


def find_string(
    *,
    required: Sequence[Regex],
    forbidden: Sequence[Regex],
    min_length: int,
    max_length: int | None,
    excluded: frozenset[str],
    budget: Budget,
    count: int = 1,
) -> list[str]:
    """Up to ``count`` different strings that lie in every required language and in no forbidden one.

    Lengths are in characters (code points), both ends included; ``max_length`` None is no limit. Fewer strings
    mean that there are no more; ``[]`` proves that there is none.

    Raises:
        BudgetExceeded: neither found nor refuted within the budget, or too long to write down.
    """
    min_length = max(min_length, 0)
    if count <= 0 or (max_length is not None and min_length > max_length):
        return []
    if not required and not forbidden and count == 1:
        budget.spend(1 + min_length // _CHARACTERS_A_STEP)
        plain = "a" * min_length
        if plain not in excluded:
            return [plain]
    if any(surely_within(have, bad) for have in (*required, ALL) for bad in forbidden):
        return []
    language = intersection(*required, *map(complement, forbidden))
    if language is NONE:
        return []
    search = _Search(language, min_length, max_length, budget)
    try:
        first = search.shortest()
        if first is None:
            return []
        if count == 1 and first not in excluded:
            return [first]
        return list(islice((text for text in search.every() if text not in excluded), count))
    except RecursionError:
        raise BudgetExceeded("the patterns nest too deep") from None


class _Search:
    """Strings by length: level n holds every state that n characters can lead to, each with its ways in."""

    def __init__(self, language: Regex, low: int, high: int | None, budget: Budget) -> None:
        self.language = language
        self.low = 0 if low <= language.shortest else low
        self.high = high
        self.budget = budget
        self.levels: list[_Level] = []
        self.jump = _Jump(at=0, period=1, skipped=0)

    def shortest(self) -> str | None:
        """The shortest string, of those the most readable; None if there is none."""
        for length, level in self.walk(once=True):
            for state in level:
                if state.nullable:
                    return self.spell(length, state)
        return None

    def every(self) -> Iterator[str]:
        """Every string once, by length."""
        for length, level in self.walk(once=False):
            for state in level:
                if state.nullable:
                    yield from self.spellings(length, state)

    def walk(self, *, once: bool) -> Iterator[tuple[int, _Level]]:
        """The levels from the least length on, until no state is left that could lead to a string.

        ``once`` leaves out states seen at a shorter length: enough to find the shortest string.
        """
        level: _Level = {state: [] for state in (alternatives(self.language) if once else (self.language,))}
        self.levels = [level]
        self.jump = _Jump(at=0, period=1, skipped=0)
        graph: dict[Regex, Moves] = {}
        alive: frozenset[Regex] | None = None
        seen = _Seen(self.budget)
        length, mark, marked = 0, 0, level.keys()
        while level and (self.high is None or length <= self.high):
            if length >= self.low:
                yield length, level
                if length == self.low:
                    level = {state: ways for state, ways in level.items() if not once or seen.adds(state)}
            elif length > mark and not self.jump.skipped and level.keys() == marked:
                period = length - mark
                skipped = (self.low - length) // period * period
                self.jump = _Jump(at=length, period=period, skipped=skipped)
                length += skipped
                if skipped:
                    continue
            elif length >= 2 * mark:
                mark, marked = length, level.keys()
            following = self.following(level, length + 1, graph, seen if once else None)
            if alive is None and not once and all(state in graph for state in following):
                alive = _alive(graph)
            if alive is not None:
                following = {state: ways for state, ways in following.items() if state in alive}
            if once:
                length, following = self.hurried(level, following, length)
            self.levels.append(following)
            level = following
            length += 1

    def following(self, level: _Level, length: int, graph: dict[Regex, Moves], seen: _Seen | None) -> _Level:
        """The next level. For one string (``seen``) states are taken apart into their alternatives: there are fewer
        of them, though a string may lead to several."""
        found: _Level = {}
        room = None if self.high is None else self.high - length
        for state in level:
            self.budget.spend()
            graph[state] = steps = moves(state, self.budget)
            for first, then in steps:
                ways = (then,) if seen is None else alternatives(then)
                self.budget.spend(_STEPS_A_WAY * len(ways))
                for way in ways:
                    if way is NONE or (room is not None and way.shortest > room):
                        continue
                    if seen is None or length <= self.low or seen.adds(way):
                        found.setdefault(way, []).append((first, state))
        return found

    def hurried(self, level: _Level, following: _Level, length: int) -> tuple[int, _Level]:
        """Where the one thing that happens is counting down, the levels in between need no derivatives."""
        if len(level) != 1 or len(following) != 1:
            return length, following
        ((state, _), (then, _)) = *level.items(), *following.items()
        steps = moves(state, self.budget)
        run = countdown(state)
        for end in (self.high, self.low if length < self.low else None):
            if end is not None:
                run = min(run, end - length)
        if run < 2 or run > _LONGEST_RUN or len(steps) != 1 or counted_down(state, 1) is not then:
            return length, following
        self.budget.spend(run // _CHARACTERS_A_STEP)
        first = steps[0][0]
        self.levels.extend([{state: [(first, state)]}] * (run - 1))
        return length + run - 1, {counted_down(state, run): [(first, state)]}

    def ways(self, length: int, state: Regex) -> list[tuple[CharSet, Regex]]:
        return self.levels[self.jump.stored(length)][state]

    def spell(self, length: int, state: Regex) -> str:
        """The most readable string of ``length`` that leads to ``state``, built from its end."""
        self.budget.spend(length // _CHARACTERS_A_STEP)
        text: list[str] = []
        rounds: dict[Regex, tuple[int, int]] = {}
        jump = self.jump
        while length:
            if jump.at < length <= jump.at + jump.skipped and not (length - jump.at) % jump.period:
                if state in rounds:
                    before, mark = rounds[state]
                    turns = (length - jump.at) // (before - length)
                    text.append("".join(text[mark:]) * turns)
                    length -= turns * (before - length)
                    rounds = {}
                    continue
                rounds[state] = length, len(text)
            self.budget.spend()
            first, state = self.ways(length, state)[0]
            text.append(chr(first.best))
            length -= 1
        return "".join(text)[::-1]

    def spellings(self, length: int, state: Regex) -> Iterator[str]:
        """Every string of ``length`` that leads to ``state``: all ways back, depth first."""
        if not length:
            yield ""
            return
        tail: list[str] = []
        stack = [self.last_characters(length, state)]
        while stack:
            self.budget.spend(_STEPS_A_CHARACTER)
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                if tail:
                    tail.pop()
                continue
            character, before = step
            if len(stack) == length:
                self.budget.spend(length // _CHARACTERS_A_STEP)
                yield "".join((character, *reversed(tail)))
            else:
                tail.append(character)
                stack.append(self.last_characters(length - len(tail), before))

    def last_characters(self, length: int, state: Regex) -> Iterator[tuple[str, Regex]]:
        for first, before in self.ways(length, state):
            yield chr(first.best), before
            yield from ((chr(codepoint), before) for codepoint in islice(first, 1, None))


class _Seen:
    """States met on the way to a shortest string. One that forbids all that an earlier one forbids, and more, can
    lead to no string that the earlier one does not lead to as well."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.met: dict[frozenset[Regex], list[frozenset[Regex]]] = {}

    def adds(self, state: Regex) -> bool:
        """Is it new? Then it counts as met from now on."""
        wanted: list[Regex] = []
        unwanted: list[Regex] = []
        for member in state.members if isinstance(state, Inter) else (state,):
            if not isinstance(member, Not):
                wanted.append(member)
            elif isinstance(member.inner, Union):
                unwanted.extend(member.inner.members)
            else:
                unwanted.append(member.inner)
        forbidden = frozenset(unwanted)
        met = self.met.setdefault(frozenset(wanted), [])
        self.budget.spend(len(met))
        if any(earlier <= forbidden for earlier in met):
            return False
        met.append(forbidden)
        return True


@dataclass(frozen=True, slots=True)
class _Jump:
    """Levels that repeat are stored once: after level ``at``, ``skipped`` more went round in ``period`` steps."""

    at: int
    period: int
    skipped: int

    def stored(self, length: int) -> int:
        if length <= self.at:
            return length
        if length > self.at + self.skipped:
            return length - self.skipped
        return self.at - self.period + 1 + (length - self.at - 1) % self.period


def _alive(graph: dict[Regex, Moves]) -> frozenset[Regex]:
    """The states from which a string can still end."""
    sources: dict[Regex, list[Regex]] = {}
    for state, steps in graph.items():
        for _, then in steps:
            sources.setdefault(then, []).append(state)
    stack = [state for state in graph if state.nullable]
    alive = set(stack)
    while stack:
        for source in sources.get(stack.pop(), ()):
            if source not in alive:
                alive.add(source)
                stack.append(source)
    return frozenset(alive)
