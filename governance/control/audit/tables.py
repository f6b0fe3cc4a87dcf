"""The inbox of the audit log: entries in their final form, written by the transaction they speak of."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Column, DateTime, Identity, Index, LargeBinary, Text, text
from sqlmodel import Field

from governance.control.database import Row, grants


class AuditEntry(Row, table=True):
    """One entry. ``entry`` is canonical JSON; the columns beside it are copies to search by.

    A trigger refuses UPDATE, DELETE and TRUNCATE to everyone; the service's role is not granted them either, nor
    may it choose an entry's place: ``id`` and ``xact`` are the database's to give.
    """

    __tablename__: ClassVar[str] = "audit_inbox"
    __table_args__: ClassVar[Any] = (
        Index("ix_audit_inbox_order", "xact", "id"),
        Index("ix_audit_inbox_subject", "subject", "xact", "id"),
        grants("SELECT", "INSERT (namespace, at, action, outcome, actor, subject, request_id, entry)"),
    )

    namespace: str = Field(sa_column=Column(Text, primary_key=True))
    id: int | None = Field(
        default=None,
        sa_column=Column(BigInteger, Identity(always=True), primary_key=True, autoincrement=True),
    )
    at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    action: str = Field(sa_column=Column(Text, nullable=False))
    outcome: str = Field(sa_column=Column(Text, nullable=False))
    actor: str = Field(sa_column=Column(Text, nullable=False))
    subject: str = Field(sa_column=Column(Text, nullable=False))
    request_id: str = Field(sa_column=Column(Text, nullable=False))
    entry: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    xact: int | None = Field(
        default=None,
        sa_column=Column(BigInteger, server_default=text("pg_current_xact_id()::text::bigint"), nullable=False),
    )
    """The transaction that wrote it: readers take entries in this order, for ids are given before commits."""
