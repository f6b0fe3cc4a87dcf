"""Consumers and their needs; environments and what is deployed there."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Boolean, CheckConstraint, Column, DateTime, ForeignKey, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from governance.control.database import Row, grants


def registered_in_time(need: str) -> str:
    """SQL: did the row of ``need``, an alias, say what it needs before any version of its skill reached its sunset?

    Whoever registers after that is no caller of before, and is not served on like one.
    """
    return (
        "NOT EXISTS (SELECT FROM skill_version_state s"
        f" WHERE s.skill = {need}.skill AND s.sunset <= {need}.first_seen_at::date)"
    )


class ConsumerRow(Row, table=True):
    """One consumer as it registered; ``revision`` counts its changes."""

    __tablename__: ClassVar[str] = "consumer"
    __table_args__: ClassVar[Any] = (
        grants("SELECT", "INSERT", "UPDATE (owner, description, revision, updated_at, updated_by)"),
    )

    name: str = Field(sa_column=Column(Text, primary_key=True))
    owner: str | None = Field(default=None, sa_column=Column(Text))
    description: str | None = Field(default=None, sa_column=Column(Text))
    revision: int = Field(sa_column=Column(Integer, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    updated_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    updated_by: str = Field(sa_column=Column(Text, nullable=False))


class NeedRow(Row, table=True):
    """What a consumer needs of one skill in one environment, as it declared it or as it was observed.

    The skill need not be published yet. ``environment`` is empty where the need holds in all of them.
    """

    __tablename__: ClassVar[str] = "consumer_need"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("source IN ('declared', 'observed')", name="source"),
        Index("ix_consumer_need_consumer", "consumer"),
        grants("SELECT", "INSERT", "UPDATE (range, reads, sends, last_seen_at)", "DELETE"),
    )

    skill: str = Field(sa_column=Column(Text, primary_key=True))
    consumer: str = Field(sa_column=Column(Text, ForeignKey("consumer.name"), primary_key=True))
    environment: str = Field(sa_column=Column(Text, primary_key=True))
    source: str = Field(sa_column=Column(Text, primary_key=True))
    range: str | None = Field(default=None, sa_column=Column(Text))
    """In npm's grammar; None: by bare name."""
    reads: list[str] | None = Field(default=None, sa_column=Column(ARRAY(Text)))
    """JSON Pointers of output fields that are read (``*`` stands for every item); None: not said."""
    sends: list[str] | None = Field(default=None, sa_column=Column(ARRAY(Text)))
    """JSON Pointers of input fields that are sent; None: not said."""
    first_seen_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    last_seen_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))


class EnvironmentRow(Row, table=True):
    """One environment. A protected one takes no version that is not ready."""

    __tablename__: ClassVar[str] = "environment"
    __table_args__: ClassVar[Any] = (
        grants("SELECT", "INSERT", "UPDATE (protected, description, revision, updated_at, updated_by)"),
    )

    name: str = Field(sa_column=Column(Text, primary_key=True))
    protected: bool = Field(sa_column=Column(Boolean, nullable=False))
    description: str | None = Field(default=None, sa_column=Column(Text))
    revision: int = Field(sa_column=Column(Integer, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    updated_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    updated_by: str = Field(sa_column=Column(Text, nullable=False))


class DeploymentRow(Row, table=True):
    """A version of a skill was put into an environment; ``ended_at`` says when it left. Rows stay as history."""

    __tablename__: ClassVar[str] = "deployment"
    __table_args__: ClassVar[Any] = (
        Index(
            "uq_deployment_standing",
            "skill",
            "environment",
            "version",
            unique=True,
            postgresql_where=text("ended_at IS NULL"),
        ),
        Index("ix_deployment_environment", "environment", postgresql_where=text("ended_at IS NULL")),
        grants("SELECT", "INSERT", "UPDATE (ended_at, ended_by)"),
    )

    skill: str = Field(sa_column=Column(Text, ForeignKey("skill.name"), primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))
    environment: str = Field(sa_column=Column(Text, ForeignKey("environment.name"), nullable=False))
    version: str = Field(sa_column=Column(Text, nullable=False))
    deployed_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    deployed_by: str = Field(sa_column=Column(Text, nullable=False))
    ended_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    ended_by: str | None = Field(default=None, sa_column=Column(Text))
