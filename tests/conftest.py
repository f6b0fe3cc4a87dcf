"""A real Postgres for every test that wants one: one server a worker, migrated once, a fresh copy a test."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import hypothesis
import psycopg
import pytest
from hypothesis import is_hypothesis_test

from governance.control import embedded
from governance.control.database import Database, migrate
from governance.control.roles import OWNER_ROLE, SERVICE_ROLE
from governance.control.settings import Settings

# A deadline per example measures the machine's other work, not ours; each test has a time limit of its own.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=100)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=int(os.environ.get("FUZZ_EXAMPLES", "5000")))
hypothesis.settings.load_profile("quick")

_NUMBERS = count(1)
_TEMPLATE = "template_governance"
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


def short_folder() -> Path:
    """A new folder that every user may enter: pytest's own is root's alone, its name long for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="gov-", dir="/tmp"))
    folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
    return folder


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only root can set up when somebody else runs, and all but what goes by chance when fuzzing.

    What is left out is counted in the closing line.
    """
    root, fuzzing = os.geteuid() == 0, config.getoption("--hypothesis-profile") == "fuzz"
    kept: list[pytest.Item] = []
    out: list[pytest.Item] = []
    for item in items:
        wanted = root or item.get_closest_marker("needs_root") is None
        if fuzzing:
            by_chance = is_hypothesis_test(getattr(item, "obj", None)) or item.get_closest_marker("fuzzes")
            wanted = wanted and bool(by_chance)
        (kept if wanted else out).append(item)
    config.hook.pytest_deselected(items=out)
    items[:] = kept


@pytest.fixture
def short_home() -> Iterator[Path]:
    """A home for an embedded server of the test's own; removed afterwards."""
    folder = short_folder()
    yield folder / "home"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[embedded.Server]:
    """This worker's server. It forgets in a crash: tests that crash one start their own in ``short_home``."""
    folder = short_folder()
    try:
        with embedded.start(folder / "home", options=_FAST) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template(server: embedded.Server) -> str:
    """The name of a database that stands at the head revision and that tests copy."""
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {_TEMPLATE} OWNER {OWNER_ROLE}")
    migrate(server.url(role=OWNER_ROLE, database=_TEMPLATE))
    return _TEMPLATE


@pytest.fixture
def database_name(server: embedded.Server, template: str) -> Iterator[str]:
    """A fresh migrated database of the test's own, dropped afterwards."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {OWNER_ROLE}")
        yield name
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(server: embedded.Server, database_name: str) -> str:
    """The service's login to the test's database."""
    return server.url(role=SERVICE_ROLE, database=database_name)


@pytest.fixture
def owner_url(server: embedded.Server, database_name: str) -> str:
    """The owner's login to the test's database."""
    return server.url(role=OWNER_ROLE, database=database_name)


@pytest.fixture
def settings(database_url: str, owner_url: str, tmp_path: Path) -> Settings:
    """Settings of a service on the test's database, with small pools and a home of its own."""
    return Settings(
        home=tmp_path,
        database_url=database_url,
        database_owner_url=owner_url,
        port=0,
        session_pool_size=5,
        read_pool_size=5,
    )


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The test's database as the service sees it; open its reads with ``async with database.reading()``."""
    assert settings.database_url is not None
    opened = Database(settings.database_url, settings)
    yield opened
    opened.close()
