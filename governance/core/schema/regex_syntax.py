"""ECMA-262 patterns, parsed: text to a small tree of sets, sequences, choices, repetitions and assertions.

Read with the ``u`` flag, as JSON Schema asks. Where that is an error but the looser grammar of browsers has one
plain meaning (``\\_``, ``\\@``, a lone ``]``, ``[\\w-.]``), that meaning is taken: real schemas are full of them.
"""

from __future__ import annotations

from typing import Final

from governance.core.schema import charset
from governance.core.schema.charset import CharSet
from governance.core.schema.regex_characters import CharacterReader
from governance.core.schema.regex_tree import (
    Anchor,
    Behind,
    Choice,
    Look,
    One,
    Pattern,
    Repeat,
    Sequence,
    UnsupportedPattern,
)

MAX_LENGTH: Final = 4_000
MAX_DEPTH: Final = 40
_MAX_COUNT_DIGITS: Final = 15

_DOT: Final = charset.ANY - charset.LINE_END
_SPECIAL: Final = frozenset("^$.([*+?{\\")
_ASSERTIONS: Final = ("^", "$", "\\b", "\\B", "(?=", "(?!", "(?<=", "(?<!")


def parse(pattern: str) -> Pattern:
    """The tree of a pattern.

    Raises:
        UnsupportedPattern: it is no pattern, or uses a feature that is not decided.
    """
    if len(pattern) > MAX_LENGTH:
        raise UnsupportedPattern("too-large", f"the pattern is longer than {MAX_LENGTH} characters")
    parser = _Parser(pattern)
    tree = parser.choice(0)
    if not parser.done:
        raise parser.error("an unmatched closing parenthesis")
    return tree


class _Parser(CharacterReader):
    def choice(self, depth: int) -> Pattern:
        if depth > MAX_DEPTH:
            raise self.error("groups nest too deep", "too-large")
        branches = [self.sequence(depth)]
        while self.take("|"):
            branches.append(self.sequence(depth))
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def sequence(self, depth: int) -> Pattern:
        parts: list[Pattern] = []
        text = self.text
        while self.at < len(text) and text[self.at] not in "|)":
            start = self.at
            part = self.term(depth)
            if self.at < len(text) and text[self.at] in "*+?{":
                part = self.quantified(part, repeatable=not text.startswith(_ASSERTIONS, start))
            parts.append(part)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def term(self, depth: int) -> Pattern:
        character = self.next()
        if character not in _SPECIAL:
            return One(CharSet.char(ord(character)))
        match character:
            case "^":
                return Anchor.START
            case "$":
                return Anchor.END
            case ".":
                return One(_DOT)
            case "(":
                return self.group(depth)
            case "[":
                return One(self.bracket())
            case "*" | "+" | "?":
                raise self.error("nothing to repeat before")
            case "{":
                if self.counts() or self.peek(","):
                    raise self.error("nothing to repeat before")
                return One(CharSet.char(ord(character)))
            case _:
                if self.take("b"):
                    return Anchor.BOUNDARY
                if self.take("B"):
                    return Anchor.NO_BOUNDARY
                escaped = self.escape(in_class=False)
                return One(escaped if isinstance(escaped, CharSet) else CharSet.char(escaped))

    def group(self, depth: int) -> Pattern:
        look: bool | None = None
        if self.take("?"):
            if self.take("<="):
                return self.behind(depth, negative=False)
            if self.take("<!"):
                return self.behind(depth, negative=True)
            if self.take("="):
                look = False
            elif self.take("!"):
                look = True
            elif self.take("<"):
                self.group_name()
            elif not self.take(":"):
                raise self.flags()
        body = self.choice(depth + 1)
        if not self.take(")"):
            raise self.error("a group that is not closed")
        return body if look is None else Look(body, look)

    def behind(self, depth: int, *, negative: bool) -> Pattern:
        body = self.choice(depth + 1)
        if not self.take(")"):
            raise self.error("a group that is not closed")
        chars, at_start = charset.NOTHING, False
        for way in body.branches if isinstance(body, Choice) else (body,):
            if isinstance(way, One):
                chars |= way.chars
            elif way is Anchor.START:
                at_start = True
            else:
                raise self.error("a look-behind over more than one character", "look-behind")
        return Behind(chars, at_start, negative)

    def group_name(self) -> None:
        end = self.text.find(">", self.at)
        name = self.text[self.at : end] if end >= 0 else ""
        if not name.replace("$", "_").isidentifier():
            raise self.error("a group name that is none")
        self.at = end + 1

    def flags(self) -> UnsupportedPattern:
        end = self.at
        while end < len(self.text) and self.text[end] in "imsxuU-":
            end += 1
        letters = self.text[self.at : end]
        if not letters or self.text[end : end + 1] not in (":", ")"):
            return self.error("a kind of group that is not known")
        if "i" in letters.partition("-")[0]:
            return self.error("letters of either case", "case-insensitive")
        return self.error("flags inside the pattern", "flags")

    def quantified(self, part: Pattern, *, repeatable: bool) -> Pattern:
        low: int
        high: int | None
        if self.take("*"):
            low, high = 0, None
        elif self.take("+"):
            low, high = 1, None
        elif self.take("?"):
            low, high = 0, 1
        else:
            self.at += 1
            counts = self.counts()
            if counts is None:
                if self.peek(","):
                    raise self.error("a count without its lower end, which engines read differently,")
                self.at -= 1
                return part
            low, high = counts
        if not repeatable:
            raise self.error("an assertion that is repeated")
        if high is not None and low > high:
            raise self.error("counts out of order")
        self.take("?")
        if not self.done and self.text[self.at] in "*+?":
            raise self.error("nothing to repeat")
        return Repeat(part, low, high)

    def counts(self) -> tuple[int, int | None] | None:
        """The counts after an opening brace, or None and nothing taken where it opens no counts."""
        start = self.at
        low = self.digits()
        if low is None:
            return None
        high: int | None = low
        if self.take(","):
            high = self.digits()
        if self.take("}"):
            return low, high
        self.at = start
        return None

    def digits(self) -> int | None:
        start = self.at
        while not self.done and self.text[self.at] in "0123456789":
            self.at += 1
        digits = self.text[start : self.at].lstrip("0")
        if len(digits) > _MAX_COUNT_DIGITS:
            raise self.error("a count that no text can reach", "too-large")
        return int(digits or "0") if self.at > start else None
