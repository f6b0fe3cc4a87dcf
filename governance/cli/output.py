"""Where a run's reports go: ``-o FORMAT [--out FILE]`` picks, as often as one likes."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from governance.cli.formats import FORMATS, Format, Line, Rows
from governance.cli.formats import json_text as json_text
from governance.cli.report import Block, Report, Verdict
from governance.cli.terminal import Style, style_for
from governance.cli.text import render_text
from governance.errors import GovernanceError, UsageError


@dataclass(frozen=True, kw_only=True)
class Destination:
    """One wanted report: a format, and a file or (None) standard output."""

    format: Format
    file: Path | None = None

    @property
    def shares(self) -> bool:
        return self.file is None and self.format.quotes is not None


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
    # what a host reads line by line may stand among what a person reads
    places = [(destination.file, destination.shares) for destination in found]
    for place, shared in places:
        if places.count((place, shared)) > 1:
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

    def judges_nothing(self, command: str) -> None:
        """``command`` judges nothing: refuse the formats that tell judgements, before anything is done.

        Raises:
            UsageError: one of them is wanted.
        """
        for one in (destination.format for destination in self.destinations):
            if one.judges:
                raise UsageError(
                    f"`govctl {command}` judges nothing, so there is nothing for {one.id} to tell.",
                    fix=f"Take one of {', '.join(row.id for row in FORMATS.values() if not row.judges)}.",
                )

    def problem(self, error: GovernanceError) -> None:
        """The error in every wanted form that has a place for one; what cannot be written is left."""
        for destination in self.destinations:
            if destination.format.problem is None:
                continue
            text = destination.format.problem(error)
            if destination.file is None:
                write_stdout(text)
            else:
                with contextlib.suppress(UsageError), written_file(destination.file) as stream:
                    stream.write(text)

    def _quoted(self, text: str) -> str:
        quotes = next((one.format.quotes for one in self.destinations if one.shares), None)
        return quotes(text) if quotes is not None else text

    def emit(self, report: Report) -> int:
        """Write every wanted form of the report; gives its exit code back.

        Raises:
            UsageError: a file cannot be written.
        """
        for destination in self.destinations:
            if destination.file is None:
                text = destination.format.render(self._shortened(report, destination), self._style())
                write_stdout(text if destination.shares else self._quoted(text))
            else:
                with written_file(destination.file) as stream:
                    stream.write(destination.format.render(report, Style()))
            if destination.format.beside is not None:
                self.note(destination.format.beside(report))
        if self.on_stdout is None:
            self.note(render_text([b for b in report.blocks if isinstance(b, Verdict)][:1], Style()).rstrip())
        return report.exit_code

    @contextlib.contextmanager
    def streaming(self) -> Iterator[Callable[[Any, Line], None]]:
        """Gives a function that writes one answer everywhere at once, flushed, in every wanted form.

        Raises:
            UsageError: a file cannot be written, or a format takes no single answers.
        """
        with contextlib.ExitStack() as stack:
            sinks: list[tuple[Rows, Callable[[str], object]]] = []
            for wanted in self.destinations:
                if wanted.format.rows is None:
                    raise UsageError(
                        f"{wanted.format.id} tells a whole report, and here answers come one by one.",
                        fix=f"Take one of {', '.join(row.id for row in FORMATS.values() if row.rows)}.",
                    )
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
    """UTF-8 whatever the locale says; a lone surrogate goes out as its JSON escape.

    Raises:
        UsageError: it cannot be written, on a full disk for one.
        BrokenPipeError: its reader went away.
    """
    if sys.stdout is None:
        raise UsageError("Standard output is closed.", fix="Give --out FILE, or send it to /dev/null.")
    stream = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    if stream is None:
        sys.stdout.write(text)
        return
    with _refused("Standard output"):
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
        with _refused(path):
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                yield stream
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(0o666 & ~umask)
            Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _refused(place: Path | str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        fix = "Give --out a file in a folder that is there and yours."
        if error.errno in _NO_ROOM:
            fix = "Make room there, or write elsewhere; nothing of it was kept."
        raise UsageError(f"{place} cannot be written: {reason}.", fix=fix) from None


_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
