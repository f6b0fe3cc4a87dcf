"""exceptions: that the end of one was told

Revision ID: 0019
Revises: 0018
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("gate_exception", sa.Column("end_told_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("gate_exception", "end_told_at")
