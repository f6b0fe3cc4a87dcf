"""dev.py: from a fresh clone to the command you asked for, in any order, interrupted or not."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).parents[1]

FAKE_UV = """#!/bin/sh
echo "uv $*" >> "$FAKE_LOG"
[ -z "$FAKE_UV_SIGNAL" ] || { kill -s "$FAKE_UV_SIGNAL" $PPID; sleep 1; }
[ -z "$FAKE_UV_FAILS" ] || exit 1
case "$1" in venv) ;; *) exit 0 ;; esac
mkdir -p .venv/bin
for program in python govctl pytest; do
  printf '#!/bin/sh\\necho "%s $*" >> "$FAKE_LOG"\\n' "$program" > ".venv/bin/$program"
  chmod +x ".venv/bin/$program"
done
"""


@pytest.fixture(scope="module")
def dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Clone:
    """A clone with a uv that writes down what it is asked and makes an environment of shell scripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.folder.mkdir()
        for name in ("dev.py", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, self.folder / name)
        (self.folder / "tests").mkdir()
        shutil.copy(ROOT / "tests" / "schemathesis.txt", self.folder / "tests")
        self.tools = folder / "tools"
        self.tools.mkdir()
        (self.tools / "uv").write_text(FAKE_UV)
        (self.tools / "uv").chmod(0o755)
        self.log = folder / "log"

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": f"{self.tools}:/usr/bin:/bin",
            "HOME": "/nonexistent",
            "FAKE_LOG": str(self.log),
            **environment,
        }
        return subprocess.run(
            [sys.executable, "dev.py", *arguments],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls(self) -> list[str]:
        """What was asked since the last look."""
        said = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line for line in said if not line.startswith("python -c")]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize("first", ["demo", "govctl"])
def test_any_command_may_come_first_and_only_the_first_sets_up(clone: Clone, first: str) -> None:
    assert clone.run(first, "--version").returncode == 0
    made, installed, ran = clone.calls()
    assert made.startswith("uv venv")
    assert installed.startswith("uv pip install")
    assert installed.endswith("-e .[dev] -c constraints.txt")
    assert ran == ("govctl demo --version" if first == "demo" else "govctl --version")
    assert clone.run(first, "--version").returncode == 0
    assert clone.calls() == [ran]


def test_the_first_test_sets_up_the_apis_tester_apart(clone: Clone) -> None:
    clone.run("govctl")
    clone.calls()
    assert clone.run("test", "-k", "one").returncode == 0
    made, installed, ran = clone.calls()
    assert made.endswith(".venv/schemathesis")
    assert installed.endswith("tests/schemathesis.txt")
    assert ran.startswith("pytest ")
    assert ran.endswith("-k one")
    assert clone.run("test").returncode == 0
    assert len(clone.calls()) == 1
    (clone.folder / "tests" / "schemathesis.txt").write_text("schemathesis==5\n")
    assert clone.run("test", FAKE_UV_FAILS="1").returncode == 1
    assert clone.run("test").returncode == 0


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_dependency_is_installed_by_the_next_command(clone: Clone, name: str) -> None:
    clone.run("govctl")
    clone.calls()
    with (clone.folder / name).open("a") as file:
        file.write("# changed\n")
    clone.run("govctl")
    installed, ran = clone.calls()
    assert installed.startswith("uv pip install")
    assert ran == "govctl "
    clone.run("govctl")
    assert len(clone.calls()) == 1


