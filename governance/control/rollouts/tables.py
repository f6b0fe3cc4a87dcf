"""Rollouts, and the outcomes of each side by minute."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, ForeignKey, Index, Integer, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from governance.control.database import Row, grants


class RolloutRow(Row, table=True):
    """One rollout of a version of a skill in one environment (empty: all), beside the version that stood there."""

    __tablename__: ClassVar[str] = "rollout"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("state IN ('running', 'held', 'completed', 'fallen_back', 'cancelled')", name="state"),
        Index(
            "uq_rollout_open",
            "skill",
            "environment",
            unique=True,
            postgresql_where=text("state IN ('running', 'held')"),
        ),
        grants("SELECT", "INSERT", "UPDATE (state, step, step_since, reason, revision, ended_at)"),
    )

    skill: str = Field(sa_column=Column(Text, ForeignKey("skill.name"), primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))
    environment: str = Field(sa_column=Column(Text, nullable=False))
    candidate: str = Field(sa_column=Column(Text, nullable=False))
    incumbent: str = Field(sa_column=Column(Text, nullable=False))
    plan: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    """Weights of the steps in per cent, and the conditions for going on."""
    state: str = Field(sa_column=Column(Text, nullable=False))
    step: int = Field(sa_column=Column(Integer, nullable=False))
    step_since: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    reason: str | None = Field(default=None, sa_column=Column(Text))
    revision: int = Field(sa_column=Column(Integer, nullable=False))
    started_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    started_by: str = Field(sa_column=Column(Text, nullable=False))
    ended_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class RolloutOutcome(Row, table=True):
    """What calls of one side of a rollout came to within one minute."""

    __tablename__: ClassVar[str] = "rollout_outcome"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("side IN ('candidate', 'incumbent')", name="side"),
        grants("SELECT", "INSERT", "UPDATE (calls, failures, violations)", "DELETE"),
    )

    rollout: str = Field(sa_column=Column(Text, primary_key=True))
    side: str = Field(sa_column=Column(Text, primary_key=True))
    minute: datetime = Field(sa_column=Column(DateTime(timezone=True), primary_key=True))
    calls: int = Field(sa_column=Column(BigInteger, nullable=False))
    failures: int = Field(sa_column=Column(BigInteger, nullable=False))
    violations: int = Field(sa_column=Column(BigInteger, nullable=False))
    """Outputs that broke the contract; failures too, counted on their own."""
