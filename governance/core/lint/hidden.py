"""Characters that hide: those that nobody sees, and those that look like others. These block."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from governance.core.lint.model import Spot
from governance.core.lint.reading import everything_shown, line_of
from governance.core.skill import SkillManifest

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MARKS: Final = frozenset("\u200e\u200f\u061c")
"""Direction marks: they belong to Hebrew and Arabic text."""
_JOINERS: Final = frozenset("\u200c\u200d")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
"""A flag of a region (England's, say): the only honest use of tag characters."""

_TWINS: Final = str.maketrans(
    "авеіјкмнорсѕтухһԁԛԝӏАВЕІЈКМНОРСЅТУХԌԚԜοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abeijkmhopcstyxhdqwlABEIJKMHOPCSTYXGQWoABEZHIKMNOPTYX",
)
"""Letters that pass for Latin ones. Small Greek letters but omicron are left out: formulas are full of them."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_CYRILLIC: Final = re.compile("[\u0400-\u052f]+")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f]")
_BORROWED: Final = re.compile("[A-Za-z]+[\u0400-\u052f]{1,5}")
"""A Latin word with a Russian ending (``PDFа``)."""


def invisible(manifest: SkillManifest) -> Iterator[Spot]:
    for pointer, text in everything_shown(manifest):
        found = list(dict.fromkeys(_unseen(text)))
        if found:
            listed = ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, 'control')}" for char in found[:5])
            message = f"the text holds characters nobody sees: {listed}"
            yield Spot(pointer, message, line=line_of(text, found[0]))


def lookalike(manifest: SkillManifest) -> Iterator[Spot]:
    for pointer, text in everything_shown(manifest):
        if text.isascii():
            continue
        words = list(dict.fromkeys(_disguised(text)))
        if words:
            plain = words[0].translate(_TWINS)
            message = f"letters of another script pass for Latin ones in {words[0]!r} (looks like {plain!r})"
            yield Spot(pointer, message, line=line_of(text, words[0]))


def _unseen(text: str) -> Iterator[str]:
    if text.isascii() and text.isprintable():
        return
    flags = [match.span() for match in _FLAG.finditer(text)]
    leftward = _RIGHT_TO_LEFT.search(text) is not None
    for match in _INVISIBLE.finditer(text):
        char, at = match[0], match.start()
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if char in _MARKS and leftward:
            continue
        if char in _JOINERS and before and after and _joins(before) and _joins(after):
            continue
        if (
            "\ufe00" <= char <= "\ufe0f"
            and before
            and unicodedata.category(before) in ("So", "Sm", "Sk", "Po", "Nd", "Lo")
        ):
            continue  # it chooses how the sign before it is drawn
        if any(start <= at < end for start, end in flags):
            continue
        yield char


def _joins(char: str) -> bool:
    """May a joiner stand beside this character? Emoji, and scripts that write with joiners."""
    return ord(char) > 0x24F and not "\u2000" <= char <= "\u206f"


def _disguised(text: str) -> Iterator[str]:
    russian = any(any(char.translate(_TWINS) == char for char in run) for run in _CYRILLIC.findall(text))
    for word in _WORD.findall(text):
        if word.isascii() or not _LATIN.search(word):
            continue
        foreign = [char for char in word if not _LATIN.match(char)]
        if not foreign or any(char.translate(_TWINS) == char for char in foreign):
            continue  # a letter with no Latin twin gives itself away
        if russian and _BORROWED.fullmatch(word):
            continue
        yield word


def undisguised(text: str) -> str:
    """The text as a model understands it: without what nobody sees, lookalikes read as the letters they pass for."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _WORD.sub(lambda word: word[0].translate(_TWINS) if _LATIN.search(word[0]) else word[0], text)
