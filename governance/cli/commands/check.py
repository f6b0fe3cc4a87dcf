"""Would the gate let these skills in? Offline against files or git, or as the registry decides.

Without --against the registry is asked if one is configured; else the paths are compared with git:HEAD.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from governance.cli.announcing import Numbers, only_one_number
from governance.cli.changed import ChangedFiles
from governance.cli.checking import Release, check_release
from governance.cli.comparing import add_comparing, comparer_of, settings_of
from governance.cli.config import Connection, find_connection
from governance.cli.crew import Crew, jobs, jobs_for
from governance.cli.gitsource import repository_of
from governance.cli.releases import release_report, untouched_report
from governance.cli.run import Call
from governance.cli.servers import SOURCES, WORD, add_owner, add_servers, read_sources, some
from governance.cli.sources import GIT, Reader
from governance.cli.terminal import advancing, progress
from governance.core.compat.model import Verdict
from governance.core.lint import lint
from governance.core.skill import SkillManifest
from governance.errors import GovernanceError, ServerUnreachable, UsageError
from governance.importers import ImportResult

JUDGES = True
COMMAND_AFTER = WORD
REGISTRY = "registry"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=SOURCES)
    parser.add_argument("--against", metavar="BASE", help="PATH, git:REF, registry, or NAME@VERSION")
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    add_owner(parser)
    parser.add_argument("--version", metavar="VERSION", help="of the candidates, where they have none")
    parser.add_argument("--old-version", metavar="VERSION", help="of the baseline, where it has none")
    parser.add_argument("--bump", choices=("auto",), help="auto: each takes the smallest honest number, breaks too")
    parser.add_argument(
        "--allow-removed", metavar="NAME", action="append", default=[], help="this skill may go; repeatable"
    )
    add_comparing(parser)
    parser.add_argument(
        "--fail-on",
        choices=("risky", "breaking", "never"),
        help="block these whatever the number says; never: report only (default: as the gate decides)",
    )
    parser.add_argument("--no-transitive", action="store_true", help="judge against the baseline alone")
    parser.add_argument(
        "--jobs", metavar="N", type=jobs, help="how many processes judge (default: one a core where it pays)"
    )
    parser.add_argument(
        "--changed",
        metavar="FILE",
        help="judge only skills in the files listed there (- for standard input), a path a line or ended by NUL",
    )
    add_servers(parser)


def run(call: Call) -> int:
    """0 allowed or warned, 1 blocked, 3 undecided findings are all that blocks."""
    wanted = call.arguments
    only_one_number(wanted)
    new = read_sources(call, wanted.paths, namespace=wanted.namespace, version=wanted.version)
    changed = None if wanted.changed is None else ChangedFiles.read(wanted.changed)
    if changed is None:
        some(new)
    release = _release(call, new, changed)
    if release is None:
        return call.output.emit(untouched_report())
    code = 0 if wanted.fail_on == "never" else release.exit_code
    return call.output.emit(release_report(release, exit_code=code))


def _release(call: Call, new: ImportResult, changed: ChangedFiles | None) -> Release | None:
    """What the gate says; None where no changed file holds a skill, nor held one."""
    wanted = call.arguments
    against = wanted.against or _default_baseline(call)
    fail_on = Verdict(wanted.fail_on) if wanted.fail_on in ("risky", "breaking") else None
    numbers = Numbers(chosen=wanted.version is not None, automatic=wanted.bump == "auto")
    if against == REGISTRY:
        if wanted.allow_removed:
            call.output.note("--allow-removed: a registry does not see what is missing in these files.")
        from governance.cli.registry import check_online  # an offline check needs no HTTP client

        if changed is not None:
            new = changed.only(new, changed.touched(new))
            if not new.imported and not new.refused:
                return None
        return check_online(call, new, fail_on=fail_on, transitive=not wanted.no_transitive, numbers=numbers)
    reader = Reader.of(call)
    old = reader.skills(against, version=wanted.old_version, beside=wanted.paths)
    if changed is not None:
        touched = changed.touched(new, old)
        new, old = changed.only(new, touched), changed.only(old, touched)
        if not (new.imported or new.refused or old.imported):
            return None
    total, quiet = len(new.accepted), call.output.quiet
    most = min(wanted.jobs or jobs_for(sum(map(_characters, new.accepted))), total or 1)
    with comparer_of(wanted) as comparer, Crew(most) as crew, progress("checking", total, quiet=quiet) as bar:
        release = check_release(
            new,
            old,
            against=against,
            compare=partial(comparer.check, settings=settings_of(wanted)),
            lint=lint,
            fail_on=fail_on,
            transitive=not wanted.no_transitive,
            numbers=numbers,
            may_go=wanted.allow_removed,
            each=lambda work, items: advancing(crew.each(work, items), bar),
        )
    for name in sorted(set(wanted.allow_removed) - {one.member.name for one in release.gone}):
        call.output.note(f"--allow-removed {name}: no such skill was removed.")
    return release


def _characters(manifest: SkillManifest) -> int:
    return len(repr((manifest.input_schema, manifest.output_schema)))


def _answers(call: Call, connection: Connection) -> bool:
    """A local server that was stopped leaves its file behind: then this machine has no registry."""
    try:
        with connection.open() as plane:
            plane.ready()
    except ServerUnreachable:
        call.output.note(f"The local server of {connection.origin} does not run; looking for a git repository.")
        return False
    except GovernanceError:
        return True
    return True


def _default_baseline(call: Call) -> str:
    connection = find_connection(call.arguments, call.environment)
    if connection is not None and (not connection.local or _answers(call, connection)):
        return REGISTRY
    first = Path(call.arguments.paths[0])
    if first.exists() and repository_of(first.resolve()) is not None:
        return f"{GIT}HEAD"
    raise UsageError(
        "There is nothing to check against: no registry is configured and the source is in no git repository.",
        fix="Give --against PATH, git:REF or NAME@VERSION, or name a server with GOVCTL_SERVER.",
    )
