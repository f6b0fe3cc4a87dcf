"""The reference of the command line, written from the parsers themselves; ``docs/cli.md`` is its output.

``python -m governance.cli.reference > docs/cli.md`` brings the page up to date; a test fails until it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from governance.cli import COMMANDS
from governance.cli.arguments import Parser, add_common
from governance.cli.markdown import row
from governance.cli.output import FORMATS
from governance.cli.run import build_parser, load_command

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


def reference() -> str:
    """The whole page as Markdown."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# govctl"
    yield ""
    yield "Written from the code by `python -m governance.cli.reference`; do not edit by hand."
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
    for word, line in COMMANDS.items():
        module = load_command(word)
        parser = build_parser(word, module)
        yield ""
        yield f"## govctl {word}"
        yield ""
        yield f"{line[0].upper()}{line[1:]}."
        yield ""
        yield " ".join((module.__doc__ or "").split())
        own = list(_options(parser, inherited))
        if own:
            yield ""
            yield from own
        if module.run.__doc__:
            yield ""
            yield f"Exit codes: {' '.join(module.run.__doc__.split())}"


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
    value = " ".join(names) if isinstance(names, tuple) else names
    if action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    flags = ", ".join(action.option_strings)
    more = " …" if action.nargs in ("+", "*") and not isinstance(names, tuple) else ""
    return f"{flags} {value}{more}".strip().replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    return (action.help or "").replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