@pytest.mark.parametrize(("command", "there"), [("govctl", "elsewhere"), ("demo", "elsewhere"), ("test", "clone")])
def test_paths_are_the_callers_own_and_only_the_tests_run_in_the_checkout(
    clone: Clone, tmp_path: Path, command: str, there: str
) -> None:
    clone.run("test")
    for program in ("govctl", "pytest"):
        (clone.folder / ".venv" / "bin" / program).write_text("#!/bin/sh\npwd\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer = subprocess.run(
        [sys.executable, clone.folder / "dev.py", command],
        cwd=elsewhere,
        env={"PATH": f"{clone.tools}:/usr/bin:/bin", "HOME": "/nonexistent", "FAKE_LOG": str(clone.log)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.stdout.strip() == str((tmp_path / there).resolve())


@pytest.mark.parametrize("signal", ["INT", "KILL", "TERM"])
def test_an_interrupted_setup_is_done_again(clone: Clone, signal: str) -> None:
    stopped = clone.run("govctl", FAKE_UV_SIGNAL=signal)
    assert stopped.returncode in {130, -9, -15}
    assert "Traceback" not in stopped.stderr
    clone.calls()
    assert clone.run("govctl").returncode == 0
    assert clone.calls()[-1] == "govctl "
    clone.run("govctl")
    assert clone.calls() == ["govctl "]


def test_where_uv_cannot_pip_does_it(clone: Clone) -> None:
    clone.run("govctl")
    clone.calls()
    (clone.folder / ".venv" / ".made-from").unlink()
    assert clone.run("govctl", FAKE_UV_FAILS="1").returncode == 0
    calls = clone.calls()
    assert calls[-2] == "python -m pip install --quiet -e .[dev] -c constraints.txt"
    assert calls[-1] == "govctl "


def test_a_python_without_venv_says_what_to_install(clone: Clone, tmp_path: Path) -> None:
    (clone.tools / "uv").unlink()
    missing = tmp_path / "missing"
    missing.mkdir()
    (missing / "ensurepip.py").write_text("raise ImportError('left out by the distribution')\n")
    answer = clone.run("demo", PYTHONPATH=str(missing))
    assert answer.returncode == 1
    assert "python3-venv" in answer.stderr
    assert len(answer.stderr.splitlines()) == 2
    assert not (clone.folder / ".venv").exists()


def test_packages_that_cannot_be_installed_leave_a_sentence_and_no_stamp(clone: Clone) -> None:
    clone.run("govctl")
    (clone.folder / ".venv" / ".made-from").unlink()
    python = clone.folder / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\n[ "$4" != "--quiet" ]\n')
    answer = clone.run("govctl", FAKE_UV_FAILS="1")
    assert answer.returncode == 1
    assert "check the network" in answer.stderr.splitlines()[-1]
    assert not (clone.folder / ".venv" / ".made-from").exists()


def test_two_at_once_set_up_once(clone: Clone) -> None:
    uv = clone.tools / "uv"
    uv.write_text(FAKE_UV.replace("case", "sleep 0.3\ncase", 1))
    env = {"PATH": f"{clone.tools}:/usr/bin:/bin", "FAKE_LOG": str(clone.log)}
    argv = [sys.executable, "dev.py", "govctl"]
    children = [subprocess.Popen(argv, cwd=clone.folder, env=env, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert sum(call.startswith("uv pip install") for call in clone.calls()) == 1


def test_an_unknown_command_lists_the_known_ones_and_sets_nothing_up(clone: Clone) -> None:
    answer = clone.run("tset")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "'tset'; choose from demo, test" in answer.stderr
    assert clone.run().returncode == 2
    assert clone.run("--help").returncode == 0
    assert clone.calls() == []


def test_an_old_python_is_told_which_newer_one_is_there(dev: ModuleType) -> None:
    with pytest.raises(dev.SetupError, match=r"3\.11 or later is needed and this is 3\.9: run `python3\.12 dev\.py`"):
        dev.check_python((3, 9), which=lambda name: name if name == "python3.12" else None)
    with pytest.raises(dev.SetupError, match="install one, or uv"):
        dev.check_python((3, 10), which=lambda name: None)
    dev.check_python((3, 11))
    dev.check_python((4, 0))


@pytest.mark.parametrize(
    ("system", "host", "glibc", "sentence"),
    [
        ("win32", "", "", "WSL"),
        ("linux", "x86_64-alpine-linux-musl", "", "musl"),
        ("linux", "x86_64-pc-linux-gnu", "", "no glibc"),
        ("linux", "x86_64-pc-linux-gnu", "glibc 2.17", r"2\.28 or later is needed and this is glibc 2\.17"),
    ],
)
def test_a_system_without_a_server_wheel_is_refused(
    dev: ModuleType, system: str, host: str, glibc: str, sentence: str
) -> None:
    with pytest.raises(dev.SetupError, match=sentence):
        dev.check_platform(system, host, glibc)


def test_systems_with_a_server_wheel_pass(dev: ModuleType) -> None:
    dev.check_platform("linux", "x86_64-pc-linux-gnu", "glibc 2.28")
    dev.check_platform("darwin", "", "")


def test_a_clone_that_cannot_be_written_is_named(dev: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(dev.SetupError, match="gone cannot be written"):
        dev.check_writable(tmp_path / "gone")


def test_a_home_that_cannot_be_written_goes_without_caches(dev: ModuleType, tmp_path: Path) -> None:
    without = dev.environment({"HOME": "/nonexistent", "PYTHONHOME": "/elsewhere"})
    assert (without["PIP_NO_CACHE_DIR"], without["UV_NO_CACHE"]) == ("1", "1")
    assert "PYTHONHOME" not in without
    assert "UV_NO_CACHE" not in dev.environment({"HOME": str(tmp_path)})


def test_tests_take_every_core_unless_the_caller_decides(dev: ModuleType) -> None:
    assert dev.workers(["-k", "x"], 4) == ["-n", "4", "--dist", "worksteal"]
    assert dev.workers([], 64)[:2] == ["-n", "8"]
    assert dev.workers([], 1) == []
    for decided in (["-n0"], ["-n", "3"], ["--pdb"], ["--collect-only"]):
        assert dev.workers(decided, 4) == []


def test_it_needs_the_standard_library_alone_and_parses_on_a_python_too_old_to_run_it() -> None:
    source = (ROOT / "dev.py").read_text()
    tree = ast.parse(source, feature_version=(3, 7))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_pins_are_names_and_versions_only_and_cover_what_is_installed() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    apart = (ROOT / "tests" / "schemathesis.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in apart)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in lines)
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    needed: dict[NormalizedName, str] = {}
    asked = [Requirement("skill-governance[dev]")]
    while asked:
        requirement = asked.pop()
        name = canonicalize_name(requirement.name)
        if name in needed and not requirement.extras:
            continue
        needed[name] = metadata.version(name)
        for text in metadata.requires(name) or []:
            further = Requirement(text)
            extras = requirement.extras or {""}
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
                asked.append(further)
    del needed[canonicalize_name("skill-governance")]
    assert needed == {name: pins.get(name, "no pin") for name in needed}
    assert not {str(name) for name in pins} & {"pip", "setuptools", "skill-governance"}


def test_the_readme_and_ci_use_commands_that_exist(dev: ModuleType) -> None:
    for file in (ROOT / "README.md", ROOT / ".ci" / "run"):
        used = set(re.findall(r"python3 dev\.py ([a-z]+)", file.read_text()))
        assert used <= set(dev.COMMANDS), file
        assert "test" in used, file
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
