"""lifecycle: the day of a deprecation, and acceptances by consumer

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("skill_version_state", sa.Column("deprecated_on", sa.Date()))
    op.create_index("ix_line_acceptance_consumer", "line_acceptance", ["consumer"])


def downgrade() -> None:
    op.drop_index("ix_line_acceptance_consumer", "line_acceptance")
    op.drop_column("skill_version_state", "deprecated_on")
