"""Keys that callers gave, each with the one request it stands for."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Column, DateTime, Index, LargeBinary, Text
from sqlmodel import Field

from governance.control.database import Row, grants


class KeyRow(Row, table=True):
    """One key of one caller, until it expires. It holds no answer: only the id of what the request made."""

    __tablename__: ClassVar[str] = "idempotency_key"
    __table_args__: ClassVar[Any] = (
        Index("ix_idempotency_key_expires_at", "expires_at"),
        grants("SELECT", "INSERT", "UPDATE", "DELETE"),
    )

    caller: str = Field(sa_column=Column(Text, primary_key=True))
    key: str = Field(sa_column=Column(Text, primary_key=True))
    fingerprint: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """SHA-256 over method, route and body."""
    claim: str = Field(sa_column=Column(Text, nullable=False))
    """Of the request that works on it, or did."""
    made: str | None = Field(default=None, sa_column=Column(Text))
    """The id of what was made; None while the request runs."""
    claimed_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    expires_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
