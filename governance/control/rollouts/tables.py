"""Rollouts, and the outcomes of each side by minute."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, DateTime, ForeignKey, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from governance.control.database import Row, grants


class RolloutRow(Row, table=True):
    """One rollout of a version of a skill in one environment (empty: all), beside the version that stood there."""

    __tablename__: ClassVar[str] = "rollout"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("state IN ('running', 'held', 'completed', 'fallen_back', 'cancelled')", name="state"),
        CheckConstraint("in_force OR state NOT IN ('running', 'held')", name="in_force"),
        Index(
            "uq_rollout_open",
            "skill",
            "environment",
            unique=True,
            postgresql_where=text("state IN ('running', 'held')"),
        ),
        Index("uq_rollout_id", "id", unique=True),
        Index("ix_rollout_in_force", "skill", postgresql_where=text("in_force")),
        Index("ix_rollout_ended", "ended_at", postgresql_where=text("ended_at IS NOT NULL AND cleared_at IS NULL")),
        grants(
            "SELECT",
            "INSERT",
            "UPDATE (state, step, step_since, reason, revision, ended_at, steps, in_force, cleared_at)",
        ),
    )

    skill: str = Field(sa_column=Column(Text, ForeignKey("skill.name"), primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))
    environment: str = Field(sa_column=Column(Text, nullable=False))
    candidate: str = Field(sa_column=Column(Text, nullable=False))
    incumbent: str = Field(sa_column=Column(Text, nullable=False))
    above: list[str] = Field(sa_column=Column(JSONB, nullable=False))
    """The versions above the older side, up to the newer one, when it began: what the older side's callers miss."""
    plan: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    """Weights of the steps in per cent, and the conditions for going on."""
    state: str = Field(sa_column=Column(Text, nullable=False))
    in_force: bool = Field(sa_column=Column(Boolean, nullable=False))
    """Does it keep anybody from a version? An ended one does where the older version won."""
    step: int = Field(sa_column=Column(Integer, nullable=False))
    step_since: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    steps: list[dict[str, Any]] = Field(sa_column=Column(JSONB, nullable=False))
    """The steps it has left, with what was seen in each."""
    reason: str | None = Field(default=None, sa_column=Column(Text))
    """Why it stands as it does, by whoever or whatever changed it last."""
    revision: int = Field(sa_column=Column(Integer, nullable=False))
    started_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    started_by: str = Field(sa_column=Column(Text, nullable=False))
    ended_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    cleared_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    """When its outcomes were removed; what they came to stands in ``steps``."""


class RolloutOutcome(Row, table=True):
    """What calls of one side of a rollout came to within one minute, as one sender told it."""

    __tablename__: ClassVar[str] = "rollout_outcome"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("side IN ('candidate', 'incumbent')", name="side"),
        grants("SELECT", "INSERT", "UPDATE (calls, failures, violations)", "DELETE"),
    )

    rollout: str = Field(sa_column=Column(Text, primary_key=True))
    minute: datetime = Field(sa_column=Column(DateTime(timezone=True), primary_key=True))
    side: str = Field(sa_column=Column(Text, primary_key=True))
    sender: str = Field(sa_column=Column(Text, primary_key=True))
    """The token's id and the name that the sender gave itself."""
    calls: int = Field(sa_column=Column(BigInteger, nullable=False))
    failures: int = Field(sa_column=Column(BigInteger, nullable=False))
    violations: int = Field(sa_column=Column(BigInteger, nullable=False))
    """Outputs that broke the contract; failures too, counted on their own."""
