#!/usr/bin/env python3
"""One command from a fresh clone: makes .venv when it has to, then runs what you asked for.

    python3 dev.py demo          the main job, on example skills, with its own database
    python3 dev.py test [ARGS]   the tests; ARGS go to pytest
    python3 dev.py fuzz [ARGS]   property and API tests, with many more examples
    python3 dev.py lint          style, types and import contracts
    python3 dev.py pin           write the pinned versions anew from the newest that fit
    python3 dev.py govctl ARGS   the command line of this checkout

Needs Python 3.11 or later with venv, and nothing else; uses uv where it is on PATH.
"""

# Standard library only, and nothing that an old Python cannot parse: it must live to say that it is too old.
from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
STAMP = VENV / ".made-from"
TESTER = VENV / "schemathesis"
"""An environment apart: the API's tester needs another version of the validator than the product is pinned to."""
TESTER_PINS = ROOT / "tests" / "schemathesis.txt"
OLDEST_PYTHON = (3, 11)
OLDEST_GLIBC = (2, 28)


class SetupError(Exception):
    """Something on this machine stands in the way; the text says what to do."""


def check_python(version: Sequence[int], which: Callable[[str], str | None] = shutil.which) -> None:
    """Refuse a Python that is too old, and name a newer one if there is one."""
    if tuple(version[:2]) >= OLDEST_PYTHON:
        return
    newer = next((f"python3.{minor}" for minor in range(20, 10, -1) if which(f"python3.{minor}")), None)
    todo = f"run `{newer} dev.py` instead" if newer else "install one, or uv, which brings one"
    raise SetupError(f"Python 3.11 or later is needed and this is {version[0]}.{version[1]}: {todo}.")


def check_platform(system: str, host: str, glibc: str) -> None:
    """Refuse systems the database's wheel is not built for. ``glibc`` is empty for another C library."""
    if system.startswith("win"):
        raise SetupError("Windows is not supported: use WSL or a container with a glibc Linux.")
    if not system.startswith("linux"):
        return
    if "musl" in host or not glibc:
        raise SetupError(
            "This Linux has no glibc (Alpine and others use musl) and the database server's wheel needs it:"
            " use a Debian, Ubuntu, Fedora or similar machine or image."
        )
    number = tuple(int(part) for part in re.findall(r"\d+", glibc)[:2])
    if number < OLDEST_GLIBC:
        raise SetupError(f"glibc 2.28 or later is needed and this is {glibc}: use a newer system or image.")


def check_tools(uv: str | None, importable: Callable[[str], bool]) -> None:
    """Without uv, the standard library must be able to make an environment that has pip."""
    if uv is None and not (importable("venv") and importable("ensurepip")):
        raise SetupError(
            "This Python cannot make virtual environments: install its venv package"
            " (Debian and Ubuntu: `apt install python3-venv`), or put uv on PATH."
        )


def check_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SetupError(f"{folder} cannot be written: clone the project into a folder of your own.")


def wanted() -> str:
    """What the environment must have been made from: the declared packages, their pins and the Python."""
    digest = hashlib.sha256()
    for part in (ROOT / "pyproject.toml", ROOT / "constraints.txt"):
        digest.update(hashlib.sha256(part.read_bytes()).digest())
    digest.update(f"{sys.version_info[0]}.{sys.version_info[1]} {ROOT}".encode())
    return digest.hexdigest()


