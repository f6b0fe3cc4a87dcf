"""Tokens, known by the hash of their secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, DateTime, Index, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from governance.control.database import Row, grants


class Token(Row, table=True):
    """One token. Its grants never change; a token with others is another token."""

    __tablename__: ClassVar[str] = "token"
    __table_args__: ClassVar[Any] = (
        Index("uq_token_secret_hash", "secret_hash", unique=True),
        CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash_is_sha256"),
        grants("SELECT", "INSERT", "UPDATE (last_used_at, revoked_at, revoked_by)"),
    )

    id: str = Field(sa_column=Column(Text, primary_key=True))
    name: str = Field(sa_column=Column(Text, nullable=False))
    prefix: str = Field(sa_column=Column(Text, nullable=False))
    secret_hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    grants: list[dict[str, str]] = Field(sa_column=Column(JSONB, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    expires_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    last_used_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    revoked_by: str | None = Field(default=None, sa_column=Column(Text))
