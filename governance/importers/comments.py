"""The comments of a source that silence lints, and which part of the source each speaks of.

A comment on a line of its own speaks of what begins on the next line that holds something, above the first
line of a document of all of it; a comment behind a value of what begins on its line. JSON has no comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

import yaml

from governance.core.lint.ignoring import MARK, read_comment
from governance.core.lint.model import EVERYWHERE, Ignore, Position
from governance.errors import Place
from governance.importers.draft import Source
from governance.importers.skill_md import readable_parts
from governance.importers.toml_text import toml_comments, toml_heads
from governance.importers.yaml_text import LOADER

MAX_COMMENTS: Final = 1_000
"""Of one source; what asks for more silences wants a baseline."""

_COMMENT: Final = re.compile(rf"(?:^|(?<=[ \t]))#[ \t]*{re.escape(MARK)}(.*)$", re.MULTILINE)
_HTML: Final = re.compile(rf"<!--\s*{re.escape(MARK)}((?:(?!<!--|-->).)*)-->", re.DOTALL)
_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line for a reader of YAML."""
_FENCED: Final = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_NOT_LINE: Final = re.compile(r"[^\n]")
_END: Final = EVERYWHERE[1]


def ignores_in(source: Source, *, markdown: bool = False) -> tuple[Ignore, ...]:
    """Every comment that begins with MARK, sound or not, in order.

    Args:
        source: a text that an importer has read without an error.
        markdown: it is a SKILL.md: front matter and a body.
    """
    if MARK not in source.text:
        return ()
    if markdown:
        found = _in_markdown(source)
    elif source.format == "yaml":
        found = _in_yaml(source.text, source.file, 1)
    elif source.format == "toml":
        found = _in_toml(source.text, source.file)
    else:
        return ()
    return tuple(islice(found, MAX_COMMENTS))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """One value of a source: the line it begins on (its key's, if it has one), and from where to where it goes."""

    line: int
    begins: Position
    ends: Position
    keyed: bool = False


