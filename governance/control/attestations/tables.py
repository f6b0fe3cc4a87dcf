"""Test runs by the contract they were about; rows are only ever added, the latest of a contract counts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, DateTime, Index, Integer, Text
from sqlmodel import Field

from governance.control.database import Row, grants


class AttestationRow(Row, table=True):
    """One test run of one contract. The skill need not be published yet."""

    __tablename__: ClassVar[str] = "attestation"
    __table_args__: ClassVar[Any] = (
        Index("ix_attestation_contract", "skill", "contract_digest", "recorded_at"),
        CheckConstraint("passed >= 0 AND failed >= 0", name="counts"),
        grants("SELECT", "INSERT"),
    )

    skill: str = Field(sa_column=Column(Text, primary_key=True))
    id: str = Field(sa_column=Column(Text, primary_key=True))
    contract_digest: str = Field(sa_column=Column(Text, nullable=False))
    passed: int = Field(sa_column=Column(Integer, nullable=False))
    failed: int = Field(sa_column=Column(Integer, nullable=False))
    source: str | None = Field(default=None, sa_column=Column(Text))
    recorded_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    recorded_by: str = Field(sa_column=Column(Text, nullable=False))
