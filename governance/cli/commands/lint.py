"""What makes a skill hard to route, to call or to trust. Errors fail the run, warnings do not.

--profile adds what a client refuses: openai, anthropic, gemini, mcp. A warning is silenced where it stands by a
comment, `govctl: ignore[id] reason` after `#` in YAML, TOML and front matter or in `<!-- -->` in Markdown, and old
ones by --baseline, which JSON sources need, too, having no comments. Errors are silenced by nothing.
"""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from governance.cli.lint_baseline import load_baseline, save_baseline
from governance.cli.lint_report import Book, lint_report
from governance.cli.linting import lint_sources
from governance.cli.run import Call
from governance.cli.servers import SOURCES, WORD, add_owner, add_servers, read_sources, some
from governance.core.lint import CLIENTS, LINTS, Severity
from governance.errors import UsageError

JUDGES = True
COMMAND_AFTER = WORD


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=SOURCES)
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    add_owner(parser)
    parser.add_argument("--profile", action="append", default=[], choices=tuple(CLIENTS), help="a client; repeatable")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="these lints alone; repeatable")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "never"), default="error", help="the mildest that fails"
    )
    known = parser.add_mutually_exclusive_group()
    known.add_argument("--baseline", metavar="FILE", help="warnings that are known: only new ones count")
    known.add_argument("--write-baseline", metavar="FILE", help="record the warnings of now in FILE")
    parser.add_argument("--prune", action="store_true", help="take out of --baseline what is found no longer")
    add_servers(parser)


def run(call: Call) -> int:
    """0 when nothing of the severity that fails was found, else 1."""
    wanted = call.arguments
    _check_flags(wanted)
    old = load_baseline(wanted.baseline) if wanted.baseline else None
    result = some(read_sources(call, wanted.paths, namespace=wanted.namespace))
    recording = wanted.write_baseline is not None
    linted = lint_sources(result, profiles=wanted.profile, only=wanted.only, baseline=old, recording=recording)
    if recording:
        save_baseline(wanted.write_baseline, linted.recorded)
    elif wanted.prune and old is not None:
        save_baseline(wanted.baseline, old - linted.stale)
    failing = {"error": {Severity.ERROR}, "warning": set(Severity), "never": set[Severity]()}[wanted.fail_on]
    file = wanted.baseline or wanted.write_baseline
    book = Book(file=file, written=recording, pruned=wanted.prune) if file else None
    return call.output.emit(lint_report(linted, result, failing=failing, book=book))


def _check_flags(wanted: argparse.Namespace) -> None:
    """Raises UsageError for words that make no sense."""
    for unknown in set(wanted.only) - LINTS.keys():
        near = get_close_matches(unknown, LINTS, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(f"There is no lint {unknown!r}.", fix=f"{hint}`govctl explain` lists all.")
    if wanted.prune and not wanted.baseline:
        raise UsageError("--prune takes entries out of a baseline, and none is given.", fix="Add --baseline FILE.")
