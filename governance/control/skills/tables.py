"""Skills, versions and live states. The key of all three begins with the skill: it is what they distribute by."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from governance.control.database import Row, grants

STATES = "('draft', 'active', 'deprecated', 'sunset', 'retired')"


def live_state(table: str) -> str:
    """SQL for the state of a row of ``table``, an alias, today: what is deprecated enters its sunset by itself."""
    reached = f"{table}.state = 'deprecated' AND {table}.sunset <= current_date"
    return f"CASE WHEN {reached} THEN 'sunset' ELSE {table}.state END"


class SkillRow(Row, table=True):
    """What a list shows and a search looks through: a copy from the version that stands for the skill."""

    __tablename__: ClassVar[str] = "skill"
    __table_args__: ClassVar[Any] = (
        Index("ix_skill_namespace", "namespace", "name"),
        Index("ix_skill_short_name", "short_name", "name"),
        Index("ix_skill_tags", "tags", postgresql_using="gin"),
        Index("ix_skill_fields", "fields", postgresql_using="gin"),
        CheckConstraint(f"state IN {STATES}", name="state"),
        grants(
            "SELECT",
            "INSERT",
            "UPDATE (title, description, owner, category, tags, fields, search, latest, state, sunset, versions,"
            " updated_at)",
        ),
    )

    name: str = Field(sa_column=Column(Text, primary_key=True))
    namespace: str = Field(sa_column=Column(Text, nullable=False))
    short_name: str = Field(sa_column=Column(Text, nullable=False))
    title: str | None = Field(default=None, sa_column=Column(Text))
    description: str = Field(sa_column=Column(Text, nullable=False))
    owner: str | None = Field(default=None, sa_column=Column(Text))
    category: str = Field(sa_column=Column(Text, nullable=False))
    tags: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    fields: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    """Names of input and output fields at any depth, folded."""
    search: str = Field(sa_column=Column(Text, nullable=False))
    """All a search by text looks through, folded."""
    latest: str | None = Field(default=None, sa_column=Column(Text))
    state: str = Field(sa_column=Column(Text, nullable=False))
    sunset: date | None = Field(default=None, sa_column=Column(Date))
    """Of the version that stands for the skill; ``live_state`` tells what has become of it."""
    versions: int = Field(sa_column=Column(Integer, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    updated_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))


class VersionRow(Row, table=True):
    """One version, for ever as it was published. A trigger refuses UPDATE, DELETE and TRUNCATE to everyone."""

    __tablename__: ClassVar[str] = "skill_version"
    __table_args__: ClassVar[Any] = (
        Index("ix_skill_version_manifest_digest", "manifest_digest"),
        Index("ix_skill_version_contract_digest", "contract_digest"),
        grants("SELECT", "INSERT"),
    )

    skill: str = Field(sa_column=Column(Text, ForeignKey("skill.name"), primary_key=True))
    sort_key: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    """Bytes that order as SemVer precedence does; build metadata is no part of it."""
    version: str = Field(sa_column=Column(Text, nullable=False))
    namespace: str = Field(sa_column=Column(Text, nullable=False))
    manifest: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """Canonical JSON."""
    manifest_digest: str = Field(sa_column=Column(Text, nullable=False))
    contract_digest: str = Field(sa_column=Column(Text, nullable=False))
    declared: str | None = Field(default=None, sa_column=Column(Text))
    computed: str | None = Field(default=None, sa_column=Column(Text))
    level: str | None = Field(default=None, sa_column=Column(Text))
    verdict: str = Field(sa_column=Column(Text, nullable=False))
    baseline: str | None = Field(default=None, sa_column=Column(Text))
    opens_line: bool = Field(sa_column=Column(Boolean, nullable=False))
    decision: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """The gate's decision, JSON with every digit."""
    opened_by: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    """The breaking and undecided findings that opened the line, JSON with every digit."""
    reason: str | None = Field(default=None, sa_column=Column(Text))
    repository: str | None = Field(default=None, sa_column=Column(Text))
    commit: str | None = Field(default=None, sa_column=Column(Text))
    run: str | None = Field(default=None, sa_column=Column(Text))
    published_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    published_by: str = Field(sa_column=Column(Text, nullable=False))


class VersionState(Row, table=True):
    """Where a version stands now; ``revision`` counts its changes."""

    __tablename__: ClassVar[str] = "skill_version_state"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(["skill", "sort_key"], ["skill_version.skill", "skill_version.sort_key"]),
        CheckConstraint(f"state IN {STATES}", name="state"),
        Index("ix_skill_version_state_sunset", "sunset", postgresql_where=text("sunset IS NOT NULL")),
        Index("ix_skill_version_state_replacement", "replacement", postgresql_where=text("replacement IS NOT NULL")),
        grants(
            "SELECT",
            "INSERT",
            "UPDATE (state, yanked, disabled, deprecated_since, deprecated_on, retired_since, sunset, replacement,"
            " migration_guide, revision, updated_at)",
        ),
    )

    skill: str = Field(sa_column=Column(Text, primary_key=True))
    sort_key: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    state: str = Field(sa_column=Column(Text, nullable=False))
    yanked: str | None = Field(default=None, sa_column=Column(Text))
    """The reason."""
    disabled: str | None = Field(default=None, sa_column=Column(Text))
    """The reason of the operator who switched it off."""
    deprecated_since: str | None = Field(default=None, sa_column=Column(Text))
    """The version with which the deprecation came, where the manifest says so."""
    deprecated_on: date | None = Field(default=None, sa_column=Column(Date))
    """The day the deprecation was announced here."""
    retired_since: date | None = Field(default=None, sa_column=Column(Date))
    sunset: date | None = Field(default=None, sa_column=Column(Date))
    replacement: str | None = Field(default=None, sa_column=Column(Text))
    migration_guide: str | None = Field(default=None, sa_column=Column(Text))
    revision: int = Field(sa_column=Column(Integer, nullable=False))
    updated_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))


class FallbackRow(Row, table=True):
    """A version names another skill as a step of its fallback: so the step is found from the skill it names."""

    __tablename__: ClassVar[str] = "skill_fallback"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(["skill", "sort_key"], ["skill_version.skill", "skill_version.sort_key"]),
        Index("ix_skill_fallback_target", "target"),
        grants("SELECT", "INSERT"),
    )

    skill: str = Field(sa_column=Column(Text, primary_key=True))
    sort_key: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    step: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    target: str = Field(sa_column=Column(Text, nullable=False))
    range: str = Field(sa_column=Column(Text, nullable=False))
