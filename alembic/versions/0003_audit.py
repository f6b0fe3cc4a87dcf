"""audit: the inbox, which nobody can rewrite

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_inbox",
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("entry", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "id"),
    )
    op.create_index("ix_audit_inbox_id", "audit_inbox", ["id"])
    op.create_index("ix_audit_inbox_subject", "audit_inbox", ["subject", "id"])
    # Grants bind the service's role; the trigger binds everyone, the owner's own sessions included.
    op.execute(
        """
        CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'rows of % are never changed or deleted', TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
        END
        $$
        """
    )
    op.execute(
        """
        CREATE TRIGGER never_rewritten BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_inbox
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()
        """
    )


def downgrade() -> None:
    op.drop_table("audit_inbox")
    op.execute("DROP FUNCTION refuse_rewriting()")