class _Entries:
    """The values of a source by the line they begin on, the outermost first."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self._by_line: dict[int, list[_Entry]] = {}
        for entry in entries:
            self._by_line.setdefault(entry.line, []).append(entry)
        self._lines = sorted(self._by_line)

    def below(self, line: int) -> _Entry | None:
        """What a comment on a line of its own speaks of."""
        at = bisect_right(self._lines, line)
        return self._by_line[self._lines[at]][0] if at < len(self._lines) else None

    def beside(self, line: int) -> _Entry | None:
        """What a comment behind a value speaks of."""
        here = self._by_line.get(line, [])
        return next((entry for entry in here if entry.keyed), here[0] if here else None)

    def ignore(self, text: str, place: Place, *, alone: bool) -> Ignore:
        line = place.line or 1
        entry = self.below(line) if alone else self.beside(line)
        if entry is None:
            nothing = read_comment(text, place, begins=_END, ends=_END)
            return replace(nothing, complaint=nothing.complaint or "it stands where no value begins")
        return read_comment(text, place, begins=entry.begins, ends=entry.ends)


class _Lines:
    """From offsets to places of a text; its lines begin with number ``first``."""

    def __init__(self, text: str, file: str | None, *, first: int = 1) -> None:
        self._text = text
        self._file = file
        self._first = first
        self._starts = [0, *(found.end() for found in _BREAK.finditer(text))]

    def place(self, at: int) -> Place:
        line = bisect_right(self._starts, at) - 1
        return Place(file=self._file, line=line + self._first, column=at - self._starts[line] + 1)

    def alone(self, at: int) -> bool:
        """Does nothing stand before it on its line?"""
        return not self._text[self._starts[bisect_right(self._starts, at) - 1] : at].strip()


def _in_yaml(text: str, file: str | None, first_line: int, *, open_end: bool = False) -> Iterator[Ignore]:
    """``open_end``: what follows belongs to the document, too."""
    try:
        entries, scalars = _yaml_entries(text, first_line, open_end=open_end)
    except yaml.YAMLError:
        return  # the importer mended what it read; its lines cannot be trusted
    starts = [start for start, _ in scalars]
    lines = _Lines(text, file, first=first_line)
    for found in _COMMENT.finditer(text):
        at = found.start()
        before = bisect_right(starts, at) - 1
        if before < 0 or at >= scalars[before][1]:  # else it stands inside a text
            yield entries.ignore(found[1], lines.place(at), alone=lines.alone(at))


@dataclass(kw_only=True)
class _Open:
    """A collection whose end is still to come."""

    index: int
    is_mapping: bool
    key: Any = None
    """The mark of the key that waits for its value."""


def _yaml_entries(text: str, first_line: int, *, open_end: bool) -> tuple[_Entries, list[tuple[int, int]]]:
    """The values, and from where to where each scalar goes in characters."""
    entries: list[_Entry] = []
    scalars: list[tuple[int, int]] = []
    stack: list[_Open] = []
    lists: set[int] = set()
    """Sequences that are a whole document: they begin on the line of their first item, and it is meant."""

    def position(mark: Any) -> Position:
        return mark.line + first_line, mark.column + 1

    for event in yaml.parse(text, Loader=LOADER):
        parent = stack[-1] if stack else None
        begins, ends = event.start_mark, event.end_mark
        if isinstance(event, yaml.CollectionEndEvent):
            closed = stack.pop()
            end = _END if open_end and not stack else position(ends)
            entries[closed.index] = replace(entries[closed.index], ends=end)
        elif isinstance(event, yaml.ScalarEvent) and parent and parent.is_mapping and parent.key is None:
            parent.key = begins
            scalars.append((begins.index, ends.index))  # type: ignore[union-attr]  # events of a text have marks
        elif isinstance(event, yaml.NodeEvent):
            key = parent.key if parent else None
            if parent:
                parent.key = None
            at = position(begins)
            entries.append(
                _Entry(line=position(key or begins)[0], begins=at, ends=(at[0], at[1] + 1), keyed=key is not None)
            )
            if isinstance(event, yaml.ScalarEvent):
                scalars.append((begins.index, ends.index))  # type: ignore[union-attr]
            else:
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                lists |= set() if parent or is_mapping else {len(entries) - 1}
                stack.append(_Open(index=len(entries) - 1, is_mapping=is_mapping))
    return _Entries([entry for index, entry in enumerate(entries) if index not in lists]), scalars


def _in_toml(text: str, file: str | None) -> Iterator[Ignore]:
    heads = list(toml_heads(text))
    entries: list[_Entry] = []
    for index, (line, path, opens) in enumerate(heads):
        after = (
            next_line
            for next_line, other, another in islice(heads, index + 1, None)
            if not opens or (another and other[: len(path)] != path)
        )
        ends = next(after, None)
        entries.append(_Entry(line=line, begins=(line, 0), ends=(ends, 0) if ends else _END, keyed=True))
    if entries:
        entries.insert(0, _Entry(line=entries[0].line, begins=EVERYWHERE[0], ends=_END))
    by_line = _Entries(entries)
    lines = _Lines(text, file)
    for at, comment in toml_comments(text):
        if found := _COMMENT.match(comment):
            yield by_line.ignore(found[1], lines.place(at), alone=lines.alone(at))


def _in_markdown(source: Source) -> Iterator[Ignore]:
    parts = readable_parts(source)
    if parts is None:
        return
    yield from _in_yaml(parts.front, source.file, 2, open_end=True)
    body = _FENCED.sub(lambda found: _NOT_LINE.sub(" ", found[0]), parts.body)
    lines = _Lines(body, source.file, first=parts.body_line)
    for found in _HTML.finditer(body):
        yield read_comment(found[1], lines.place(found.start()), begins=(parts.body_line, 0), ends=_END)
