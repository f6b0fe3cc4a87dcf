"""audit: entries in an order that never changes behind a reader

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Ids are given before commits, so a smaller one may appear behind a reader; with the transaction's number
    # before it, and no unfinished transaction read past, that cannot be.
    op.add_column(
        "audit_inbox",
        sa.Column(
            "xact", sa.BigInteger(), server_default=sa.text("pg_current_xact_id()::text::bigint"), nullable=False
        ),
    )
    op.drop_index("ix_audit_inbox_id", "audit_inbox")
    op.create_index("ix_audit_inbox_order", "audit_inbox", ["xact", "id"])
    op.drop_index("ix_audit_inbox_subject", "audit_inbox")
    op.create_index("ix_audit_inbox_subject", "audit_inbox", ["subject", "xact", "id"])


def downgrade() -> None:
    op.drop_index("ix_audit_inbox_subject", "audit_inbox")
    op.create_index("ix_audit_inbox_subject", "audit_inbox", ["subject", "id"])
    op.drop_index("ix_audit_inbox_order", "audit_inbox")
    op.create_index("ix_audit_inbox_id", "audit_inbox", ["id"])
    op.drop_column("audit_inbox", "xact")
