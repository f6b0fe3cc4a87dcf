"""The characters of a pattern: what an escape, a class in brackets or a property stands for."""

from __future__ import annotations

from typing import Final

from governance.core.schema import charset
from governance.core.schema.charset import CharSet
from governance.core.schema.regex_tree import UnsupportedPattern

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


class CharacterReader:
    """A place in a pattern that moves on as characters are taken."""

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
