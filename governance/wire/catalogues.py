"""Catalogues: whole tool lists, released as one."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from governance.core.releases import VersionBy
from governance.wire.base import Answer, JSONObject, Request, ShortText, Text
from governance.wire.skills import Provenance

Renamed = Annotated[dict[ShortText, ShortText], Field(max_length=1_000)]
"""From a tool the release before held to the member that takes its place."""


class CatalogueCandidate(Request):
    """The release that the candidates of a check make, all of them together."""

    name: ShortText
    version: Annotated[str, Field(max_length=256)] | None = None
    """None: the smallest honest number, which the answer tells."""
    version_by: Annotated[VersionBy, Field(strict=False)] = VersionBy.RELEASE
    renamed: Renamed = Field(default_factory=dict)


class ReleaseRequest(Request):
    """One release: native manifest documents, every tool there is. What is not among them is withdrawn.

    By ``release`` every member carries the release's number, and none needs to say it; by ``content`` those
    that say none get their own.
    """

    members: list[JSONObject] = Field(min_length=1)
    version_by: Annotated[VersionBy, Field(strict=False)] = VersionBy.RELEASE
    renamed: Renamed = Field(default_factory=dict)
    fail_on: Literal["risky", "breaking"] | None = None
    """The mildest verdict that blocks whatever the number says."""
    transitive: bool = True
    reason: Text | None = None
    repository: ShortText | None = None
    commit: ShortText | None = None
    run: ShortText | None = None


class CatalogueMember(Answer):
    """One tool of a release."""

    name: str
    version: str
    change: str
    """Against the release before: ``added``, ``changed`` or ``unchanged``."""
    manifest_digest: str
    contract_digest: str
    opens_line: bool
    decision: str


class ReleaseSummary(Answer):
    """One release in a list."""

    catalogue: str
    version: str
    version_by: VersionBy
    digest: str
    """Over what the release holds: equal for two requests that ask for the same."""
    baseline: str | None = None
    bump: str
    """What it needed above the baseline."""
    members: int
    published_at: datetime
    published_by: str


class CatalogueRelease(Answer):
    """One release whole, for ever as it was published."""

    catalogue: str
    version: str
    version_by: VersionBy
    digest: str
    decision: JSONObject
    """The gate's decision on the release; those on the members stand with their versions."""
    members: list[CatalogueMember]
    withdrawn: list[JSONObject]
    """What the baseline held and this release does not: ``name``, ``change``, ``successor`` and the comparison."""
    reason: str | None = None
    provenance: Provenance = Provenance()
    published_at: datetime
    published_by: str


class Released(Answer):
    """The answer to a release. ``created`` is false when the very same release was there already (200)."""

    created: bool
    release: CatalogueRelease


class Catalogue(Answer):
    """One catalogue in a list."""

    name: str
    latest: str | None = None
    """The highest stable release."""
    members: int
    """Of ``latest``, else of the release that came last."""
    releases: int
    created_at: datetime
    updated_at: datetime


class CataloguePage(Answer):
    items: list[Catalogue]
    next: str | None = None


class ReleasePage(Answer):
    """Releases in precedence order, highest first."""

    items: list[ReleaseSummary]
    next: str | None = None


class CatalogueDiff(Answer):
    """What changed between two releases: a ``CatalogueComparison`` document with the two numbers beside it."""

    catalogue: str
    old: str
    new: str
    comparison: JSONObject
