"""The file of a lint baseline: read with every fault at its line, written so that two branches merge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from governance.cli.exact import dumps
from governance.cli.output import written_file
from governance.cli.sources import read_document
from governance.cli.terminal import escaped_json
from governance.core.lint import LINTS
from governance.core.lint.baseline import Baseline, read_baseline, to_document
from governance.errors import MalformedDocument, UsageError

_MAX_FAULTS = 20


def load_baseline(file: str) -> Baseline:
    """The baseline a file holds.

    Raises:
        UsageError: there is no such file.
        MalformedDocument: it is no baseline; every fault with its line.
    """
    if not Path(file).exists():
        fix = f"`govctl lint PATH --write-baseline {file}` records what is there now."
        raise UsageError(f"There is no baseline {file!r}.", fix=fix)
    document = read_document(file)
    baseline, faults = read_baseline(document.value, LINTS)
    if faults:
        located = [replace(fault, place=document.locate(fault.pointer)) for fault in faults[:_MAX_FAULTS]]
        raise MalformedDocument(
            f"{file} is no lint baseline: {located[0].message}.",
            fix="Correct the lines named, or write the baseline again with --write-baseline.",
            faults=located,
        )
    return baseline


def save_baseline(file: str, baseline: Baseline) -> None:
    """One entry a line. Raises UsageError where the file cannot be written."""
    whole = to_document(baseline)
    entries = ",\n".join(f"  {escaped_json(dumps(entry))}" for entry in whole["entries"])
    text = f'{{"lint_baseline": {whole["lint_baseline"]}, "entries": [\n{entries}\n]}}\n'
    with written_file(Path(file)) as stream:
        stream.write(text)
