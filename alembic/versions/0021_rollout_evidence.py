"""rollouts: what each keeps from whom, the numbers of past steps, and whose outcomes they are

Revision ID: 0021
Revises: 0020
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = postgresql.JSONB(astext_type=sa.Text())
    # no release of ours had a route that wrote either table
    op.add_column("rollout", sa.Column("above", json, nullable=False))
    op.add_column("rollout", sa.Column("steps", json, nullable=False))
    op.add_column("rollout", sa.Column("in_force", sa.Boolean(), nullable=False))
    op.add_column("rollout", sa.Column("cleared_at", sa.DateTime(timezone=True)))
    op.create_check_constraint("in_force", "rollout", "in_force OR state NOT IN ('running', 'held')")
    op.create_index("uq_rollout_id", "rollout", ["id"], unique=True)
    op.create_index("ix_rollout_in_force", "rollout", ["skill"], postgresql_where=sa.text("in_force"))
    op.create_index(
        "ix_rollout_ended",
        "rollout",
        ["ended_at"],
        postgresql_where=sa.text("ended_at IS NOT NULL AND cleared_at IS NULL"),
    )
    op.add_column("rollout_outcome", sa.Column("sender", sa.Text(), nullable=False))
    op.drop_constraint("pk_rollout_outcome", "rollout_outcome")
    op.create_primary_key("pk_rollout_outcome", "rollout_outcome", ["rollout", "minute", "side", "sender"])


def downgrade() -> None:
    op.drop_constraint("pk_rollout_outcome", "rollout_outcome")
    op.execute("TRUNCATE rollout_outcome")
    op.drop_column("rollout_outcome", "sender")
    op.create_primary_key("pk_rollout_outcome", "rollout_outcome", ["rollout", "side", "minute"])
    op.drop_index("ix_rollout_ended", "rollout")
    op.drop_index("ix_rollout_in_force", "rollout")
    op.drop_index("uq_rollout_id", "rollout")
    op.drop_constraint("in_force", "rollout")
    for column in ("cleared_at", "in_force", "steps", "above"):
        op.drop_column("rollout", column)
