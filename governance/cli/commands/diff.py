"""What changed between two contracts, each break with the payload that shows it.

OLD and NEW are files, folders, git:REF or git:REF:PATH, or NAME@VERSION of the registry; with --side they are
bare JSON Schemas. --batch reads {"id", "old", "new"} a line ("-" is standard input) and answers line by line.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import IO, Any

from governance.cli.cases import Subject, comparison_cases
from governance.cli.comparing import add_comparing, comparer_of, settings_of
from governance.cli.formats import Line
from governance.cli.present import TONES, comparison_changes, comparison_verdict
from governance.cli.report import Block, Report
from governance.cli.run import Call
from governance.cli.terminal import is_terminal, progress
from governance.comparing import Comparer
from governance.core.compat.engine import Settings
from governance.core.compat.model import Comparison, Side
from governance.errors import Place, UsageError

JUDGES = True
FAILING = {
    "risky": {"invalid", "breaking", "undecided", "risky"},
    "undecided": {"invalid", "breaking", "undecided"},
    "breaking": {"invalid", "breaking"},
    "never": set[str](),
}
"""By the mildest verdict that fails, all that do."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", default=[], metavar="OLD NEW", help="two contracts, or batch files with --batch"
    )
    parser.add_argument("--batch", action="store_true", help="each FILE holds one pair a line; - is standard input")
    parser.add_argument("--side", choices=("input", "output"), help="OLD and NEW are bare schemas of this side")
    add_comparing(parser)
    parser.add_argument(
        "--fail-on",
        choices=tuple(FAILING),
        default="undecided",
        help="the mildest verdict that fails the run (default: undecided; a batch never fails by verdict)",
    )
    parser.add_argument("--namespace", help="prefix for the names of imported tools")
    parser.add_argument("--old-version", metavar="VERSION", help="the version of OLD, where it has none")
    parser.add_argument("--version", metavar="VERSION", help="the version of NEW, where it has none")


def run(call: Call) -> int:
    """0 pass, 1 failed, 3 undecided alone, 7 a line of a batch could not be read."""
    arguments = call.arguments
    settings = settings_of(arguments)
    with comparer_of(arguments) as comparer:
        if arguments.batch:
            return _batch(call, settings, comparer)
        if len(arguments.paths) != 2:
            raise UsageError(
                f"diff takes OLD and NEW, not {len(arguments.paths)} words.",
                fix="Give two contracts, or --batch with files of pairs.",
            )
        report = _schemas if arguments.side else _contracts
        return call.output.emit(report(call, settings, comparer))


def _schemas(call: Call, settings: Settings, comparer: Comparer) -> Report:
    from governance.cli.sources import read_document

    old, new = (read_document(path) for path in call.arguments.paths)
    side = Side(call.arguments.side)
    comparison = comparer.check_schemas(old.value, new.value, side=side, settings=settings)
    document = comparison.to_document()
    blocks: list[Block] = [
        comparison_verdict(document, f"{side.value} schema"),
        *comparison_changes(document),
    ]
    named = old if comparison.invalid_side == "old" else new
    subject = Subject(skill=f"{side.value} schema", locate=named.locate, origin=Place(file=named.file), bare=True)
    fail_on = call.arguments.fail_on
    return Report(
        document=document,
        blocks=tuple(blocks),
        exit_code=exit_code([comparison], fail_on),
        cases=comparison_cases(document, subject, fails=FAILING[fail_on]),
    )


def _contracts(call: Call, settings: Settings, comparer: Comparer) -> Report:
    from governance.cli.pairing import pair_cases, pair_up, pairs_report
    from governance.cli.sources import Reader

    reader = Reader.of(call)
    one, other = call.arguments.paths
    old, new = reader.both(one, other, old_version=call.arguments.old_version, version=call.arguments.version)
    pairs = pair_up(old, new, compare=partial(comparer.check, settings=settings))
    code = exit_code([pair.comparison for pair in pairs], call.arguments.fail_on)
    cases = pair_cases(pairs, old, new, fails=FAILING[call.arguments.fail_on])
    return pairs_report(pairs, exit_code=code, cases=cases)


def exit_code(comparisons: list[Comparison], fail_on: str) -> int:
    """1 for a verdict as bad as ``fail_on``; 3 when undecided ones are all that fails."""
    found = {comparison.verdict.value for comparison in comparisons} & FAILING[fail_on]
    if not found:
        return 0
    return 3 if found == {"undecided"} else 1


def _batch(call: Call, settings: Settings, comparer: Comparer) -> int:
    from governance.cli.batch import Pairs

    files = call.arguments.paths
    if not files:
        raise UsageError("--batch needs at least one file.", fix="Give FILE.jsonl, or - for standard input.")
    side = Side(call.arguments.side) if call.arguments.side else None
    pairs = Pairs(settings=settings, comparer=comparer, side=side)
    counts: Counter[str] = Counter()
    bad = 0
    silent = call.output.quiet or is_terminal(sys.stdout)  # answers that scroll by are progress enough
    with call.output.streaming() as put, progress("comparing", _total(files), quiet=silent) as bar:
        for file in files:
            with _opened(file) as stream:
                for answer in pairs.answers(stream, file=file if len(files) > 1 else None):
                    counts["bad" if answer.bad else answer.document["verdict"]] += 1
                    bad += answer.bad
                    put(answer.document, _line(answer.document))
                    bar.advance(answer.size)
    call.output.note(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()) or "no pairs")
    return 7 if bad else 0


def _line(document: dict[str, Any]) -> Line:
    first = next(iter(document.get("findings") or [{}]))
    place = f"line {document['line']}" if "line" in document else ""
    why = document.get("error") or document.get("reason") or first.get("message", "")
    identity = "-" if document["id"] is None else str(document["id"])
    cells = (identity, place, document.get("bump", ""), first.get("code", ""), why)
    return Line(word=document["verdict"], tone=TONES[document["verdict"]], cells=cells)


def _total(files: list[str]) -> int | None:
    """Bytes to read, or None where that cannot be known."""
    try:
        return None if "-" in files else sum(Path(file).stat().st_size for file in files)
    except OSError:
        return None


def _opened(file: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    if file == "-":
        return contextlib.nullcontext(sys.stdin.buffer)
    try:
        return Path(file).open("rb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{file} cannot be read: {reason}.", fix="Give a readable file of pairs.") from None
