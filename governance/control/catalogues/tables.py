"""Catalogues, their immutable releases, and the members of each. All begin with the catalogue."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Column, DateTime, ForeignKey, ForeignKeyConstraint, Index, Integer, LargeBinary, Text
from sqlmodel import Field

from governance.control.database import Row, grants


class CatalogueRow(Row, table=True):
    """What a list of catalogues shows."""

    __tablename__: ClassVar[str] = "catalogue"
    __table_args__: ClassVar[Any] = (grants("SELECT", "INSERT", "UPDATE (latest, members, releases, updated_at)"),)

    name: str = Field(sa_column=Column(Text, primary_key=True))
    """Also the namespace its members live in, or above."""
    latest: str | None = Field(default=None, sa_column=Column(Text))
    members: int = Field(sa_column=Column(Integer, nullable=False))
    releases: int = Field(sa_column=Column(Integer, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    updated_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))


class ReleaseRow(Row, table=True):
    """One release, for ever as it was published. A trigger refuses UPDATE, DELETE and TRUNCATE to everyone."""

    __tablename__: ClassVar[str] = "catalogue_release"
    __table_args__: ClassVar[Any] = (grants("SELECT", "INSERT"),)

    catalogue: str = Field(sa_column=Column(Text, ForeignKey("catalogue.name"), primary_key=True))
    sort_key: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    """Bytes that order as SemVer precedence does."""
    version: str = Field(sa_column=Column(Text, nullable=False))
    version_by: str = Field(sa_column=Column(Text, nullable=False))
    digest: str = Field(sa_column=Column(Text, nullable=False))
    baseline: str | None = Field(default=None, sa_column=Column(Text))
    bump: str = Field(sa_column=Column(Text, nullable=False))
    members: int = Field(sa_column=Column(Integer, nullable=False))
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """``decision``, ``members`` and ``withdrawn`` as one JSON object with every digit."""
    reason: str | None = Field(default=None, sa_column=Column(Text))
    repository: str | None = Field(default=None, sa_column=Column(Text))
    commit: str | None = Field(default=None, sa_column=Column(Text))
    run: str | None = Field(default=None, sa_column=Column(Text))
    published_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    published_by: str = Field(sa_column=Column(Text, nullable=False))


class MemberRow(Row, table=True):
    """One version that a release holds. Never rewritten, like the release."""

    __tablename__: ClassVar[str] = "catalogue_member"
    __table_args__: ClassVar[Any] = (
        ForeignKeyConstraint(
            ["catalogue", "release_key"], ["catalogue_release.catalogue", "catalogue_release.sort_key"]
        ),
        ForeignKeyConstraint(["skill", "version_key"], ["skill_version.skill", "skill_version.sort_key"]),
        Index("ix_catalogue_member_skill", "skill", "version_key"),
        grants("SELECT", "INSERT"),
    )

    catalogue: str = Field(sa_column=Column(Text, primary_key=True))
    release_key: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    skill: str = Field(sa_column=Column(Text, primary_key=True))
    version_key: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
