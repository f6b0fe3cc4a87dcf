"""the service's own role

Revision ID: 0001
Revises:
"""

from __future__ import annotations

from alembic import op
from governance.control.roles import CREATE_SERVICE_ROLE

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(CREATE_SERVICE_ROLE)


def downgrade() -> None:
    """The role stays: it belongs to the server, and other databases may use it."""
