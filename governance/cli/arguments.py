"""Command lines: strict, no guessed abbreviations, the nearest valid word when one is unknown."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from governance.cli.formats import FORMATS
from governance.errors import UsageError

_LEADING_WITH_VALUE = {"-o", "--out", "--server", "--token", "--config", "--timeout"}
_LEADING_ALONE = {"--quiet", "-q", "--no-color"}
_ESCAPE = "\x00"


class Parser(argparse.ArgumentParser):
    """argparse that raises UsageError instead of ending the process."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (.*)", message, re.DOTALL)
        if unknown:
            word = unknown.group(1).split()[0].split("=")[0] if unknown.group(1).split() else "''"
            raise UsageError(f"`{self.prog}` does not know {word!r}.", fix=self._nearest(word))
        raise UsageError(f"`{self.prog}`: {message}.", fix=f"`{self.prog} --help` shows how it is called.")

    def _nearest(self, word: str) -> str:
        known = [flag for flag in self._option_string_actions if flag.startswith("--")]
        near = get_close_matches(word, known, n=1, cutoff=0.5) if word.startswith("-") else []
        help_hint = f"`{self.prog} --help` lists all."
        return f"Did you mean {near[0]}? {help_hint}" if near else help_hint


class _Append(argparse.Action):
    """Keeps -o and --out in the order they were given, which is how they pair."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        flag = "--out" if self.dest == "out" else "-o"
        namespace.reports = [*namespace.reports, (flag, values)]


def add_common(parser: argparse.ArgumentParser) -> None:
    """What every command takes: outputs, server and token, how talkative."""
    parser.set_defaults(reports=[])
    group = parser.add_argument_group("every command")
    group.add_argument(
        "-o",
        "--output",
        action=_Append,
        dest="output",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}; repeatable, each with its own --out",
    )
    group.add_argument("--out", action=_Append, dest="out", metavar="FILE", help="where the report before it goes")
    group.add_argument("--server", metavar="URL", help="the control plane (else GOVCTL_SERVER)")
    group.add_argument("--token", metavar="TOKEN", help="the token for it (else GOVCTL_TOKEN)")
    group.add_argument("--config", metavar="FILE", help="a TOML file with server, token, timeout_sec")
    group.add_argument("--timeout", metavar="SEC", type=seconds, help="longest wait for one answer")
    group.add_argument("-q", "--quiet", action="store_true", help="the verdict line alone, no progress")
    group.add_argument("--no-color", action="store_true", help="no colour (also: NO_COLOR)")


def split_command(argv: Sequence[str]) -> tuple[str | None, list[str]]:
    """The command word and its arguments; common flags may stand before the word."""
    leading: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word in _LEADING_WITH_VALUE and rest:
            leading += [word, rest.pop(0)]
        elif word in _LEADING_ALONE or (word.startswith("--") and word.split("=")[0] in _LEADING_WITH_VALUE):
            leading.append(word)
        else:
            return word, leading + rest
    return None, leading


def protect(argv: Sequence[str]) -> list[str]:
    """Let words such as ``->=1`` or ``-1`` pass as values: our flags all begin with a letter."""
    return [_ESCAPE + word if re.match(r"-(?![-a-zA-Z])", word) else word for word in argv]


def plain(word: str) -> str:
    """Undo :func:`protect`; the ``type`` of every positional argument of such a command."""
    return word.removeprefix(_ESCAPE)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value
