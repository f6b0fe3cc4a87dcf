"""One command line from words to exit code: dispatch, and the one place where an error is told."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from governance.cli.arguments import Parser, add_common, protect, split_command
from governance.cli.commands import COMMANDS
from governance.cli.output import Output, destinations, write_stdout
from governance.cli.problem import problem_lines
from governance.cli.terminal import clean
from governance.errors import GovernanceError, ServiceError, UsageError


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a command gets: its parsed arguments, the environment, and where its report goes."""

    arguments: argparse.Namespace
    environment: Mapping[str, str]
    output: Output


def run(argv: Sequence[str]) -> int:
    """Dispatch to a command's ``run(call) -> exit code``; every GovernanceError becomes its exit code.

    A command whose reports have cases says ``JUDGES = True``.
    """
    word, rest = split_command(argv)
    if word in (None, "help", "--help", "-h"):
        topic = next((other for other in rest if other in COMMANDS), None) if word == "help" else None
        if topic is None:
            write_stdout(overview())
            return 0 if word is not None else UsageError.exit_code
        word, rest = topic, ["--help"]
    output = Output()
    try:
        module = _command(word)
        parser = build_parser(word, module)
        rest, command = _with_command(module, rest)
        output = _early_output(parser, rest)
        if getattr(module, "VALUES_MAY_BEGIN_WITH_DASH", False):
            rest = protect(rest)
        # the flags of a server may stand between `mcp` and its URL; that kind of reading loses a `--`
        mixed = command_after(module) is not None and "--" not in rest
        arguments = parser.parse_intermixed_args(rest) if mixed else parser.parse_args(rest)
        arguments.command = command
        output = Output(
            destinations=destinations(arguments.reports),
            quiet=arguments.quiet,
            no_color=arguments.no_color,
        )
        if not getattr(module, "JUDGES", False):
            output.judges_nothing(word)
        call = Call(arguments=arguments, environment=os.environ, output=output)
        code: int = module.run(call)
    except GovernanceError as error:
        return tell(error, output)
    except SystemExit as ended:  # argparse after --help
        return int(ended.code or 0)
    return code


def build_parser(word: str, module: ModuleType) -> Parser:
    """The parser of one command, its own arguments first."""
    parser = Parser(prog=f"govctl {word}", description=module.__doc__)
    module.add_arguments(parser)
    add_common(parser)
    return parser


def load_command(word: str) -> ModuleType:
    """The module that holds a command."""
    name = "import_" if word == "import" else word.replace("-", "_")
    return importlib.import_module(f"governance.cli.commands.{name}")


def command_after(module: ModuleType) -> str | None:
    """``COMMAND_AFTER`` of a command: the word that must stand before the ``--`` after which a program is named;
    empty: none must; None: it starts no program."""
    return getattr(module, "COMMAND_AFTER", None)


def _with_command(module: ModuleType, rest: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The words of ours, and after ``--`` those of a program to be started, where the command starts one."""
    after = command_after(module)
    before = list(rest[: rest.index("--")]) if "--" in rest else None
    if after is None or before is None or (after and after not in before):
        return list(rest), None
    return before, list(rest[len(before) + 1 :])


def _command(word: str | None) -> ModuleType:
    if word in COMMANDS:
        return load_command(word)
    if word is not None and word.startswith("-"):
        raise UsageError(f"govctl does not know {word!r}.", fix="Flags follow a command; `govctl --help` lists them.")
    near = get_close_matches(word or "", COMMANDS, n=1, cutoff=0.5)
    hint = "`govctl --help` lists all commands."
    raise UsageError(
        f"govctl has no command {word!r}.", fix=f"Did you mean `govctl {near[0]}`? {hint}" if near else hint
    )


def _early_output(parser: Parser, rest: Sequence[str]) -> Output:
    """Where an error goes that is found while the rest of the line is still unread."""
    words = [part for word in rest for part in (word.split("=", 1) if word.startswith("--out") else [word])]
    flags = {"-o": "-o", "--output": "-o", "--out": "--out"}
    asked = [(flags[flag], value) for flag, value in itertools.pairwise(words) if flag in flags]
    with contextlib.suppress(UsageError):
        return Output(destinations=destinations(asked))
    return Output()


def tell(error: GovernanceError, output: Output) -> int:
    """The error on standard error, and in every wanted form that has a place for one."""
    with contextlib.suppress(OSError):
        print("\n".join(clean(line) for line in problem_lines(error)), file=sys.stderr, flush=True)
    with contextlib.suppress(UsageError):  # a place that cannot be written is told above, or less to the point
        output.problem(error)
    return error.exit_code


def tell_bug(error: Exception) -> int:
    """An error nobody foresaw: where it happened, for a report, without pages of trace."""
    frames = traceback.extract_tb(error.__traceback__)
    where = next((f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames) if "governance" in f.filename), "?")
    sentence = clean(f"{type(error).__name__}: {error}"[:500])
    with contextlib.suppress(OSError):
        print(f"error: this is a bug in govctl, at {where}: {sentence}", file=sys.stderr)
        print("  → Please report it with the command line and its input.", file=sys.stderr)
    return ServiceError.exit_code


def overview() -> str:
    """What ``govctl --help`` prints."""
    width = max(map(len, COMMANDS))
    return "\n".join(
        [
            "govctl: govern the skills (tools) of AI agents.",
            "",
            "usage: govctl COMMAND [ARGUMENTS]; `govctl COMMAND --help` tells more",
            "",
            *_rows(width),
            "",
            "exit codes: 0 pass, 1 gate failed, 2 usage, 3 undecided alone blocks, 4 auth,",
            "            5 server or network, 6 conflict, 7 part of a batch failed",
            "",
        ]
    )


def _rows(width: int) -> Iterator[str]:
    yield from (f"  {word.ljust(width)}  {line}" for word, line in COMMANDS.items())