def made_from() -> str | None:
    try:
        return STAMP.read_text()
    except (OSError, UnicodeDecodeError):
        return None


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """The caller's, less what would lead a program to another Python, and without caches nobody can write."""
    kept = {name: value for name, value in base.items() if name not in {"PYTHONHOME", "VIRTUAL_ENV"}}
    home = Path(kept.get("HOME") or "/nonexistent")
    cache = Path(kept.get("XDG_CACHE_HOME") or home / ".cache")
    if not os.access(cache if cache.exists() else home, os.W_OK):
        kept.setdefault("PIP_NO_CACHE_DIR", "1")
        kept.setdefault("UV_NO_CACHE", "1")
    kept.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    return kept


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One process at a time makes the environment; the lock falls with the process that holds it."""
    import fcntl

    with Path(__file__).open("rb") as handle:
        with contextlib.suppress(OSError):  # a file system without locks: as good as it gets
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make(uv: str | None) -> None:
    """Make ``.venv`` what it should be. The stamp comes last, so an interrupted run is simply done again."""
    check_writable(ROOT)
    with alone():
        stamp = wanted()
        if made_from() == stamp:
            return
        print("Setting up .venv, about a minute the first time ...", file=sys.stderr, flush=True)
        STAMP.unlink(missing_ok=True)
        if not ((uv and make_with_uv(uv)) or make_with_pip()):
            raise SetupError(
                "The packages could not be installed (see above):"
                " check the network and your package index, then run the same command again."
            )
        partial = STAMP.with_suffix(".new")
        partial.write_text(stamp)
        partial.replace(STAMP)


def make_with_uv(uv: str) -> bool:
    """False where uv could not, and pip shall try."""
    same = f"import sys; raise SystemExit(sys.version_info[:2] != {sys.version_info[:2]!r})"
    if not works("-c", same):
        shutil.rmtree(VENV, ignore_errors=True)
        if not run([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)]):
            return False
    target = ["--python", str(BIN / "python")]
    done = run([uv, "pip", "install", "--quiet", *target, "-e", ".[dev]", "-c", "constraints.txt"])
    if not done:
        print("uv could not; trying pip.", file=sys.stderr, flush=True)
    return done


def make_with_pip() -> bool:
    check_tools(None, importable)
    if not works("-m", "pip", "--version"):
        shutil.rmtree(VENV, ignore_errors=True)
        if not run([sys.executable, "-m", "venv", str(VENV)]):
            raise SetupError(
                "The virtual environment could not be made (see above):"
                " install your Python's venv package (Debian and Ubuntu: `apt install python3-venv`)."
            )
    return run([str(BIN / "python"), "-m", "pip", "install", "--quiet", "-e", ".[dev]", "-c", "constraints.txt"])


def make_tester(uv: str | None) -> None:
    """Make the environment of the API's tester what its pins say; only tests need it."""
    stamp, made = hashlib.sha256(TESTER_PINS.read_bytes()).hexdigest(), TESTER / ".made-from"
    with alone():
        if made.exists() and made.read_text() == stamp:
            return
        shutil.rmtree(TESTER, ignore_errors=True)
        python = str(TESTER / "bin" / "python")
        if uv:
            new = [uv, "venv", "--quiet", "--python", str(BIN / "python"), str(TESTER)]
            fill = [uv, "pip", "install", "--quiet", "--python", python, "-r", str(TESTER_PINS)]
        else:
            new = [str(BIN / "python"), "-m", "venv", str(TESTER)]
            fill = [python, "-m", "pip", "install", "--quiet", "-r", str(TESTER_PINS)]
        if not (run(new) and run(fill)):
            raise SetupError(
                "What tests the API could not be installed (see above):"
                " check the network and your package index, then run the same command again."
            )
        TESTER.mkdir(parents=True, exist_ok=True)
        made.write_text(stamp)


def works(*arguments: str) -> bool:
    """Whether the environment's Python does that; False where there is none."""
    try:
        answer = subprocess.run(
            [str(BIN / "python"), *arguments], capture_output=True, env=environment(os.environ), check=False
        )
    except OSError:
        return False
    return answer.returncode == 0


