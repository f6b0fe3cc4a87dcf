"""Which version serves a caller."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from governance.core.skill import Status
from governance.wire.base import Answer, ConsumerName, EnvironmentName, JSONObject, Problem, Request, ShortText


class ResolveQuestion(Request):
    """Which version serves a caller. A name alone, or with ``range`` in npm's grammar."""

    skill: ShortText
    range: Annotated[str, Field(max_length=2_000)] | None = None
    accept_breaking_change: bool = False
    """Take the newest line there is now; recorded. For a named consumer it stands for as long as the policy lets it."""
    accept_line: Annotated[str, Field(max_length=256)] | None = None
    """The version that opens the line this consumer accepts from now on; recorded, needs a named consumer."""


class ResolveRequest(Request):
    """A batch of questions by one consumer; without ``consumer`` the caller is anonymous each time."""

    questions: list[ResolveQuestion] = Field(min_length=1)
    consumer: ConsumerName | None = None
    environment: EnvironmentName | None = None


class HeldBackView(Answer):
    """A newer match that is not served, because a line opened on the way to it."""

    version: str
    line: str
    """The opening of the newer version's line."""
    openings: list[str] = Field(default_factory=list)
    opened_by: list[JSONObject] = Field(default_factory=list)
    """The findings that opened the first of them."""
    why: str
    ways: list[JSONObject] = Field(default_factory=list)
    """The exact ways to accept: ``way`` and ``do``."""


class SteeredView(Answer):
    """A rollout that had a say, and where it put this caller."""

    id: str
    arm: Literal["candidate", "incumbent"]
    """Report what the calls came to under this side."""
    weight: int
    """The candidate's share of the named consumers, in per cent."""


class Resolution(Answer):
    """The version that serves, why, and what is held back."""

    skill: str
    range: str | None = None
    version: str
    manifest_digest: str
    contract_digest: str
    state: Status
    line: str
    """The version that opened the line."""
    basis: str
    """Why that line counts as accepted: pin, range, record, first-contact, named-line or flag."""
    held_back: HeldBackView | None = None
    rollout: SteeredView | None = None
    """The rollout that chose between two versions of the line, where one did."""
    deprecated_on: date | None = None
    """The day its end was announced, where one is; this and the three that follow are None for what is active."""
    sunset: date | None = None
    replacement: str | None = None
    """``name@range``, or ``none``."""
    migration_guide: str | None = None
    warnings: list[JSONObject] = Field(default_factory=list)
    """``code`` and ``message`` each."""


class Resolved(Answer):
    """One answer of a batch: exactly one of the two is set."""

    skill: str
    resolution: Resolution | None = None
    problem: Problem | None = None


class ResolveAnswer(Answer):
    """Answers in the order of the questions; the HTTP status is 200 though some hold a problem."""

    results: list[Resolved]
