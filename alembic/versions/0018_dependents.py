"""skills: what depends on a version is found from the version: fallback steps, replacements, coming sunsets

Revision ID: 0018
Revises: 0017
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "skill_fallback",
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("sort_key", sa.LargeBinary(), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("range", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["skill", "sort_key"], ["skill_version.skill", "skill_version.sort_key"]),
        sa.PrimaryKeyConstraint("skill", "sort_key", "step"),
    )
    op.create_index("ix_skill_fallback_target", "skill_fallback", ["target"])
    _backfill()
    op.create_index(
        "ix_skill_version_state_sunset",
        "skill_version_state",
        ["sunset"],
        postgresql_where=sa.text("sunset IS NOT NULL"),
    )
    op.create_index(
        "ix_skill_version_state_replacement",
        "skill_version_state",
        ["replacement"],
        postgresql_where=sa.text("replacement IS NOT NULL"),
    )
    op.execute(
        """
        UPDATE skill_version_state s SET deprecated_on = v.published_at::date FROM skill_version v
        WHERE v.skill = s.skill AND v.sort_key = s.sort_key
          AND s.state IN ('deprecated', 'sunset') AND s.deprecated_on IS NULL
        """
    )
    op.create_index("ix_line_acceptance_id", "line_acceptance", ["id"])


def _backfill() -> None:
    connection = op.get_bind()
    rows = connection.execute(
        sa.text(
            "SELECT skill, sort_key, manifest FROM skill_version"
            " WHERE position(convert_to('\"fallback\"', 'UTF8') IN manifest) > 0"
        )
    )
    table = sa.table("skill_fallback", *map(sa.column, ("skill", "sort_key", "step", "target", "range")))
    for skill, key, manifest in rows.all():
        for step, one in enumerate(json.loads(bytes(manifest)).get("fallback") or ()):
            if "skill" in one:
                target, _, wanted = one["skill"].partition("@")
                values = {"skill": skill, "sort_key": key, "step": step, "target": target, "range": wanted}
                connection.execute(table.insert().values(**values))


def downgrade() -> None:
    op.drop_index("ix_line_acceptance_id", "line_acceptance")
    op.drop_index("ix_skill_version_state_replacement", "skill_version_state")
    op.drop_index("ix_skill_version_state_sunset", "skill_version_state")
    op.drop_table("skill_fallback")
