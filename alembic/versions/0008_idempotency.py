"""idempotency: keys that make a creating POST safe to repeat

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "idempotency_key",
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("made", sa.Text()),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("caller", "key"),
    )
    op.create_index("ix_idempotency_key_expires_at", "idempotency_key", ["expires_at"])


def downgrade() -> None:
    op.drop_table("idempotency_key")
