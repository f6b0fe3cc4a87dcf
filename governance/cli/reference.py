"""Reference pages written from the code: the command line from its parsers, the codes from their tables.

``python -m governance.cli.reference DOCS`` brings ``cli.md`` and ``codes.md`` in a folder up to date; a test
fails until they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from governance.cli import COMMANDS
from governance.cli.arguments import Parser, add_common
from governance.cli.explanations import ERROR, FINDING, LINT, REASON, Explanation, explanations
from governance.cli.formats import FORMATS
from governance.cli.markdown import row
from governance.cli.run import build_parser, load_command
from governance.cli.unchecked import UNCHECKED

EXIT_CODES = (
    (0, "pass"),
    (1, "the gate, or what else was asked for, failed"),
    (2, "usage: the command line, a file or a name makes no sense"),
    (3, "undecided findings are all that blocks"),
    (4, "authentication or a right is missing"),
    (5, "the server or the network failed"),
    (6, "conflict: the version is taken, or somebody was faster"),
    (7, "part of a batch failed"),
    (130, "interrupted"),
)


def pages() -> dict[str, str]:
    """File name to Markdown."""
    return {"cli.md": "\n".join(_page()) + "\n", "codes.md": "\n".join(_codes()) + "\n"}


def _page() -> Iterator[str]:
    yield "# govctl"
    yield ""
    yield "Written from the code by `python -m governance.cli.reference docs`; do not edit by hand."
    yield ""
    yield "## Conventions"
    yield ""
    yield "The verdict stands in the first line. A path that exists wins over `NAME@VERSION`. An unknown flag, command"
    yield "or configuration key is an error that names the nearest valid one. Errors go to standard error with what to"
    yield "do next, and to standard output as a problem document (RFC 9457) where JSON was asked for."
    yield ""
    yield row(("exit code", "means"))
    yield row(("---", "---"))
    yield from (row((str(code), meaning)) for code, meaning in EXIT_CODES)
    yield ""
    yield row(("output format", "what it is"))
    yield row(("---", "---"))
    yield from (row((f"`{one.id}`", one.title)) for one in FORMATS.values())
    yield ""
    yield "`-o FORMAT` may be repeated, each with its own `--out FILE`: one run writes several reports. Files appear"
    yield "whole or not at all."
    yield ""
    yield row(("under `not_checked`", "what nobody looked at"))
    yield row(("---", "---"))
    yield from (row((f"`{word}`", meaning)) for word, meaning in UNCHECKED.items())
    yield ""
    yield "The control plane is found in `--server`, else `GOVCTL_SERVER`, else a config file (`--config`, else"
    yield "`GOVCTL_CONFIG`, else `~/.config/govctl/config.toml` with `server`, `token`, `timeout_sec`), else the"
    yield "`server.json` that `govctl serve` leaves in `GOVCTL_HOME`. A token goes only to the server of its own layer."
    yield ""
    yield "Every command takes:"
    yield ""
    common = Parser(prog="govctl", add_help=False)
    add_common(common)
    yield from _options(common, {})
    inherited = {action.dest: action for action in common._actions}
    for word in COMMANDS:
        module = load_command(word)
        parser = build_parser(word, module)
        yield ""
        yield f"## govctl {word}"
        yield ""
        yield " ".join((module.__doc__ or "").split())
        own = list(_options(parser, inherited))
        if own:
            yield ""
            yield from own
        if module.run.__doc__:
            yield ""
            yield f"Exit codes: {' '.join(module.run.__doc__.split())}"


def _codes() -> Iterator[str]:
    yield "# Codes"
    yield ""
    yield "Written from the code by `python -m governance.cli.reference docs`; do not edit by hand."
    yield "Codes are permanent; `govctl explain CODE` tells the same with an example."
    by_kind: dict[str, list[Explanation]] = {}
    for one in explanations().values():
        by_kind.setdefault(one.kind, []).append(one)
    for kind, heading in HEADINGS.items():
        labels = list(dict.fromkeys(label for one in by_kind[kind] for label, _ in one.facts))
        yield ""
        yield f"## {heading}"
        yield ""
        yield row(("code", "says", *labels))
        yield row("---" for _ in (*labels, "", ""))
        for one in by_kind[kind]:
            facts = dict(one.facts)
            yield row((f"`{one.code}`", _prose(one.title), *(_prose(facts.get(label, "")) for label in labels)))


HEADINGS = {FINDING: "Findings", LINT: "Lints", REASON: "Gate reasons", ERROR: "Errors"}
"""The tables of the page; the topics of ``govctl explain`` have pages of their own."""


def _options(parser: argparse.ArgumentParser, inherited: dict[str, argparse.Action]) -> Iterator[str]:
    shown = [action for action in parser._actions if action.dest not in inherited and action.dest != "help"]
    if not shown:
        return
    yield row(("argument", "meaning"))
    yield row(("---", "---"))
    for action in shown:
        yield row((f"`{_spelling(action)}`", _meaning(action)))


def _spelling(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    names = action.metavar or action.dest.upper()
    value = f"{names[0]} [{names[1]}]" if isinstance(names, tuple) else names
    if action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    flags = ", ".join(action.option_strings)
    more = " …" if action.nargs in ("+", "*") and not isinstance(names, tuple) else ""
    return f"{flags} {value}{more}".strip().replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    return _prose(action.help or "")


def _prose(text: str) -> str:
    """Our own words, in a cell of a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for name, text in pages().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
