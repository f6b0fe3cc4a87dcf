"""events: until when the secret before a rotation signs too

Revision ID: 0020
Revises: 0019
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("webhook", sa.Column("previous_until", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("webhook", "previous_until")