def importable(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def run(argv: Sequence[str]) -> bool:
    return subprocess.run(argv, cwd=ROOT, env=environment(os.environ), check=False).returncode == 0


def become(program: str, *arguments: str, folder: Path | None = None) -> int:
    """Run the environment's program in this process's place, so that signals and the terminal are its own.

    It runs where the caller stands, since the paths in ``arguments`` are the caller's, unless told otherwise.
    """
    env = environment(os.environ)
    env["PATH"] = os.pathsep.join([str(BIN), env.get("PATH", os.defpath)])
    sys.stdout.flush()
    if folder is not None:
        os.chdir(folder)
    os.execve(str(BIN / program), [program, *arguments], env)


def demo(arguments: Sequence[str]) -> int:
    return become("govctl", "demo", *arguments)


def govctl(arguments: Sequence[str]) -> int:
    return become("govctl", *arguments)


def test(arguments: Sequence[str]) -> int:
    make_tester(shutil.which("uv"))
    return become("pytest", *workers(arguments, cores()), *arguments, folder=ROOT)


def fuzz(arguments: Sequence[str]) -> int:
    make_tester(shutil.which("uv"))
    more = ("--hypothesis-profile=fuzz", "--timeout=0")
    return become("pytest", *workers(arguments, cores()), *more, *arguments, folder=ROOT)


def lint(arguments: Sequence[str]) -> int:
    """Every check runs, so that one look shows all there is to mend."""
    if arguments:
        raise SetupError("lint takes no arguments.")
    checks = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports"])
    failed = [" ".join(check) for check in checks if not run([str(BIN / check[0]), *check[1:]])]
    if failed:
        print(f"Failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def pin(arguments: Sequence[str]) -> int:
    """Names and versions only: an index's address in a pin would tie the project to one machine's set-up."""
    if arguments:
        raise SetupError("pin takes no arguments.")
    uv = shutil.which("uv")
    make_tester(uv)
    newest(uv, BIN / "python", "-e", ".[dev]", into=ROOT / "constraints.txt")
    newest(uv, TESTER / "bin" / "python", "schemathesis", into=TESTER_PINS)
    return 0


def newest(uv: str | None, python: Path, *wanted: str, into: Path) -> None:
    """Bring an environment up to date and write down what it holds then."""
    if uv:
        install = [uv, "pip", "install", "--python", str(python), "--upgrade"]
        freeze = [uv, "pip", "freeze", "--python", str(python)]
    else:
        install = [str(python), "-m", "pip", "install", "--upgrade", "--upgrade-strategy=eager"]
        freeze = [str(python), "-m", "pip", "freeze"]
    if not run([*install, "--quiet", *wanted]):
        raise SetupError("The packages could not be brought up to date (see above).")
    frozen = subprocess.run(freeze, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pins = re.findall(r"^(?!pip==|setuptools==)[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+$", frozen, re.MULTILINE)
    into.write_text("\n".join(sorted(pins, key=str.lower)) + "\n")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(arguments: Sequence[str], available: int) -> list[str]:
    """One pytest process a core, eight at most (each has its own server), unless the caller decides."""
    decided = any(
        argument.startswith(("-n", "--numprocesses", "--dist", "--pdb", "--collect-only", "-p"))
        for argument in arguments
    )
    return [] if decided or available < 2 else ["-n", str(min(available, 8)), "--dist", "worksteal"]


COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "demo": demo,
    "test": test,
    "fuzz": fuzz,
    "lint": lint,
    "pin": pin,
    "govctl": govctl,
}


def main(argv: Sequence[str]) -> int:
    if not argv or argv[0] in {"-h", "--help"}:
        print((__doc__ or "").strip())
        return 0 if argv else 2
    command = COMMANDS.get(argv[0])
    if command is None:
        print(f"dev.py: there is no {argv[0]!r}; choose from {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    try:
        check_python(sys.version_info[:2])
        names = os.confstr_names if hasattr(os, "confstr_names") else {}
        glibc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in names else None
        check_platform(sys.platform, str(sysconfig.get_config_var("HOST_GNU_TYPE") or ""), glibc or "")
        if made_from() != wanted():
            make(shutil.which("uv"))
        return command(argv[1:])
    except SetupError as obstacle:
        print(f"dev.py: {obstacle}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("dev.py: interrupted; run the same command again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
