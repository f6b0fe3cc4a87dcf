"""gates: stored checks, and the lines consumers have accepted

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gate_check",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("namespaces", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "line_acceptance",
        sa.Column("skill", sa.Text(), sa.ForeignKey("skill.name"), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("accepted_by", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_by", sa.Text()),
        sa.PrimaryKeyConstraint("skill", "id"),
    )
    op.create_index(
        "uq_line_acceptance_standing",
        "line_acceptance",
        ["skill", "consumer", "line"],
        unique=True,
        postgresql_where=sa.text("revoked_at IS NULL"),
    )
    op.create_table(
        "consumer_contact",
        sa.Column("skill", sa.Text(), sa.ForeignKey("skill.name"), nullable=False),
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("first_version", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("skill", "consumer"),
    )


def downgrade() -> None:
    op.drop_table("consumer_contact")
    op.drop_table("line_acceptance")
    op.drop_table("gate_check")
