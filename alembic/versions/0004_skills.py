"""skills: skills, immutable versions, and the live state beside each

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_STATE = "state IN ('draft', 'active', 'deprecated', 'sunset', 'retired')"


def upgrade() -> None:
    op.create_table(
        "skill",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("short_name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text()),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("fields", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("search", sa.Text(), nullable=False),
        sa.Column("latest", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("versions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(_STATE, name="state"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_skill_namespace", "skill", ["namespace", "name"])
    op.create_index("ix_skill_short_name", "skill", ["short_name", "name"])
    op.create_index("ix_skill_tags", "skill", ["tags"], postgresql_using="gin")
    op.create_index("ix_skill_fields", "skill", ["fields"], postgresql_using="gin")

    op.create_table(
        "skill_version",
        sa.Column("skill", sa.Text(), sa.ForeignKey("skill.name"), nullable=False),
        sa.Column("sort_key", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("manifest", sa.LargeBinary(), nullable=False),
        sa.Column("manifest_digest", sa.Text(), nullable=False),
        sa.Column("contract_digest", sa.Text(), nullable=False),
        sa.Column("declared", sa.Text()),
        sa.Column("computed", sa.Text()),
        sa.Column("level", sa.Text()),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("baseline", sa.Text()),
        sa.Column("opens_line", sa.Boolean(), nullable=False),
        sa.Column("decision", sa.LargeBinary(), nullable=False),
        sa.Column("opened_by", sa.LargeBinary()),
        sa.Column("reason", sa.Text()),
        sa.Column("repository", sa.Text()),
        sa.Column("commit", sa.Text()),
        sa.Column("run", sa.Text()),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("skill", "sort_key"),
    )
    op.create_index("ix_skill_version_manifest_digest", "skill_version", ["manifest_digest"])
    op.create_index("ix_skill_version_contract_digest", "skill_version", ["contract_digest"])
    op.execute(
        """
        CREATE TRIGGER never_rewritten BEFORE UPDATE OR DELETE OR TRUNCATE ON skill_version
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()
        """
    )

    op.create_table(
        "skill_version_state",
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("sort_key", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("yanked", sa.Text()),
        sa.Column("disabled", sa.Text()),
        sa.Column("deprecated_since", sa.Text()),
        sa.Column("retired_since", sa.Date()),
        sa.Column("sunset", sa.Date()),
        sa.Column("replacement", sa.Text()),
        sa.Column("migration_guide", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(_STATE, name="state"),
        sa.ForeignKeyConstraint(["skill", "sort_key"], ["skill_version.skill", "skill_version.sort_key"]),
        sa.PrimaryKeyConstraint("skill", "sort_key"),
    )


def downgrade() -> None:
    op.drop_table("skill_version_state")
    op.drop_table("skill_version")
    op.drop_table("skill")
