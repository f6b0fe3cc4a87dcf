"""verdicts: comparisons that need not be computed again

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "verdict",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("comparison", sa.LargeBinary(), nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_verdict_computed_at", "verdict", ["computed_at"])


def downgrade() -> None:
    op.drop_table("verdict")
