"""Trusted publishers, and the assertions that were exchanged already."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, DateTime, Index, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from governance.control.database import Row, grants


class TrustedPublisher(Row, table=True):
    """Claims that an issuer must make of a CI job, and what the job then may do. What it trusts never changes."""

    __tablename__: ClassVar[str] = "trusted_publisher"
    __table_args__: ClassVar[Any] = (
        Index("ix_trusted_publisher_issuer", "issuer"),
        grants("SELECT", "INSERT", "UPDATE (first_used_at, last_used_at, revoked_at, revoked_by)"),
    )

    id: str = Field(sa_column=Column(Text, primary_key=True))
    name: str = Field(sa_column=Column(Text, nullable=False))
    issuer: str = Field(sa_column=Column(Text, nullable=False))
    claims: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    """Claims by name with the one value each must have."""
    grants: list[dict[str, str]] = Field(sa_column=Column(JSONB, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    pending_until: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    """By when it must be used for the first time; unused then, it is void."""
    first_used_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    last_used_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_by: str | None = Field(default=None, sa_column=Column(Text))


class SpentAssertion(Row, table=True):
    """An assertion that was exchanged: none is taken twice. Rows go when the assertion would have expired."""

    __tablename__: ClassVar[str] = "spent_assertion"
    __table_args__: ClassVar[Any] = (
        Index("ix_spent_assertion_expires_at", "expires_at"),
        CheckConstraint("octet_length(digest) = 32", name="digest_is_sha256"),
        grants("SELECT", "INSERT", "DELETE"),
    )

    digest: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    """SHA-256 over issuer and ``jti``, or over the signed part where it has none."""
    expires_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
