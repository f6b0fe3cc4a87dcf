"""That the tests of a contract ran, and how they ended: record, list. High-risk skills are not ready without it.

record takes NAME@VERSION of the registry, or paths: every skill in them was tested, as it is, published or not yet.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from governance.cli.cards import document, well_formed
from governance.cli.config import require_connection
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.errors import UsageError
from governance.importers import import_paths
from governance.wire import Attestation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("record", "list"), help="what to do")
    parser.add_argument("subjects", nargs="+", metavar="PATH|NAME@VERSION", help="record: what was tested; list: NAME")
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    parser.add_argument("--passed", type=int, metavar="N", help="record: tests that passed")
    parser.add_argument("--failed", type=int, metavar="N", default=0, help="record: tests that failed (default: 0)")
    parser.add_argument("--source", help="record: where to look it up, such as the address of a build")


def run(call: Call) -> int:
    """0 on record, 2 there is no such skill."""
    wanted = call.arguments
    if wanted.action == "record" and wanted.passed is None:
        raise UsageError("How many tests passed?", fix="Add --passed N.")
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        if wanted.action == "list":
            found = [one for name in wanted.subjects for one in plane.attestations(name)]
            return call.output.emit(_report(found, "test runs", f"{counted(len(found), 'test run')}."))
        made = [
            plane.put_attestation(name, digest, passed=wanted.passed, failed=wanted.failed, source=wanted.source)
            for name, digest in _tested(plane, wanted)
        ]
        ended = f"{wanted.passed} passed, {wanted.failed} failed"
        return call.output.emit(_report(made, "on record", f"{counted(len(made), 'contract')}: {ended}."))


def _tested(plane: ControlPlane, wanted: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The name and the contract's digest of each skill."""
    paths = [word for word in wanted.subjects if Path(word).exists()]
    for word in wanted.subjects:
        name, at, version = word.partition("@")
        if word not in paths:
            if not at or not version:
                raise UsageError(f"There is no file {word!r}, and it names no version.", fix="Write NAME@VERSION.")
            found = plane.get_version(name, version)
            yield found.name, found.contract_digest
    read = import_paths([Path(path) for path in paths], namespace=wanted.namespace) if paths else None
    if read is not None and read.refused:
        raise read.refused[0].error
    for manifest in read.accepted if read is not None else ():
        yield manifest.name, manifest.contract_digest


def _report(found: Sequence[Attestation], word: str, sentence: str) -> Report:
    documents = [document(one) for one in found]
    blocks: list[Block] = [Verdict(word=word, sentence=sentence, tone="good" if word == "on record" else "plain")]
    if found:
        rows = tuple(
            (
                one.skill,
                one.contract_digest.removeprefix("sha256:")[:12],
                str(one.passed),
                str(one.failed),
                f"{one.recorded_at:%Y-%m-%d %H:%M}",
                one.source or "",
            )
            for one in found
        )
        blocks.append(Table(columns=("skill", "contract", "passed", "failed", "recorded", "source"), rows=rows))
    return Report(document={"attestations": documents}, blocks=tuple(blocks), records=documents)
