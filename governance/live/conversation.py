"""One conversation with a server: what was heard, how much of it, and the first thing that went wrong.

The SDK reads the same bytes, but forgivingly: numbers are rounded, of two equal keys one is lost, and a single
odd tool hides all. So each answer is read here as well, and this reading counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from governance.core.document import Limits, read_json
from governance.errors import GovernanceError, MalformedDocument, ToolServerFailed
from governance.live.model import Bounds, Heard, Server

_SAMPLE: Final = 120
_ASK: Final = "Ask those who keep the server, or look at what it logs."
_SPLIT: Final = "Offer fewer or smaller tools, or split the server."


class Manner(StrEnum):
    """How a session begins; the words are the SDK's.

    Every server in use knows the handshake; what answers it with "unknown" is asked again in the new way.
    """

    HANDSHAKE = "legacy"
    DISCOVER = "auto"


class NoHandshake(Exception):
    """The server does not know the handshake."""


@dataclass(kw_only=True)
class Conversation:
    """``stop`` ends the conversation from wherever it is called; the failure says why."""

    server: Server
    bounds: Bounds
    manner: Manner = Manner.HANDSHAKE
    failure: GovernanceError | None = None
    stage: str = "initialize"
    """The request that is open."""
    status: int | None = None
    """The HTTP status of the request that is open, where it was no success."""
    closed: bool = False
    """A started server closed its output: it ended, or is about to."""
    noise: int = 0
    first_noise: str = ""
    result: Any = None
    """The result of the request that is open, once it has come."""
    heard: Heard | None = None
    """What the server said, once it has said all."""
    stop: Callable[[], None] = field(default=lambda: None)
    _asked: str | None = None
    _heard: int = 0
    _listed: int = 0

    def ask(self, stage: str) -> None:
        """The next result that belongs to a request of ours is the one of ``stage``."""
        self.stage, self.result, self._asked = stage, None, None

    def asked(self, request_id: object) -> None:
        """The request went out under this number."""
        self._asked = str(request_id)

    def count(self, size: int) -> None:
        """So many bytes came. Raises ToolServerFailed past the bound."""
        self._heard += size
        if self._heard > self.bounds.heard_bytes:
            raise self.refuse(f"sent more than {_mebibytes(self.bounds.heard_bytes)} MiB", fix=_SPLIT)

    def too_long(self) -> GovernanceError:
        """One message is past the bound."""
        return self.refuse(
            f"answered `{self.stage}` with more than {_mebibytes(self.bounds.answer_bytes)} MiB", fix=_SPLIT
        )

    def take(self, text: bytes, *, ours: bool = False) -> Any | None:
        """One message, read strictly; None where it is none and counts as noise.

        ``ours``: whatever result it holds belongs to our request, whichever number it bears.

        Raises:
            ToolServerFailed: it is meant for a message and cannot be read.
        """
        if len(text) > self.bounds.answer_bytes:
            raise self.too_long()
        try:
            value = read_json(text, limits=Limits(size=self.bounds.answer_bytes))
        except GovernanceError as error:
            if not ours and b'"jsonrpc"' not in text:
                self.hear_noise(text)
                return None
            what = error.message.removesuffix(".") if isinstance(error, MalformedDocument) else "it is past a limit"
            raise self.refuse(
                f"answered `{self.stage}` with what cannot be read: {what}",
                fix="Correct the server; it should send JSON in UTF-8, each key once.",
                faults=error.faults,
            ) from None
        if not isinstance(value, dict) or "jsonrpc" not in value:
            self.hear_noise(text)
            return None
        answers = ours or (self._asked is not None and str(value.get("id")) == self._asked)
        if answers and "method" not in value:
            self._keep(value, len(text))
        if isinstance(value.get("error"), dict) and value.get("id") is None:
            raise self.refuse(f"answered `{self.stage}` with an error: {told(value['error'].get('message'))}")
        return value

    def hear_noise(self, text: bytes) -> None:
        """What a server prints beside its messages is borne, and told."""
        if not self.noise:
            self.first_noise = told(text[:_SAMPLE].decode("utf-8", "backslashreplace"))
        self.noise += 1

    def refuse(self, complaint: str, *, fix: str = "", faults: Sequence[Any] = ()) -> GovernanceError:
        """Stop here: ``complaint`` continues the sentence that begins with the server."""
        if self.failure is None:
            self.failure = ToolServerFailed(f"{self.server.label} {complaint}.", fix=fix or _ASK, faults=faults)
        self.stop()
        return self.failure

    def _keep(self, answer: dict[str, Any], size: int) -> None:
        if not isinstance(answer.get("result"), dict) and not isinstance(answer.get("error"), dict):
            raise self.refuse(f"answered `{self.stage}` with neither a result nor an error")
        if self.result is None and "result" in answer:
            self._count_listed(size)
            self.result = answer["result"]

    def _count_listed(self, size: int) -> None:
        if not self.stage.startswith("tools/list"):
            return
        self._listed += size
        if self._listed > self.bounds.answer_bytes:
            raise self.too_long()

    def begin_list(self) -> None:
        """The list is read from its start."""
        self._listed = 0


def told(text: object, limit: int = _SAMPLE) -> str:
    """Foreign text as part of a sentence: on one line, harmless, cut."""
    flat = " ".join(str(text).split())
    cut = flat if len(flat) <= limit else flat[: limit - 1] + "…"
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in cut) or "nothing more"


def _mebibytes(size: int) -> str:
    return f"{size / 1024 / 1024:.3g}"
