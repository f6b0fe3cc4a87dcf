"""Exceptions: what was asked for, who agreed, until when, and how often it was used."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, DateTime, Index, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from governance.control.database import Row, grants


class ExceptionRow(Row, table=True):
    """One exception. What it covers never changes; a wider one is another exception."""

    __tablename__: ClassVar[str] = "gate_exception"
    __table_args__: ClassVar[Any] = (
        Index("ix_gate_exception_skill", "skill", "expires_at"),
        Index("ix_gate_exception_expires_at", "expires_at"),
        CheckConstraint("max_uses IS NULL OR max_uses > 0", name="max_uses_positive"),
        CheckConstraint("uses >= 0 AND (max_uses IS NULL OR uses <= max_uses)", name="uses_within"),
        CheckConstraint("approver_id IS NULL OR approver_id <> author_id", name="approver_is_not_author"),
        grants(
            "SELECT",
            "INSERT",
            "UPDATE (approver_id, approved_by, approved_at, uses, last_used_at, revoked_at, revoked_by,"
            " revoked_reason, told_at, end_told_at)",
        ),
    )

    id: str = Field(sa_column=Column(Text, primary_key=True))
    skill: str = Field(sa_column=Column(Text, nullable=False))
    findings: list[dict[str, Any]] = Field(sa_column=Column(JSONB, nullable=False))
    """``fingerprint``, ``surroundings`` (hash of the enclosing objects), ``code`` and ``message`` each."""
    environment: str | None = Field(default=None, sa_column=Column(Text))
    consumer: str | None = Field(default=None, sa_column=Column(Text))
    reason: str = Field(sa_column=Column(Text, nullable=False))
    author_id: str = Field(sa_column=Column(Text, nullable=False))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    expires_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    max_uses: int | None = Field(default=None, sa_column=Column(Integer))
    uses: int = Field(sa_column=Column(Integer, nullable=False))
    last_used_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    approver_id: str | None = Field(default=None, sa_column=Column(Text))
    approved_by: str | None = Field(default=None, sa_column=Column(Text))
    approved_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_by: str | None = Field(default=None, sa_column=Column(Text))
    revoked_reason: str | None = Field(default=None, sa_column=Column(Text))
    told_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    """When its coming end was announced; None: not yet."""
    end_told_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    """When its end was announced; None: not yet."""
