"""attestations: how the tests of a contract ended

Revision ID: 0022
Revises: 0021
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attestation",
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("contract_digest", sa.Text(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text()),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recorded_by", sa.Text(), nullable=False),
        sa.CheckConstraint("passed >= 0 AND failed >= 0", name="counts"),
        sa.PrimaryKeyConstraint("skill", "id"),
    )
    op.create_index("ix_attestation_contract", "attestation", ["skill", "contract_digest", "recorded_at"])


def downgrade() -> None:
    op.drop_table("attestation")
