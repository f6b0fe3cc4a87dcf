"""rollouts: a version takes over in steps

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rollout",
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("candidate", sa.Text(), nullable=False),
        sa.Column("incumbent", sa.Text(), nullable=False),
        sa.Column("plan", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("step_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_by", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("state IN ('running', 'held', 'completed', 'fallen_back', 'cancelled')", name="state"),
        sa.ForeignKeyConstraint(["skill"], ["skill.name"]),
        sa.PrimaryKeyConstraint("skill", "id"),
    )
    op.create_index(
        "uq_rollout_open",
        "rollout",
        ["skill", "environment"],
        unique=True,
        postgresql_where=sa.text("state IN ('running', 'held')"),
    )
    op.create_table(
        "rollout_outcome",
        sa.Column("rollout", sa.Text(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("violations", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("side IN ('candidate', 'incumbent')", name="side"),
        sa.PrimaryKeyConstraint("rollout", "side", "minute"),
    )


def downgrade() -> None:
    op.drop_table("rollout_outcome")
    op.drop_table("rollout")
