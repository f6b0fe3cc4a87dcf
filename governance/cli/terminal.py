"""What a terminal may be shown: untrusted text made harmless, colour where it is wanted, a progress bar."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TextIO, TypeVar

_Answer = TypeVar("_Answer")

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


class _Visible(dict[int, str]):
    """Maps what steers or hides in a terminal to its name; line feed and tab pass."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        shown = char
        if char not in "\n\t" and unicodedata.category(char) in _HIDDEN:
            shown = f"<U+{point:04X}>"
        self[point] = shown
        return shown


class _Escaped(dict[int, str]):
    def __missing__(self, point: int) -> str:
        char = chr(point)
        hidden = char != "\n" and unicodedata.category(char) in _HIDDEN
        self[point] = shown = json.dumps(char)[1:-1] if hidden else char
        return shown


_VISIBLE = _Visible()
_ESCAPED = _Escaped()


def clean(text: str) -> str:
    """``text`` with every control, escape, bidirectional and invisible character spelled out (<U+202E>)."""
    return text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)


def one_line(text: str, limit: int = 200) -> str:
    """Cleaned, on one line, cut at ``limit`` characters."""
    flat = " ".join(text.split())
    return clean(flat if len(flat) <= limit else f"{flat[: limit - 1]}…")


def data(text: str, limit: int = 2000) -> str:
    """Cleaned like prose, but its spaces are its own; on one line, cut at ``limit`` with the count."""
    rest = len(text) - limit
    shown = text if rest <= 0 else f"{text[:limit]}… ({rest} characters more)"
    return clean(shown.replace("\n", "\\n").replace("\t", "\\t"))


def escaped_json(text: str) -> str:
    """JSON text with what hides or steers in a terminal as ``\\uXXXX``: the same value, harmless to print."""
    return text if text.isascii() else text.translate(_ESCAPED)


@dataclass(frozen=True, kw_only=True)
class Style:
    """How text goes out: with ANSI colour or without."""

    color: bool = False

    def paint(self, text: str, tone: str) -> str:
        """``tone`` is good, warn, bad, strong or faint."""
        codes = {"good": "32", "warn": "33", "bad": "31", "strong": "1", "faint": "2"}
        return f"\x1b[{codes[tone]}m{text}\x1b[0m" if self.color and tone in codes else text


def style_for(stream: TextIO, *, no_color: bool) -> Style:
    """Colour only on a terminal that has not been asked to do without (``NO_COLOR``, ``TERM=dumb``)."""
    wanted = not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(color=wanted and is_terminal(stream))


def is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


class Progress(Protocol):
    """Told how far the work has come, in the unit it was opened with."""

    def advance(self, amount: int) -> None: ...


class _Silent:
    def advance(self, amount: int) -> None:
        pass


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool) -> Iterator[Progress]:
    """A bar on standard error while a person watches it, nothing otherwise."""
    if quiet or not is_terminal(sys.stderr):
        yield _Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)

        class Shown:
            def advance(self, amount: int) -> None:
                bar.advance(task, amount)

        yield Shown()


def advancing(answers: Iterable[_Answer], bar: Progress) -> Iterator[_Answer]:
    """The same answers; the bar moves on by one with each."""
    for answer in answers:
        bar.advance(1)
        yield answer


def counted(number: int, noun: str, several: str | None = None) -> str:
    """``1 skill``, ``2 skills``; ``several`` where another letter than an ``s`` makes it more than one."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"
