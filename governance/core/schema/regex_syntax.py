"""ECMA-262 patterns, parsed: text to a small tree of sets, sequences, choices, repetitions and assertions.

Read with the ``u`` flag, as JSON Schema asks. Where that is an error but the looser grammar of browsers has one
plain meaning (``\\_``, ``\\@``, a lone ``]``, ``[\\w-.]``), that meaning is taken: real schemas are full of them.
"""

from __future__ import annotations

from typing import Final

from governance.core.schema import charset
from governance.core.schema.charset import CharSet
from governance.core.schema.regex_tree import (
    Anchor,
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
_ASSERTIONS: Final = ("^", "$", "\\b", "\\B", "(?=", "(?!")
_CONTROLS: Final = {"n": 0xA, "r": 0xD, "t": 0x9, "v": 0xB, "f": 0xC}
_CLASSES: Final = {"d": charset.DIGIT, "w": charset.WORD, "s": charset.SPACE}
_ASCII: Final = CharSet.of(((0x0, 0x7F),))
_CONTROL: Final = CharSet.of(((0x0, 0x1F), (0x7F, 0x9F)))
_PRIVATE: Final = CharSet.of(((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)))
_HEX: Final = CharSet.of(((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)))
_EVERY_UNICODE_AGREES: Final = {
    "Any": charset.ANY,
    "ASCII": _ASCII,
    "ASCII_Hex_Digit": _HEX,
    "AHex": _HEX,
    "Cc": _CONTROL,
    "Control": _CONTROL,
    "cntrl": _CONTROL,
    "Cs": charset.NOTHING,
    "Surrogate": charset.NOTHING,
    "Co": _PRIVATE,
    "Private_Use": _PRIVATE,
    "Zl": CharSet.char(0x2028),
    "Line_Separator": CharSet.char(0x2028),
    "Zp": CharSet.char(0x2029),
    "Paragraph_Separator": CharSet.char(0x2029),
}
"""Properties whose characters never change. Any other differs between versions of Unicode, so between validators."""


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


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    def error(self, what: str, reason: str = "syntax") -> UnsupportedPattern:
        return UnsupportedPattern(reason, f"{what} at position {self.at}")

    def peek(self, expected: str) -> bool:
        return self.text.startswith(expected, self.at)

    def take(self, expected: str) -> bool:
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False

    def next(self) -> str:
        if self.done:
            raise self.error("the pattern ends too early")
        self.at += 1
        return self.text[self.at - 1]

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
            if self.peek("<=") or self.peek("<!"):
                raise self.error("a look-behind", "look-behind")
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

    def bracket(self) -> CharSet:
        negative = self.take("^")
        ranges: list[tuple[int, int]] = []
        while not self.take("]"):
            low = self.member()
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                high = self.member()
                if isinstance(low, int) and isinstance(high, int):
                    if low > high:
                        raise self.error("a range out of order")
                    ranges.append((low, high))
                    continue
                ranges.append((ord("-"), ord("-")))
                ranges.extend(_ranges(high))
            ranges.extend(_ranges(low))
        members = CharSet.of(ranges)
        return ~members if negative else members

    def member(self) -> int | CharSet:
        character = self.next()
        return self.escape(in_class=True) if character == "\\" else ord(character)

    def escape(self, *, in_class: bool) -> int | CharSet:
        """A code point, or the set that a class escape means."""
        character = self.next()
        if character in _CLASSES:
            return _CLASSES[character]
        if character.lower() in _CLASSES:
            return ~_CLASSES[character.lower()]
        if character in _CONTROLS:
            return _CONTROLS[character]
        match character:
            case "b" if in_class:
                return 0x8
            case "c":
                letter = self.next()
                if not (letter.isascii() and letter.isalpha()):
                    raise self.error("a control escape without its letter")
                return ord(letter) % 32
            case "0":
                if not self.done and self.text[self.at] in "0123456789":
                    raise self.error("an octal escape")
                return 0
            case "x":
                return self.hexadecimal(2)
            case "u":
                return self.unicode()
            case "p" | "P":
                return self.property(negative=character == "P")
            case "k":
                raise self.error("a back-reference", "back-reference")
        if character in "123456789":
            raise self.error("a back-reference", "syntax" if in_class else "back-reference")
        if character.isalnum():
            raise self.error(f"an escape \\{character} that means nothing")
        return ord(character)

    def hexadecimal(self, length: int) -> int:
        digits = self.text[self.at : self.at + length]
        if len(digits) < length or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise self.error("an escape without its hexadecimal digits")
        self.at += length
        return int(digits, 16)

    def unicode(self) -> int:
        if self.take("{"):
            end = self.text.find("}", self.at)
            length = end - self.at
            if not 0 < length <= 64:
                raise self.error("an escape without its hexadecimal digits")
            codepoint = self.hexadecimal(length)
            self.at = end + 1
            if codepoint > 0x10FFFF:
                raise self.error("a code point past the last one")
            return codepoint
        lead = self.hexadecimal(4)
        if 0xD800 <= lead <= 0xDBFF and self.peek("\\u"):
            start = self.at
            self.at += 2
            trail = -1 if self.peek("{") else self.hexadecimal(4)
            if 0xDC00 <= trail <= 0xDFFF:
                return 0x10000 + (lead - 0xD800) * 0x400 + (trail - 0xDC00)
            self.at = start
        return lead

    def property(self, *, negative: bool) -> CharSet:
        end = self.text.find("}", self.at)
        if not self.take("{") or end < 0:
            raise self.error("a property escape without its name")
        name = self.text[self.at : end]
        for prefix in ("General_Category=", "gc="):
            name = name.removeprefix(prefix)
        if name not in _EVERY_UNICODE_AGREES:
            raise self.error(f"the property {name[:40]}, which depends on the version of Unicode,", "property-escape")
        self.at = end + 1
        members = _EVERY_UNICODE_AGREES[name]
        return ~members if negative else members


def _ranges(member: int | CharSet) -> tuple[tuple[int, int], ...]:
    return member.ranges if isinstance(member, CharSet) else ((member, member),)
