"""Webhooks and their deliveries. The events themselves are entries of the audit inbox: nothing is told that did not
commit, and nothing that commits is left untold."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, CheckConstraint, Column, DateTime, Index, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from governance.control.database import Row, grants


class WebhookRow(Row, table=True):
    """An address that wants to be told. ``position`` is the last entry that became deliveries."""

    __tablename__: ClassVar[str] = "webhook"
    __table_args__: ClassVar[Any] = (
        grants(
            "SELECT",
            "INSERT",
            "UPDATE (secret, previous_secret, previous_until, position_xact, position_id, disabled, revision,"
            " deleted_at)",
        ),
    )

    id: str = Field(sa_column=Column(Text, primary_key=True))
    url: str = Field(sa_column=Column(Text, nullable=False))
    namespace: str = Field(sa_column=Column(Text, nullable=False))
    """Told of what lies here or below; ``*``: of everything."""
    types: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    """Event types; empty: all."""
    secret: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    previous_secret: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    previous_until: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    position_xact: int = Field(sa_column=Column(BigInteger, nullable=False))
    position_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    disabled: str | None = Field(default=None, sa_column=Column(Text))
    """Why nothing is sent; None: it is on."""
    revision: int = Field(sa_column=Column(Integer, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    created_by: str = Field(sa_column=Column(Text, nullable=False))
    deleted_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))


class DeliveryRow(Row, table=True):
    """One event for one webhook: made once, sent until it is taken or given up."""

    __tablename__: ClassVar[str] = "webhook_delivery"
    __table_args__: ClassVar[Any] = (
        CheckConstraint("state IN ('waiting', 'delivered', 'given_up')", name="state"),
        Index("uq_webhook_delivery_event", "webhook", "event", unique=True),
        Index("ix_webhook_delivery_due", "next_at", postgresql_where=text("state = 'waiting'")),
        grants(
            "SELECT",
            "INSERT",
            "UPDATE (state, attempts, next_at, delivered_at, last_status, last_error, last_at)",
            "DELETE",
        ),
    )

    webhook: str = Field(sa_column=Column(Text, primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))
    """The ``webhook-id`` of every attempt, so that receivers know a repetition."""
    event: str = Field(sa_column=Column(Text, nullable=False))
    type: str = Field(sa_column=Column(Text, nullable=False))
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    state: str = Field(sa_column=Column(Text, nullable=False))
    attempts: int = Field(sa_column=Column(Integer, nullable=False))
    created_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    next_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    delivered_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    last_at: datetime | None = Field(default=None, sa_column=Column(DateTime(timezone=True)))
    last_status: int | None = Field(default=None, sa_column=Column(Integer))
    last_error: str | None = Field(default=None, sa_column=Column(Text))
