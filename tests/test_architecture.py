"""The house's rules that no single module can keep: what lies where, who imports whom, what is written down."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import governance
from governance.control.settings import SETTINGS, Setting
from governance.errors import GovernanceError, all_errors

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP_LEVEL = {
    ".ci",
    ".dockerignore",
    ".gitignore",
    ".pre-commit-hooks.yaml",
    "CHANGELOG.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "alembic",
    "benchmarks",
    "constraints.txt",
    "dashboards",
    "deploy",
    "dev.py",
    "docker-compose.yml",
    "docs",
    "governance",
    "pyproject.toml",
    "tests",
}
MADE_HERE = {
    line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line and not line.startswith("#")
} | {".git"}
LONGEST_MODULE = 400


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = grimp.build_graph("governance", exclude_type_checking_imports=True, cache_dir=None)
    sorter = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    sorter.prepare()  # raises CycleError, which names the modules


def ours() -> Iterator[Path]:
    """Every file of the project, without what tools make beside it."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not made_here(name)]
        yield from (Path(folder) / name for name in files if not made_here(name))


def made_here(name: str) -> bool:
    return any(Path(name).match(pattern) for pattern in MADE_HERE)


def modules() -> list[Path]:
    return sorted((ROOT / "governance").rglob("*.py"))


def test_the_top_level_holds_what_a_newcomer_expects_and_nothing_else() -> None:
    assert {path.name for path in ROOT.iterdir() if not made_here(path.name)} <= TOP_LEVEL


def test_imports_follow_the_contracts() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run([str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout


def test_alembics_folder_does_not_hide_the_library() -> None:
    assert not (ROOT / "alembic" / "__init__.py").exists()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_one_idea(path: Path) -> None:
    text = path.read_text()
    length = text.count("\n")
    assert length <= LONGEST_MODULE
    assert ast.get_docstring(ast.parse(text)), "its first docstring says why it exists"
    assert path.stem not in {"utils", "helpers", "common", "misc"}


def declared_names() -> Iterator[str]:
    """What the package asks for by name, the extras it asks of them included."""
    for requirement in map(Requirement, PROJECT["project"]["dependencies"]):
        yield canonicalize_name(requirement.name)
        for further in map(Requirement, metadata.requires(requirement.name) or []):
            if further.marker and any(further.marker.evaluate({"extra": extra}) for extra in requirement.extras):
                yield canonicalize_name(further.name)


def test_what_the_package_imports_is_declared() -> None:
    declared = set(declared_names())
    provided = metadata.packages_distributions()
    imported: dict[str, str] = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            imported |= {name.partition(".")[0]: str(path.relative_to(ROOT)) for name in names}
    for name, where in imported.items():
        if name not in sys.stdlib_module_names and name != "governance":
            assert {canonicalize_name(owner) for owner in provided[name]} & declared, f"{where} imports {name}"


@pytest.mark.parametrize("extra", ["pytest", "hypothesis", "packaging", "hatchling"])
def test_what_only_development_needs_is_not_needed_to_run(extra: str) -> None:
    assert canonicalize_name(extra) not in set(declared_names())


def test_every_module_can_be_imported_first() -> None:
    names = [found.name for found in pkgutil.walk_packages(governance.__path__, "governance.")]
    assert len(names) > 20
    for name in names:
        if not name.endswith("__main__") and ".migrations" not in name:
            importlib.import_module(name)


@pytest.mark.parametrize("error", list(all_errors()), ids=lambda error: str(error.__name__))
def test_every_error_is_in_the_docs(error: type[GovernanceError]) -> None:
    row = f"| `{error.code}` | {error.title} | {error.status} | {error.exit_code} |"
    assert row in (ROOT / "docs" / "errors.md").read_text().splitlines()


def test_an_errors_code_belongs_to_one_meaning() -> None:
    meanings: dict[str, set[tuple[int, int]]] = {}
    for error in all_errors():
        meanings.setdefault(error.code, set()).add((error.status, error.exit_code))
    assert {code: found for code, found in meanings.items() if len(found) > 1} == {}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.variable)
def test_every_setting_is_in_the_docs(setting: Setting) -> None:
    row = f"| `{setting.variable}` | {setting.shown_default} | {setting.meaning} |"
    assert row in (ROOT / "docs" / "settings.md").read_text().splitlines()


def test_nothing_tells_of_the_machine_it_was_written_on() -> None:
    """No path of a checkout, no address of a package index: both would tie the project to one place."""
    telling = re.compile(
        rf"{re.escape(str(ROOT))}/|(?<![\w.])/(?:work|root)/[.\w]|--(?:extra-)?index-url|\bpythonhosted\b|\w/simple/"
    )
    allowed = {ROOT / "tests" / "data", Path(__file__)}
    found = []
    for path in ours():
        if path in allowed or allowed & set(path.parents):
            continue
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if match := telling.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    assert found == []
