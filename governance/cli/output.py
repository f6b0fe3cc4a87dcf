"""FORMATS: how a report goes out, one row each; ``-o FORMAT [--out FILE]`` picks, as often as one likes."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from governance.cli.exact import dumps
from governance.cli.markdown import markdown_row, render_markdown
from governance.cli.report import Block, Report, Verdict
from governance.cli.terminal import Style, escaped_json, one_line, style_for
from governance.cli.text import render_text
from governance.errors import GovernanceError, UsageError


@dataclass(frozen=True, kw_only=True)
class Format:
    """One output format: how a whole report is rendered."""

    id: str
    suffixes: tuple[str, ...]
    """File endings that mean this format when ``--out`` comes without ``-o``."""
    title: str
    render: Callable[[Report, Style], str]
    rows: Rows
    """The same for answers that come one by one."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """How a stream of answers is written: before, between and after them, and one of them."""

    head: str = ""
    between: str = ""
    tail: str = ""
    row: Callable[[Any, Line], str]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One answer of a stream for people: a word with its tone, then cells."""

    word: str
    tone: str
    cells: tuple[str, ...]


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Exact JSON that is harmless on a terminal."""
    return escaped_json(dumps(value, indent=indent))


FORMATS: Final[dict[str, Format]] = {
    row.id: row
    for row in (
        Format(
            id="text",
            suffixes=(".txt",),
            title="for people: the verdict line first, then each change",
            render=lambda report, style: render_text(report.blocks, style),
            rows=Rows(row=lambda document, line: f"{line.word.upper():<10}  {_joined(line.cells)}\n"),
        ),
        Format(
            id="json",
            suffixes=(".json",),
            title="one document",
            render=lambda report, style: json_text(report.document, indent=2) + "\n",
            rows=Rows(head="[\n", between=",\n", tail="\n]\n", row=lambda document, line: json_text(document)),
        ),
        Format(
            id="jsonl",
            suffixes=(".jsonl", ".ndjson"),
            title="one JSON document a line",
            render=lambda report, style: "".join(json_text(record) + "\n" for record in report.lines),
            rows=Rows(row=lambda document, line: json_text(document) + "\n"),
        ),
        Format(
            id="markdown",
            suffixes=(".md", ".markdown"),
            title="for a pull request",
            render=lambda report, style: render_markdown(report.blocks),
            rows=Rows(row=lambda document, line: markdown_row(line.word, line.cells) + "\n"),
        ),
    )
}


def _joined(cells: Sequence[str]) -> str:
    return "  ".join(one_line(cell) for cell in cells if cell)


@dataclass(frozen=True, kw_only=True)
class Destination:
    """One wanted report: a format, and a file or (None) standard output."""

    format: Format
    file: Path | None = None


def destinations(chosen: Sequence[tuple[str, str]]) -> tuple[Destination, ...]:
    """Pair ``("-o", format)`` with the ``("--out", file)`` that follows it.

    Without any, text goes to standard output. An ``--out`` of its own takes the format its ending names.

    Raises:
        UsageError: an unknown format, two reports for one place.
    """
    found: list[Destination] = []
    waiting: Format | None = None
    for flag, value in chosen:
        if flag == "-o":
            if waiting is not None:
                found.append(Destination(format=waiting))
            waiting = _format(value)
        elif value == "-":
            found.append(Destination(format=waiting or FORMATS["text"]))
            waiting = None
        else:
            found.append(Destination(format=waiting or _by_suffix(value), file=Path(value)))
            waiting = None
    if waiting is not None or not found:
        found.append(Destination(format=waiting or FORMATS["text"]))
    places = [destination.file for destination in found]
    for place in places:
        if places.count(place) > 1:
            raise UsageError(
                f"Two reports would go to {place or 'standard output'}.",
                fix="Give each -o its own --out FILE; at most one report goes to standard output.",
            )
    return tuple(found)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise UsageError(f"There is no output format {name!r}.", fix=f"Take one of {', '.join(FORMATS)}.")
    return FORMATS[name]


def _by_suffix(file: str) -> Format:
    suffix = Path(file).suffix.lower()
    return next((row for row in FORMATS.values() if suffix in row.suffixes), FORMATS["text"])


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where this run's reports go and how talkative it is; every command writes through it."""

    destinations: tuple[Destination, ...] = (Destination(format=FORMATS["text"]),)
    quiet: bool = False
    no_color: bool = False

    @property
    def on_stdout(self) -> Format | None:
        return next((d.format for d in self.destinations if d.file is None), None)

    def emit(self, report: Report) -> int:
        """Write every wanted form of the report; gives its exit code back.

        Raises:
            UsageError: a file cannot be written.
        """
        for destination in self.destinations:
            if destination.file is None:
                write_stdout(destination.format.render(self._shortened(report, destination), self._style()))
            else:
                with written_file(destination.file) as stream:
                    stream.write(destination.format.render(report, Style()))
        if self.on_stdout is None:
            self.note(render_text([b for b in report.blocks if isinstance(b, Verdict)][:1], Style()).rstrip())
        return report.exit_code

    @contextlib.contextmanager
    def streaming(self) -> Iterator[Callable[[Any, Line], None]]:
        """Gives a function that writes one answer everywhere at once, flushed, in every wanted form.

        Raises:
            UsageError: a file cannot be written.
        """
        with contextlib.ExitStack() as stack:
            sinks: list[tuple[Rows, Callable[[str], object]]] = []
            for wanted in self.destinations:
                if wanted.file is None:
                    sinks.append((wanted.format.rows, write_stdout))
                else:
                    sinks.append((wanted.format.rows, stack.enter_context(written_file(wanted.file)).write))
            for rows, write in sinks:
                write(rows.head)
            first = True

            def put(document: Any, line: Line) -> None:
                nonlocal first
                for rows, write in sinks:
                    write(("" if first else rows.between) + rows.row(document, line))
                first = False

            yield put
            for rows, write in sinks:
                write(rows.tail)

    def note(self, text: str) -> None:
        """A remark on standard error, for people; nothing when ``--quiet``."""
        if text and not self.quiet:
            with contextlib.suppress(OSError):
                print(text, file=sys.stderr, flush=True)

    def _style(self) -> Style:
        return style_for(sys.stdout, no_color=self.no_color)

    def _shortened(self, report: Report, destination: Destination) -> Report:
        if not self.quiet or destination.format.id != "text":
            return report
        verdicts: tuple[Block, ...] = tuple(block for block in report.blocks if isinstance(block, Verdict))
        return Report(document=report.document, blocks=verdicts[:1] or report.blocks)


