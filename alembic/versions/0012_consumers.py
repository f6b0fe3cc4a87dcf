"""consumers: who needs what, environments, deployments

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "consumer",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("description", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "consumer_need",
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("range", sa.Text()),
        sa.Column("reads", postgresql.ARRAY(sa.Text())),
        sa.Column("sends", postgresql.ARRAY(sa.Text())),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("source IN ('declared', 'observed')", name="source"),
        sa.ForeignKeyConstraint(["consumer"], ["consumer.name"]),
        sa.PrimaryKeyConstraint("skill", "consumer", "environment", "source"),
    )
    op.create_index("ix_consumer_need_consumer", "consumer_need", ["consumer"])
    op.create_table(
        "environment",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("protected", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "deployment",
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("deployed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deployed_by", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("ended_by", sa.Text()),
        sa.ForeignKeyConstraint(["environment"], ["environment.name"]),
        sa.ForeignKeyConstraint(["skill"], ["skill.name"]),
        sa.PrimaryKeyConstraint("skill", "id"),
    )
    op.create_index(
        "ix_deployment_environment", "deployment", ["environment"], postgresql_where=sa.text("ended_at IS NULL")
    )
    op.create_index(
        "uq_deployment_standing",
        "deployment",
        ["skill", "environment", "version"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("deployment")
    op.drop_table("environment")
    op.drop_table("consumer_need")
    op.drop_table("consumer")
