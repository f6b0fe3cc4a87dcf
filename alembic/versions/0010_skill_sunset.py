"""skills: a list tells the state of today, as the version itself does

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("skill", sa.Column("sunset", sa.Date()))
    op.execute(
        """
        UPDATE skill SET sunset = (
            SELECT s.sunset FROM skill_version v JOIN skill_version_state s USING (skill, sort_key)
            WHERE v.skill = skill.name AND (skill.latest IS NULL OR v.version = skill.latest)
            ORDER BY v.sort_key DESC LIMIT 1
        )
        """
    )


def downgrade() -> None:
    op.drop_column("skill", "sunset")
