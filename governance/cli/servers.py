"""Running MCP servers as sources: ``mcp URL`` and ``mcp -- CMD ARG…`` stand wherever a command takes paths."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from governance.cli.exact import dumps
from governance.cli.output import written_file
from governance.cli.run import Call
from governance.cli.sources import existing
from governance.cli.terminal import one_line, progress
from governance.core.document import nowhere
from governance.core.parts import TOKEN
from governance.errors import Fault, Place, UsageError
from governance.importers import ImportResult, import_files, import_paths
from governance.live import DEFAULT_BOUNDS, Address, Command, Heard, Server, checked_address, read_server
from governance.live.isolation import environment_for

WORD: Final = "mcp"
"""The word before a URL or ``--`` that makes a server of what follows."""

SOURCES: Final = "files, or folders to walk; or a running MCP server: `mcp URL`, `mcp -- CMD ARG…`"

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_OWNER: Final = 200
_WHOLE: Final = DEFAULT_BOUNDS.whole_sec / DEFAULT_BOUNDS.answer_sec
_ONLY_STARTED: Final = ("empty_env", "env", "no_network", "cwd")
_ONLY_CALLED: Final = ("header", "header_env")


def add_servers(parser: argparse.ArgumentParser) -> None:
    """What may be said about a server that is read."""
    group = parser.add_argument_group("a running MCP server", "all of it stands before `--`")
    group.add_argument(
        "--empty-env", action="store_true", help="start it without our environment but PATH and the like"
    )
    group.add_argument(
        "--env", action="append", default=[], metavar="NAME[=VALUE]", help="give it this, or our own NAME; repeatable"
    )
    group.add_argument("--no-network", action="store_true", help="start it where no network is (Linux)")
    group.add_argument("--cwd", metavar="DIR", help="the folder to start it in")
    group.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'", help="for a URL; repeatable")
    group.add_argument(
        "--header-env",
        action="append",
        default=[],
        metavar="NAME=VARIABLE",
        help="a header whose value stands in an environment variable, so that no process list shows it",
    )


def server_of(call: Call, words: Sequence[str]) -> Server | None:
    """The server that ``words`` and the command after ``--`` name; None where they are paths.

    Raises:
        UsageError: half a server, or an option that does not fit it.
    """
    wanted = call.arguments
    command: list[str] | None = wanted.command
    server: Server | None = None
    if command is not None:
        if list(words) != [WORD]:
            raise UsageError(f"What stands before `--` is {' '.join(words)!r}.", fix="Write `mcp -- CMD ARG…`.")
        server = _command(call, command)
    elif len(words) == 2 and words[0] == WORD and _URL.fullmatch(words[1]):
        server = checked_address(Address(url=words[1], headers=tuple(_headers(call))))
    elif len(words) == 1 and _URL.fullmatch(words[0]) and not Path(words[0]).exists():
        raise UsageError(
            f"{words[0][:80]} is an address, not a path.", fix=f"A running MCP server: `{WORD} {words[0][:80]}`."
        )
    elif words[:1] == [WORD] and not Path(WORD).exists():
        raise UsageError("Which MCP server?", fix="Write `mcp URL`, or `mcp -- CMD ARG…`.")
    fitting = {Command: _ONLY_STARTED, Address: _ONLY_CALLED}.get(type(server), ())
    for name in (*_ONLY_STARTED, *_ONLY_CALLED):
        if getattr(wanted, name) and name not in fitting:
            flag = f"--{name.replace('_', '-')}"
            place = "a server that is started: `mcp -- CMD`" if name in _ONLY_STARTED else "a URL: `mcp URL`"
            raise UsageError(f"{flag} says nothing here.", fix=f"It is for {place}.")
    return server


def read_sources(
    call: Call, words: Sequence[str], *, namespace: str | None = None, version: str | None = None
) -> ImportResult:
    """The skills of paths, or of the running server that ``words`` name.

    Raises:
        UsageError: there is no such path, or the server cannot be asked as given.
        ToolServerFailed: it did not answer as one does.
        InvalidName, InvalidVersion: as for :func:`governance.importers.import_paths`.
    """
    server = server_of(call, words)
    if server is None:
        found = import_paths(existing(words), namespace=namespace, version=version)
    else:
        found = imported(ask(call, server), namespace=namespace, version=version)
    owner = getattr(call.arguments, "owner", None)
    return found if owner is None else found.owned(owner)


def some(found: ImportResult) -> ImportResult:
    """``found``, which holds a skill or what could not be read as one. Raises UsageError for nothing at all."""
    if not found.imported and not found.refused:
        raise UsageError("There is no skill in what was given.", fix="`govctl import PATH` says what was passed over.")
    return found


def add_owner(parser: argparse.ArgumentParser) -> None:
    """``--owner``: tool lists of others have no words for who answers for a tool."""
    parser.add_argument("--owner", type=_owner, metavar="TEAM", help="of the skills whose source names none")


def _owner(text: str) -> str:
    if len(text) > _MAX_OWNER or not TOKEN.fullmatch(text):
        raise argparse.ArgumentTypeError("an owner is one line of at most 200 characters, such as payments")
    return text


def ask(call: Call, server: Server, *, may_be_empty: bool = False) -> Heard:
    """What the server says, within the time of ``--timeout`` for each answer.

    Raises:
        UsageError: it offers nothing, where that says nothing.
        ToolServerFailed, AuthError: as for :func:`governance.live.read_server`.
    """
    seconds = call.arguments.timeout or DEFAULT_BOUNDS.answer_sec
    bounds = replace(DEFAULT_BOUNDS, answer_sec=seconds, whole_sec=_WHOLE * seconds)
    with progress(one_line(f"asking {server.label}", 60), None, quiet=call.output.quiet):
        heard = read_server(server, bounds=bounds)
    if not heard.tools and not may_be_empty:
        raise UsageError(f"{heard.label} offers no tool: its list is empty.", fix="Ask a server that has tools.")
    return heard


def imported(heard: Heard, *, namespace: str | None = None, version: str | None = None) -> ImportResult:
    """The skills of what was heard, exactly as if it had been saved and read again; there are no lines to name."""
    here = Place(file=heard.label)
    result = import_files([(heard.label, text_of(heard))], namespace=namespace, version=version)
    for refused in result.refused:
        refused.error.faults = tuple(replace(fault, place=None) for fault in refused.error.faults)
    warnings = [replace(warning, place=here) for warning in result.warnings]
    if heard.noise:
        lines = f"{heard.noise} line{' was' if heard.noise == 1 else 's were'} no message"
        message = f"on its standard output {lines}, and there are clients that end at that: {heard.first_noise}"
        warnings.append(Fault(pointer="", message=message, code="noise", place=here))
    return ImportResult(
        imported=tuple(replace(one, origin=here, locate=nowhere) for one in result.imported),
        refused=tuple(replace(one, origin=here) for one in result.refused),
        warnings=tuple(warnings),
    )


def save(heard: Heard, file: str) -> None:
    """Write a tool list that imports as the server does. Raises UsageError where it cannot be written."""
    with written_file(Path(file)) as stream:
        stream.write(text_of(heard) + "\n")


def text_of(heard: Heard) -> str:
    """The saved form."""
    return dumps(heard.document, indent=2)


def _command(call: Call, words: Sequence[str]) -> Command:
    if not words or not words[0]:
        raise UsageError(
            "There is no command after `--`.", fix="Write `mcp -- CMD ARG…`, as in `mcp -- python server.py`."
        )
    wanted = call.arguments
    environment = environment_for(call.environment, empty=wanted.empty_env, given=_given(call))
    return Command(argv=tuple(words), environment=environment, folder=wanted.cwd, no_network=wanted.no_network)


def _given(call: Call) -> Iterable[tuple[str, str]]:
    for text in call.arguments.env:
        name, equals, value = text.partition("=")
        if not _NAME.fullmatch(name) or "\0" in value:
            raise UsageError(f"--env {name[:40]!r} is no variable.", fix="Write --env NAME=VALUE, or --env NAME.")
        if equals:
            yield name, value
        else:
            yield name, _variable(call, name, flag="--env")


def _headers(call: Call) -> Iterable[tuple[str, str]]:
    for text in call.arguments.header:
        name, colon, value = text.partition(":")
        if not colon:
            raise UsageError(f"--header {text[:40]!r} is no header.", fix="Write --header 'Name: value'.")
        yield name.strip(), value.strip()
    for text in call.arguments.header_env:
        name, equals, variable = text.partition("=")
        if not equals:
            raise UsageError(f"--header-env {text[:40]!r} names no variable.", fix="Write --header-env NAME=VARIABLE.")
        yield name.strip(), _variable(call, variable, flag="--header-env").strip()


def _variable(call: Call, name: str, *, flag: str) -> str:
    value: Any = call.environment.get(name)
    if value is None:
        raise UsageError(f"{flag}: the environment has no {name[:60]!r}.", fix="Set it, or leave the flag out.")
    return str(value)
