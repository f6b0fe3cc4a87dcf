"""Skills and their versions."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

from governance.core.compat.model import Level
from governance.core.skill import Status
from governance.wire.base import Answer, JSONObject


class Provenance(Answer):
    """Where a version was published from, as CI told it."""

    repository: str | None = None
    commit: str | None = None
    run: str | None = None


class VersionSummary(Answer):
    """One version in a list: the immutable facts and the live state beside them."""

    name: str
    version: str
    manifest_digest: str
    contract_digest: str
    declared: Level | None = None
    computed: Level | None = None
    """None when there was nothing to compare with."""
    level: Level | None = None
    """The one that counts: the worse of declared and computed; None for a first version that declares none."""
    verdict: str
    baseline: str | None = None
    opens_line: bool
    state: Status
    yanked: str | None = None
    """The reason, when it is yanked."""
    disabled: str | None = None
    """The reason, when an operator switched it off."""
    deprecated_since: str | None = None
    """The version deprecation began with, where the manifest says so."""
    deprecated_on: date | None = None
    """The day its end was announced."""
    retired_since: date | None = None
    sunset: date | None = None
    replacement: str | None = None
    migration_guide: str | None = None
    revision: int = 1
    """Counts the changes of its live state; the ETag holds it."""
    published_at: datetime
    published_by: str

    @property
    def etag(self) -> str:
        """What ``If-Match`` says to change this very state."""
        return f'"{self.manifest_digest}.{self.revision}"'


class SkillVersion(VersionSummary):
    """One version whole: the manifest as stored and the decision that let it in."""

    manifest: JSONObject
    decision: JSONObject
    reason: str | None = None
    provenance: Provenance = Provenance()


class Published(Answer):
    """The answer to a publish. ``created`` is false when the very same manifest was there already (200)."""

    created: bool
    version: SkillVersion


class SkillCard(Answer):
    """One skill in a list, described by its highest version that is served."""

    name: str
    namespace: str
    title: str | None = None
    description: str
    owner: str | None = None
    category: str
    tags: list[str] = Field(default_factory=list)
    latest: str | None = None
    """The highest stable version that ranges can reach."""
    state: Status
    """Of ``latest``, else of the highest version there is."""
    versions: int
    updated_at: datetime


class SkillPage(Answer):
    items: list[SkillCard]
    next: str | None = None
    """The cursor of the following page; None on the last."""


class VersionPage(Answer):
    """Versions in precedence order, highest first; with a range, those it admits."""

    items: list[VersionSummary]
    next: str | None = None


class LineView(Answer):
    """A stretch of versions within which nothing breaks."""

    opened_at: str
    latest: str
    versions: int


class Skill(SkillCard):
    """One skill whole, with its lines, newest first."""

    lines: list[LineView] = Field(default_factory=list)


class Diff(Answer):
    """What changed between two versions: a ``Comparison`` document with the two names beside it."""

    name: str
    old: str
    new: str
    comparison: JSONObject
