"""Consumers and what they need; environments and what runs there."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from governance.wire.base import Answer, EnvironmentName, JSONObject, Label, Request, Text

MAX_NEEDS = 500
MAX_FIELDS = 200

FieldPointer = Annotated[str, Field(max_length=500, pattern=r"^(/([^~/\x00]|~[01])*)+$")]
"""A field as a JSON Pointer over values, ``*`` for every item of an array: ``/items/*/price``."""
FieldPointers = Annotated[list[FieldPointer], Field(max_length=MAX_FIELDS)]


class NeedRequest(Request):
    """What a consumer needs of one skill."""

    skill: Annotated[str, Field(max_length=128)]
    """Its whole name; it need not be published yet."""
    range: Annotated[str, Field(max_length=2_000)] | None = None
    """In npm's grammar; without it the consumer asks by bare name."""
    environments: list[EnvironmentName] | None = Field(default=None, min_length=1, max_length=50)
    """Where it holds; None: everywhere."""
    reads: FieldPointers | None = None
    """Output fields it reads; None: any."""
    sends: FieldPointers | None = None
    """Input fields it sends; None: any."""


class ConsumerRequest(Request):
    """A consumer as it declares itself, whole."""

    owner: Label | None = None
    description: Text | None = None
    needs: list[NeedRequest] = Field(max_length=MAX_NEEDS)


class NeedView(Answer):
    """One need in one environment, or in all."""

    skill: str
    environment: str | None = None
    range: str | None = None
    reads: list[str] | None = None
    sends: list[str] | None = None
    source: str
    """``declared`` by the consumer, or ``observed`` in its calls; the two stand side by side."""
    first_seen_at: datetime
    last_seen_at: datetime


class ConsumerCard(Answer):
    """One consumer in a list."""

    name: str
    owner: str | None = None
    description: str | None = None
    skills: list[str] = Field(default_factory=list)
    """Those it needs and the caller may read."""
    revision: int
    created_at: datetime
    updated_at: datetime
    updated_by: str


class Consumer(ConsumerCard):
    """One consumer whole."""

    needs: list[NeedView] = Field(default_factory=list)
    """Of skills the caller may read, by skill and environment."""
    hidden: int = 0
    """Needs of other skills."""


class ConsumerPage(Answer):
    items: list[ConsumerCard]
    next: str | None = None


class EnvironmentRequest(Request):
    """An environment, whole."""

    protected: bool = False
    """It takes no version that the gate would block there, nor one that is not ready."""
    description: Text | None = None


class Environment(Answer):
    """One environment."""

    name: str
    protected: bool
    description: str | None = None
    revision: int
    created_at: datetime
    updated_at: datetime
    updated_by: str


class EnvironmentPage(Answer):
    items: list[Environment]
    next: str | None = None


class DeploymentRequest(Request):
    """A version of a skill that runs in an environment from now on."""

    version: Annotated[str, Field(max_length=256)]
    beside: bool = False
    """Beside what runs there, not in its place."""
    reason: Text | None = None


class DeploymentState(StrEnum):
    STANDING = "standing"
    ENDED = "ended"


class Deployment(Answer):
    """A version in an environment, from when to when."""

    id: str
    skill: str
    environment: str
    version: str
    deployed_at: datetime
    deployed_by: str
    ended_at: datetime | None = None
    ended_by: str | None = None


class Deployed(Answer):
    """The answer to a deployment: what runs now, and what the gate said of it."""

    created: bool
    """False: it ran there already."""
    deployment: Deployment
    ended: list[Deployment] = Field(default_factory=list)
    """What it took the place of."""
    judgement: JSONObject
    """A ``Judgement``."""


class DeploymentPage(Answer):
    """Newest first."""

    items: list[Deployment]
    next: str | None = None
