"""policies: what each scope sets, revision by revision

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policy_revision",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("settings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("set_by", sa.Text(), nullable=False),
        sa.CheckConstraint("(scope = 'global') = (name = '')", name="global_has_no_name"),
        sa.CheckConstraint("scope IN ('global', 'namespace', 'skill')", name="scope"),
        sa.PrimaryKeyConstraint("scope", "name", "revision"),
    )
    op.execute(
        """
        CREATE TRIGGER never_rewritten BEFORE UPDATE OR DELETE OR TRUNCATE ON policy_revision
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()
        """
    )


def downgrade() -> None:
    op.drop_table("policy_revision")
