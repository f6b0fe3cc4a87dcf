"""How the commands compare: the reading, the ceiling and the second opinion that a command line asks for."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Final

from governance.comparing import DEFAULT_CEILING_SEC, Comparer
from governance.core.compat.engine import Settings
from governance.core.compat.model import Reading
from governance.opinion import CoversWorker

_DEFAULT_MS: Final = round(DEFAULT_CEILING_SEC * 1000)
_MOST_MS: Final = 3_600_000


def add_comparing(parser: argparse.ArgumentParser) -> None:
    """``--reading``, ``--assert-formats``, ``--ceiling-ms``, ``--no-second-opinion``, alike everywhere."""
    parser.add_argument(
        "--reading",
        choices=("default", "strict"),
        default="default",
        help="default: senders send declared fields, readers ignore unknown ones; strict: both as written",
    )
    parser.add_argument("--assert-formats", action="store_true", help="treat format as a constraint")
    parser.add_argument(
        "--ceiling-ms",
        metavar="MS",
        type=_milliseconds,
        default=_DEFAULT_MS,
        help=f"longest time for one pair, then undecided (default: {_DEFAULT_MS}; 0: the step budget alone)",
    )
    parser.add_argument(
        "--no-second-opinion",
        action="store_true",
        help="do not ask jsonschema-rs to prove what stays undecided (or, strictly read, to confirm)",
    )


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The engine's settings that a command line asks for."""
    return Settings(reading=Reading(arguments.reading), assert_formats=arguments.assert_formats)


@contextlib.contextmanager
def comparer_of(arguments: argparse.Namespace) -> Iterator[Comparer]:
    """The comparer that a command line asks for; its worker is gone after the block."""
    ceiling = arguments.ceiling_ms / 1000 or None
    if arguments.no_second_opinion:
        yield Comparer(ceiling_sec=ceiling)
        return
    with contextlib.closing(CoversWorker(assert_formats=arguments.assert_formats)) as opinion:
        yield Comparer(ceiling_sec=ceiling, opinion=opinion)


def _milliseconds(text: str) -> int:
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else -1
    if not 0 <= value <= _MOST_MS:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number of milliseconds up to {_MOST_MS}")
    return value
