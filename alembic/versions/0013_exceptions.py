"""exceptions: findings that pass the gate for a while

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gate_exception",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("findings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("environment", sa.Text()),
        sa.Column("consumer", sa.Text()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("max_uses", sa.Integer()),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True)),
        sa.Column("approver_id", sa.Text()),
        sa.Column("approved_by", sa.Text()),
        sa.Column("approved_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_by", sa.Text()),
        sa.Column("revoked_reason", sa.Text()),
        sa.Column("told_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("approver_id IS NULL OR approver_id <> author_id", name="approver_is_not_author"),
        sa.CheckConstraint("max_uses IS NULL OR max_uses > 0", name="max_uses_positive"),
        sa.CheckConstraint("uses >= 0 AND (max_uses IS NULL OR uses <= max_uses)", name="uses_within"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_gate_exception_expires_at", "gate_exception", ["expires_at"])
    op.create_index("ix_gate_exception_skill", "gate_exception", ["skill", "expires_at"])


def downgrade() -> None:
    op.drop_table("gate_exception")
