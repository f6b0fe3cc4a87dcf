"""The payloads that separate two contracts: each with its code, who accepts it, who refuses it and why.

OLD and NEW are what `diff` takes. FINGERPRINT (or its beginning) picks one finding. With --in the payloads come
from a report instead: a file that `diff` or `check` wrote as JSON, or a stored check (chk_…) of the registry.
--export jsonl writes one payload a line; --export pytest writes a file of tests that passes as it is, holds both
schemas and needs only pytest and jsonschema-rs. Both go to --out FILE, else to standard output. A payload that needs
a value marked x-sensitive is left out of both, and named.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from governance.cli.comparing import add_comparing, comparer_of, settings_of
from governance.cli.output import json_text, write_stdout, written_file
from governance.cli.report import Block, Report, Verdict
from governance.cli.run import Call
from governance.cli.witnesses import Shown, from_pairs, from_report, named, undecided_without
from governance.core.compat.model import Comparison, Side
from governance.core.compat.model import Verdict as Word
from governance.errors import UsageError

EXPORTS: Final = ("jsonl", "pytest")
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{4,16}")
_CHECK: Final = re.compile(r"chk_[0-9a-f]{24}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", default=[], metavar="[FINGERPRINT] OLD NEW", help="two contracts, as diff takes them"
    )
    parser.add_argument("--in", dest="report", metavar="REPORT", help="a JSON report, or the id of a stored check")
    parser.add_argument("--side", choices=("input", "output"), help="OLD and NEW are bare schemas of this side")
    add_comparing(parser)
    parser.add_argument("--export", choices=EXPORTS, help="write the payloads for other programs, or as tests")
    parser.add_argument("--namespace", help="prefix for the names of imported tools")
    parser.add_argument("--old-version", metavar="VERSION", help="the version of OLD, where it has none")
    parser.add_argument("--version", metavar="VERSION", help="the version of NEW, where it has none")


def run(call: Call) -> int:
    """0 whether there are payloads or not, 1 where a side is no contract, 2 for a FINGERPRINT that is not there."""
    arguments = call.arguments
    fingerprint, paths = _split(arguments.words, report=arguments.report)
    if arguments.report is not None:
        shown, invalid, open_ones = _reported(call), None, 0
    elif arguments.side:
        shown, invalid, open_ones = _of_schemas(call, *paths)
    else:
        shown, invalid, open_ones = _of_contracts(call, *paths)
    if fingerprint is not None:
        shown = named(shown, fingerprint)
    if arguments.export is not None and (shown or invalid is None):
        _export(call, shown)
        if invalid is not None:
            call.output.note(_verdict(shown, invalid, open_ones).sentence)
        return 0 if invalid is None else 1
    return call.output.emit(_report(shown, invalid, open_ones))


def _split(words: Sequence[str], *, report: str | None) -> tuple[str | None, list[str]]:
    """The fingerprint, if there is one, and the two paths, if there should be."""
    wanted = 0 if report is not None else 2
    if len(words) == wanted:
        return None, list(words)
    if len(words) == wanted + 1:
        if not _FINGERPRINT.fullmatch(words[0]):
            raise UsageError(
                f"{words[0][:80]!r} is no fingerprint.",
                fix="A fingerprint is 16 hex digits, as `diff -o json` shows them; 4 or more of its first will do.",
            )
        return words[0], list(words[1:])
    raise UsageError(
        f"witness takes {'at most a FINGERPRINT beside --in' if report else '[FINGERPRINT] OLD NEW'}, "
        f"not {len(words)} words.",
        fix="`govctl witness OLD NEW`, or `govctl witness FINGERPRINT --in REPORT`.",
    )


_Found = tuple[list[Shown], Comparison | None, int]
"""The payloads, a comparison that is invalid, and how many are undecided."""


def _of_schemas(call: Call, one: str, other: str) -> _Found:
    from governance.cli.sources import read_value

    old, new = read_value(one), read_value(other)
    with comparer_of(call.arguments) as comparer:
        comparison = comparer.check_schemas(
            old, new, side=Side(call.arguments.side), settings=settings_of(call.arguments)
        )
    shown = [
        Shown(skill="", finding=finding.to_document(), old=old, new=new)
        for finding in comparison.findings
        if finding.witness is not None
    ]
    invalid = comparison if comparison.verdict is Word.INVALID else None
    return shown, invalid, int(comparison.verdict is Word.UNDECIDED)


def _of_contracts(call: Call, one: str, other: str) -> _Found:
    from governance.cli.pairing import pair_up
    from governance.cli.sources import Reader

    reader = Reader.of(call)
    old, new = reader.both(one, other, old_version=call.arguments.old_version, version=call.arguments.version)
    with comparer_of(call.arguments) as comparer:
        pairs = pair_up(old, new, compare=partial(comparer.check, settings=settings_of(call.arguments)))
    invalid = next((pair.comparison for pair in pairs if pair.comparison.verdict is Word.INVALID), None)
    return from_pairs(pairs, old, new), invalid, undecided_without(pairs)


def _reported(call: Call) -> list[Shown]:
    report = call.arguments.report
    if Path(report).exists() or not _CHECK.fullmatch(report):
        return from_report(_read(report))
    from governance.cli.config import require_connection

    with require_connection(call.arguments, call.environment).open() as plane:
        return from_report(plane.get_check(report).decisions)


def _read(path: str) -> Any:
    """One JSON document, or the documents of a file with one a line."""
    from governance.cli.batch import bounded_lines
    from governance.cli.sources import read_value
    from governance.core.document import read_json

    if Path(path).suffix.lower() not in (".jsonl", ".ndjson"):
        return read_value(path)
    try:
        with Path(path).open("rb") as stream:
            return [read_json(line, file=path) for _, line in bounded_lines(stream)]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}.", fix="Give a readable report.") from None


def _report(shown: Sequence[Shown], invalid: Comparison | None, open_ones: int) -> Report:
    documents = [one.to_document() for one in shown]
    blocks: list[Block] = [_verdict(shown, invalid, open_ones), *(one.change() for one in shown)]
    return Report(
        document={"witnesses": documents},
        blocks=tuple(blocks),
        records=documents,
        exit_code=0 if invalid is None else 1,
    )


def _verdict(shown: Sequence[Shown], invalid: Comparison | None, open_ones: int) -> Verdict:
    if invalid is not None:
        sentence = f"the {invalid.invalid_side} side is no contract: {(invalid.reason or '').removesuffix('.')}."
        return Verdict(word="invalid", sentence=sentence, tone="bad")
    count = f"{len(shown)} payload{'' if len(shown) == 1 else 's'}" if shown else "no payload"
    rest = f"; {open_ones} undecided, where none was found" if open_ones else ""
    breaking = any(one.finding["level"] == "breaking" for one in shown)
    tone = "bad" if breaking else "warn" if open_ones else "good"
    return Verdict(word="witness", sentence=f"{count} accepted by one side and refused by the other{rest}.", tone=tone)


def _export(call: Call, shown: Sequence[Shown]) -> None:
    """Write the export, whole or not at all, to the one --out or to standard output."""
    if any(flag == "-o" for flag, _ in call.arguments.reports):
        raise UsageError("--export is a format of its own.", fix="Leave -o out, or leave --export out.")
    files = [value for _, value in call.arguments.reports]
    if len(files) > 1:
        raise UsageError("An export goes to one --out.", fix="Give --out once.")
    told = [one for one in shown if not one.hides]
    if call.arguments.export == "pytest":
        text = _tests(call, shown, told)
    else:
        text = "".join(json_text(one.to_document()) + "\n" for one in told)
    for one in shown:
        if one.hides:
            call.output.note(f"{one.finding['fingerprint']} is left out: its payload needs a value marked x-sensitive.")
    if not files or files[0] == "-":
        write_stdout(text)
        return
    with written_file(Path(files[0])) as stream:
        stream.write(text)
    call.output.note(f"{len(told)} payload{'' if len(told) == 1 else 's'} written to {files[0]}.")


def _tests(call: Call, shown: Sequence[Shown], told: Sequence[Shown]) -> str:
    from governance.cli.pytest_file import pytest_file

    if not all(one.has_schemas for one in shown):
        raise UsageError(
            "A report holds no schemas, and a file of tests needs both.",
            fix="Give OLD and NEW instead of --in, or --export jsonl.",
        )
    if not shown:
        raise UsageError("There is no payload to test with.", fix="Nothing separates the two; no test is needed.")
    if not told:
        raise UsageError(
            "Every payload needs a value marked x-sensitive, and none is written down.",
            fix="Write such a test by hand, with a value of your own; `govctl witness` says where each belongs.",
        )
    text, left_out = pytest_file(shown, assert_formats=call.arguments.assert_formats)
    for one in (one for one in left_out if not one.hides):
        call.output.note(f"{one.finding['fingerprint']} is left out: its payload does not survive being written down.")
    return text
