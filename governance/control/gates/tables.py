"""Stored checks, and the lines that consumers have accepted."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Column, DateTime, ForeignKey, Index, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from governance.control.database import Row, grants


class CheckRow(Row, table=True):
    """One check, whole, as it was answered."""

    __tablename__: ClassVar[str] = "gate_check"
    __table_args__: ClassVar[Any] = (grants("SELECT", "INSERT"),)

    id: str = Field(sa_column=Column(Text, primary_key=True))
    namespaces: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    """Of the candidates: who may read all of them may read the check."""
    result: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """The CheckResult as JSON with every digit."""
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))


class VerdictRow(Row, table=True):
    """One comparison as it was computed, so that no replica computes it again. Any row may go at any time."""

    __tablename__: ClassVar[str] = "verdict"
    __table_args__: ClassVar[Any] = (
        Index("ix_verdict_computed_at", "computed_at"),
        grants("SELECT", "INSERT", "UPDATE", "DELETE"),
    )

    key: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    """SHA-256 over both manifest digests, the settings and the engine."""
    comparison: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    seal: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """SHA-256 over the key and the comparison: a row that was altered or moved does not count."""
    computed_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))


class LineAcceptance(Row, table=True):
    """A consumer accepted the line of a skill that opens at ``line``. Revoked rows stay; a new one may follow."""

    __tablename__: ClassVar[str] = "line_acceptance"
    __table_args__: ClassVar[Any] = (
        Index(
            "uq_line_acceptance_standing",
            "skill",
            "consumer",
            "line",
            unique=True,
            postgresql_where=text("revoked_at IS NULL"),
        ),
        Index("ix_line_acceptance_consumer", "consumer"),
        Index("ix_line_acceptance_id", "id"),
        grants("SELECT", "INSERT", "UPDATE (basis, expires_at, accepted_at, accepted_by, revoked_at, revoked_by)"),
    )

    skill: str = Field(sa_column=Column(Text, ForeignKey("skill.name"), primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))
    consumer: str = Field(sa_column=Column(Text, nullable=False))
    line: str = Field(sa_column=Column(Text, nullable=False))
    """A version of the line: its opening when it was accepted."""
    basis: str = Field(sa_column=Column(Text, nullable=False))
    expires_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    accepted_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    accepted_by: str = Field(sa_column=Column(Text, nullable=False))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_by: str | None = Field(default=None, sa_column=Column(Text))


class Contact(Row, table=True):
    """A named consumer has been served this skill: after its sunset, only such consumers still are."""

    __tablename__: ClassVar[str] = "consumer_contact"
    __table_args__: ClassVar[Any] = (grants("SELECT", "INSERT"),)

    skill: str = Field(sa_column=Column(Text, ForeignKey("skill.name"), primary_key=True))
    consumer: str = Field(sa_column=Column(Text, primary_key=True))
    first_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    first_version: str = Field(sa_column=Column(Text, nullable=False))
