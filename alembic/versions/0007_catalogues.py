"""catalogues: releases of whole tool lists

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "catalogue",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("latest", sa.Text()),
        sa.Column("members", sa.Integer(), nullable=False),
        sa.Column("releases", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "catalogue_release",
        sa.Column("catalogue", sa.Text(), sa.ForeignKey("catalogue.name"), nullable=False),
        sa.Column("sort_key", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("version_by", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("baseline", sa.Text()),
        sa.Column("bump", sa.Text(), nullable=False),
        sa.Column("members", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("repository", sa.Text()),
        sa.Column("commit", sa.Text()),
        sa.Column("run", sa.Text()),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("catalogue", "sort_key"),
    )
    op.create_table(
        "catalogue_member",
        sa.Column("catalogue", sa.Text(), nullable=False),
        sa.Column("release_key", sa.LargeBinary(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("version_key", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["catalogue", "release_key"], ["catalogue_release.catalogue", "catalogue_release.sort_key"]
        ),
        sa.ForeignKeyConstraint(["skill", "version_key"], ["skill_version.skill", "skill_version.sort_key"]),
        sa.PrimaryKeyConstraint("catalogue", "release_key", "skill"),
    )
    op.create_index("ix_catalogue_member_skill", "catalogue_member", ["skill", "version_key"])
    for table in ("catalogue_release", "catalogue_member"):
        op.execute(
            f"""
            CREATE TRIGGER never_rewritten BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()
            """
        )


def downgrade() -> None:
    op.drop_table("catalogue_member")
    op.drop_table("catalogue_release")
    op.drop_table("catalogue")
