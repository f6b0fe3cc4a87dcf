"""How a migration runs: in the transaction ``migrate`` hands over, or on its own from alembic's command."""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import Connection

from governance.control import domains  # noqa: F401 - importing the domains registers their tables
from governance.control.database import METADATA
from governance.control.migrating import apply_grants, migration_connection
from governance.control.settings import Settings
from governance.errors import UsageError


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()
    apply_grants(connection, METADATA)


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    settings = Settings.from_environment(os.environ)
    url = settings.database_owner_url or settings.database_url
    if url is None:
        raise UsageError("No database is named.", fix="Set DATABASE_URL, or run `govctl migrate`.")
    with migration_connection(url) as opened:
        run(opened)
