"""Which server is asked, within which bounds, and what it said."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from governance.errors import UsageError

_MEBIBYTE: Final = 1024 * 1024
_LONGEST_LABEL: Final = 120
_SECRET: Final = re.compile(r"key|token|secret|passw|auth|credential", re.IGNORECASE)
_HIDDEN: Final = "..."
_FIELD_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A server to be started, which talks over its standard input and output."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    """Everything it is given; nothing is inherited beside."""
    folder: str | None = None
    """Where it runs; None: here."""
    no_network: bool = False
    """It runs in a network namespace of its own, where nothing is reachable."""

    @property
    def label(self) -> str:
        """What messages and places call it; what looks like a secret on its command line is left out."""
        return _short(f"mcp:{shlex.join(_without_secrets(self.argv))}")


@dataclass(frozen=True, kw_only=True)
class Address:
    """A server that runs somewhere and speaks streamable HTTP."""

    url: str = field(repr=False)
    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """The address without what may be secret in it: user, password, query."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return _short(urlunsplit((parts.scheme, host, parts.path, "", "")))


def checked_address(address: Address) -> Address:
    """``address`` if it can be asked.

    Raises:
        UsageError: no http or https, no host, or a header that is none.
    """
    try:
        parts = urlsplit(address.url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or not address.url.isprintable() or " " in address.url:
        raise UsageError(
            f"{address.url[:80]!r} is not the address of an MCP server.", fix="Give it as http://… or https://…."
        )
    for name, value in address.headers:
        if not _FIELD_NAME.fullmatch(name) or not value.isascii() or not value.isprintable():
            raise UsageError(f"The header {name[:40]!r} cannot be sent.", fix="Give it as 'Name: value', on one line.")
    return address


Server: TypeAlias = Command | Address


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much of a server is borne."""

    answer_sec: float = 30.0
    """The longest wait for one answer."""
    whole_sec: float = 150.0
    """The longest time for everything."""
    answer_bytes: int = 16 * _MEBIBYTE
    """One message, and all answers with tools together: what a saved tool list may have."""
    heard_bytes: int = 64 * _MEBIBYTE
    """Everything it says, noise included."""
    pages: int = 1_000
    tools: int = 10_000
    readings: int = 4
    """How often a list that changes while it is read is begun anew."""


DEFAULT_BOUNDS: Final = Bounds()


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What a server said: its tools in its order, every value as it was sent."""

    label: str
    server: Mapping[str, Any]
    """``serverInfo``: name and version, if it has them."""
    protocol: str
    tools: Sequence[Any]
    pages: int
    noise: int = 0
    """Lines on its standard output that were no messages."""
    first_noise: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The same as one ``tools/list`` result, the way it is saved and imported. Nothing in it depends on who
        asked, so that two saved files differ only where the server does."""
        named = {"serverInfo": dict(self.server)} if self.server else {}
        return {**named, "tools": list(self.tools)}


def _without_secrets(argv: Sequence[str]) -> Iterator[str]:
    hide = False
    for word in argv:
        flag, equals, _ = word.partition("=")
        secret = _SECRET.search(flag) is not None and (flag.startswith("-") or bool(equals))
        yield _HIDDEN if hide else f"{flag}={_HIDDEN}" if secret and equals else word
        hide = secret and not equals and not hide


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
