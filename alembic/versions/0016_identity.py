"""identity: trusted publishers, and assertions that were spent

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "trusted_publisher",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("claims", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("grants", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("pending_until", sa.DateTime(timezone=True)),
        sa.Column("first_used_at", sa.DateTime(timezone=True)),
        sa.Column("last_used_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_by", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_trusted_publisher_issuer", "trusted_publisher", ["issuer"])
    op.create_table(
        "spent_assertion",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("octet_length(digest) = 32", name="digest_is_sha256"),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index("ix_spent_assertion_expires_at", "spent_assertion", ["expires_at"])


def downgrade() -> None:
    op.drop_table("spent_assertion")
    op.drop_table("trusted_publisher")
