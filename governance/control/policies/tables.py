"""Policies, revision by revision: a scope's latest row holds, the ones before it are its history."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, Column, DateTime, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from governance.control.database import Row, grants

SCOPES = "('global', 'namespace', 'skill')"


class PolicyRevision(Row, table=True):
    """What one scope sets, whole, from this revision on. Rows are only ever added."""

    __tablename__: ClassVar[str] = "policy_revision"
    __table_args__: ClassVar[Any] = (
        CheckConstraint(f"scope IN {SCOPES}", name="scope"),
        CheckConstraint("(scope = 'global') = (name = '')", name="global_has_no_name"),
        grants("SELECT", "INSERT"),
    )

    scope: str = Field(sa_column=Column(Text, primary_key=True))
    name: str = Field(sa_column=Column(Text, primary_key=True))
    """The namespace or the skill; empty for the global scope."""
    revision: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    settings: dict[str, Any] = Field(sa_column=Column(JSONB, nullable=False))
    """Values by key, only those that are set here."""
    reason: str | None = Field(default=None, sa_column=Column(Text))
    set_at: datetime = Field(sa_column=Column(DateTime(timezone=True), nullable=False))
    set_by: str = Field(sa_column=Column(Text, nullable=False))
