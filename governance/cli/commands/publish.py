"""Put versions into the registry, through the gate.

Everything is checked first and one refusal refuses all, with every reason; --partial publishes what passes.
Skills without a version get the smallest honest one if they break nothing; a break waits for --version, or for
--bump auto, which numbers all.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any

from governance.cli.announcing import Numbers, only_one_number
from governance.cli.cards import well_formed
from governance.cli.cases import GATE, Subject, sources_by_skill
from governance.cli.checking import Release
from governance.cli.config import require_connection
from governance.cli.numbering import Numbered, number
from governance.cli.present import JSONObject, is_taken
from governance.cli.provenance import provenance
from governance.cli.registry import ask, release_of
from governance.cli.releases import release_cases, release_document, release_report
from governance.cli.report import Block, Change, Report, Table, Verdict, Weight
from governance.cli.run import Call
from governance.cli.servers import SOURCES, WORD, add_owner, add_servers, read_sources, some
from governance.cli.terminal import counted, progress
from governance.client import ControlPlane
from governance.core.compat.model import Verdict as Word
from governance.core.skill import Status
from governance.core.versioning import Version
from governance.errors import Conflict, Forbidden, GateRefused, PartialFailure
from governance.importers import ImportResult

JUDGES = True
COMMAND_AFTER = WORD
PUBLISHED, UNCHANGED, REFUSED = "published", "unchanged", "refused"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=SOURCES)
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    add_owner(parser)
    parser.add_argument("--version", metavar="VERSION", help="for skills whose source has none")
    parser.add_argument("--bump", choices=("auto",), help="auto: number every skill by what changed")
    parser.add_argument("--reason", help="why, for the audit log")
    parser.add_argument("--fail-on", choices=("risky", "breaking"), help="block these whatever the number says")
    parser.add_argument("--no-transitive", action="store_true", help="judge against the baseline alone")
    parser.add_argument("--dry-run", action="store_true", help="only say what the gate would decide")
    parser.add_argument("--repository", help="where it is from, for the record (default: what CI says)")
    parser.add_argument("--commit", help="the commit it is from (default: what CI says)")
    parser.add_argument("--run", help="the build it is from (default: what CI says)")
    parser.add_argument("--partial", action="store_true", help="publish what passes and refuse the rest")
    add_servers(parser)


def run(call: Call) -> int:
    """0 all published, 1 the gate refused, 3 undecided alone refused, 6 versions are taken, 7 only some got in."""
    wanted = call.arguments
    only_one_number(wanted)
    new = some(read_sources(call, wanted.paths, namespace=wanted.namespace, version=wanted.version))
    connection = require_connection(wanted, call.environment)
    fail_on = Word(wanted.fail_on) if wanted.fail_on else None
    numbers = Numbers(chosen=wanted.version is not None, automatic=wanted.bump == "auto")
    _note_names(call, new)
    with well_formed(), _as_publisher(wanted), connection.open() as plane:
        numbered = sorted(number(plane, new.accepted, all_of_them=numbers.automatic), key=_in_order)
        decisions = ask(plane, numbered, fail_on=fail_on, transitive=not wanted.no_transitive, numbers=numbers)
        verb = "to be published" if wanted.dry_run else "published"
        release = release_of(connection.server, new, numbered, decisions, verb=verb)
        if wanted.dry_run or (release.outcome == "block" and not wanted.partial):
            code = Conflict.exit_code if _all_taken(release) else release.exit_code
            return call.output.emit(release_report(release, exit_code=code))
        done = _publish(call, plane, numbered, decisions)
    return call.output.emit(_report(new, release, done))


@contextlib.contextmanager
def _as_publisher(wanted: argparse.Namespace) -> Iterator[None]:
    """Whatever right is missed first on the way, publishing is what the token must be for."""
    try:
        yield
    except Forbidden as error:
        namespace = error.details.get("namespace") or wanted.namespace
        grant = f"publisher:{namespace}" if namespace and namespace != "*" else "publisher"
        error.fix = f"Publishing needs the role publisher: an admin runs `govctl token create NAME --grant {grant}`."
        raise


def _note_names(call: Call, new: ImportResult) -> None:
    """Names that any other source may hold too, and first states that no range leads to, are worth a word."""
    bare = sorted({one.name for one in new.accepted if "." not in one.name})
    if bare and call.arguments.namespace is None:
        shown = ", ".join(bare[:3]) + (", …" if len(bare) > 3 else "")
        call.output.note(
            f"warning: {counted(len(bare), 'name')} without a namespace ({shown}): any team may claim the same. "
            "--namespace NAME puts one before each."
        )
    for one in new.accepted:
        if one.status == Status.DRAFT.value:
            call.output.note(
                f"note: {one.name} {one.version} is a draft: only the pin {one.name}@{one.version} reaches it. "
                "When it is ready, publish a higher version with status: active."
            )


def _in_order(one: Numbered) -> tuple[str, Any]:
    """Several versions of a skill go in from the lowest up: each is judged against the ones before it."""
    return one.manifest.name, Version.parse(one.manifest.version).key


def _all_taken(release: Release) -> bool:
    """Whatever stands in the way has the number of other bytes, which must be mended first."""
    blocked = [one for one in release.decisions if one["decision"] == "block"]
    return bool(blocked) and not release.refused and all(map(is_taken, blocked))


def _publish(
    call: Call, plane: ControlPlane, numbered: list[Numbered], decisions: list[JSONObject]
) -> list[dict[str, Any]]:
    wanted = call.arguments
    results = []
    rest = iter(decisions)
    with progress("publishing", len(numbered), quiet=call.output.quiet) as bar:
        for one in numbered:
            result: dict[str, Any] = {"skill": one.manifest.name, "version": one.manifest.version}
            decision = None if one.standing else next(rest)
            if decision is None:
                result["outcome"] = UNCHANGED
            elif decision["decision"] == "block":
                result |= {"outcome": REFUSED, "decision": decision}
            else:
                result |= _put(plane, one, wanted)
            results.append(result)
            bar.advance(1)
    return results


def _put(plane: ControlPlane, one: Numbered, wanted: argparse.Namespace) -> dict[str, Any]:
    try:
        answer = plane.put_version(
            one.manifest.to_document(),
            reason=wanted.reason,
            fail_on=wanted.fail_on,
            transitive=not wanted.no_transitive,
            **provenance(wanted),
        )
    except (GateRefused, Conflict) as error:  # somebody published in between, or an earlier version of this run
        decision = error.details.get("decision")
        return {"outcome": REFUSED, "code": error.code, "decision": decision, "error": error.message}
    version = answer.version
    return {
        "outcome": PUBLISHED if answer.created else UNCHANGED,
        "level": version.level.value if version.level else None,
        "manifest_digest": version.manifest_digest,
        "contract_digest": version.contract_digest,
    }


def _report(new: ImportResult, release: Release, results: list[dict[str, Any]]) -> Report:
    counts = {word: sum(one["outcome"] == word for one in results) for word in (PUBLISHED, UNCHANGED, REFUSED)}
    counts[REFUSED] += len(new.refused)
    counted = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    failed = counts[REFUSED] > 0
    let_in = f"; {release.let_in}" if release.let_in else ""
    tone = "bad" if failed else "warn" if let_in else "good"
    blocks: list[Block] = [Verdict(word="published", sentence=f"{counted} at {release.against}{let_in}.", tone=tone)]
    rows = tuple((one["skill"], one["version"], one["outcome"], _level(one)) for one in results)
    if rows:
        blocks.append(Table(columns=("skill", "version", "outcome", "level"), rows=rows))
    if release.outcome != "allow" or release.let_in:
        told = release_report(release, unchecked=False).blocks
        blocks += (block for block in told if not isinstance(block, Verdict | Table))
    late = {
        one["skill"]: Change(code=one["code"], place=one["skill"], tone="bad", message=one["error"])
        for one in results
        if one.get("error")
    }
    blocks += late.values()
    find = sources_by_skill(new.imported)
    subjects = {skill: Subject.of(skill, find(skill, "")) for skill in late}
    refusals = (subjects[skill].case(GATE, [subjects[skill].remark(late[skill], Weight.ERROR)]) for skill in late)
    return Report(
        document={"results": results, **release_document(release)},
        blocks=tuple(blocks),
        records=results,
        exit_code=_exit_code(results) if failed else 0,
        cases=(*release_cases(release), *refusals),
    )


def _level(result: dict[str, Any]) -> str:
    decision = result.get("decision") or {}
    level = result.get("level") or decision.get("level")
    if level:
        return str(level)
    return "as published" if result["outcome"] == UNCHANGED else "first version"


def _exit_code(results: list[dict[str, Any]]) -> int:
    """Part of it got in, or why nothing did."""
    if len(results) == 1 and results[0]["outcome"] == REFUSED:
        taken = results[0].get("code") == "version-exists"
        return Conflict.exit_code if taken else GateRefused.exit_code
    return PartialFailure.exit_code