def write_stdout(text: str) -> None:
    """UTF-8 whatever the locale says; a lone surrogate goes out as its JSON escape."""
    stream = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    if stream is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        stream.write(text.encode("utf-8", "backslashreplace"))
        stream.flush()


@contextlib.contextmanager
def written_file(path: Path) -> Iterator[TextIO]:
    """A text file that appears whole or not at all: written beside ``path``, then moved over it.

    Raises:
        UsageError: it cannot be written there.
    """
    if path.exists() and not path.is_file():  # /dev/stderr, a pipe: nothing to replace
        with _refused(path), path.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
        return
    with _refused(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            yield stream
        with _refused(path):
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(0o666 & ~umask)
            Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _refused(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"{path} cannot be written: {reason}.",
            fix="Give --out a file in a folder that is there and yours.",
        ) from None


def problem(error: GovernanceError) -> dict[str, Any]:
    """The error as the one problem document (RFC 9457) that the service answers too."""
    document: dict[str, Any] = {
        "type": f"urn:skill-governance:problem:{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "fix": error.fix,
        "errors": [fault.to_document() for fault in error.faults],
    }
    return document | ({"details": error.details} if error.details else {})


def problem_lines(error: GovernanceError, *, limit: int = 20) -> Iterable[str]:
    """The error for a person: the sentence, where it is, what to do next."""
    yield f"error: {error.message}"
    yield from (f"  {fault}" for fault in error.faults[:limit])
    if len(error.faults) > limit:
        yield f"  …and {len(error.faults) - limit} more"
    if error.fix:
        yield f"  → {error.fix}"
