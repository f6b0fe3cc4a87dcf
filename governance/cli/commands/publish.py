"""Put versions into the registry, through the gate.

Everything is checked first and one refusal refuses all, with every reason; --partial publishes what passes.
Skills without a version get the smallest honest one; --bump auto gives it to all.
"""

from __future__ import annotations

import argparse
from typing import Any

from governance.cli.cards import well_formed
from governance.cli.checking import Release
from governance.cli.config import require_connection
from governance.cli.numbering import Numbered, number
from governance.cli.present import JSONObject
from governance.cli.registry import ask, release_of
from governance.cli.releases import release_document, release_report
from governance.cli.report import Block, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.sources import existing
from governance.cli.terminal import progress
from governance.client import ControlPlane
from governance.core.compat.model import Verdict as Word
from governance.errors import GateRefused, UsageError
from governance.importers import ImportResult, import_paths

PUBLISHED, UNCHANGED, REFUSED = "published", "unchanged", "refused"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="skills, tool lists, or folders of them")
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    parser.add_argument("--version", metavar="VERSION", help="for skills whose source has none")
    parser.add_argument("--bump", choices=("auto",), help="auto: number every skill by what changed")
    parser.add_argument("--reason", help="why, for the audit log")
    parser.add_argument("--fail-on", choices=("risky", "breaking"), help="block these whatever the number says")
    parser.add_argument("--no-transitive", action="store_true", help="judge against the baseline alone")
    parser.add_argument("--dry-run", action="store_true", help="only say what the gate would decide")
    parser.add_argument("--partial", action="store_true", help="publish what passes and refuse the rest")


def run(call: Call) -> int:
    """0 all published, 1 the gate refused, 3 undecided alone refused, 7 with --partial some were refused."""
    wanted = call.arguments
    new = import_paths(existing(wanted.paths), namespace=wanted.namespace, version=wanted.version)
    if not new.imported and not new.refused:
        raise UsageError("There is no skill in what was given.", fix="`govctl import PATH` says what was passed over.")
    connection = require_connection(wanted, call.environment)
    fail_on = Word(wanted.fail_on) if wanted.fail_on else None
    with well_formed(), connection.open() as plane:
        numbered = number(plane, new.accepted, all_of_them=wanted.bump == "auto")
        decisions = ask(plane, numbered, fail_on=fail_on, transitive=not wanted.no_transitive)
        release = release_of(connection.server, new, numbered, decisions)
        if wanted.dry_run or (release.outcome == "block" and not wanted.partial):
            return call.output.emit(release_report(release))
        done = _publish(call, plane, numbered, decisions)
    return call.output.emit(_report(new, release, done))


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
        )
    except GateRefused as error:  # somebody published in between
        return {"outcome": REFUSED, "decision": error.details.get("decision"), "error": error.message}
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
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    failed = counts[REFUSED] > 0
    blocks: list[Block] = [
        Verdict(word="published", sentence=f"{told} at {release.against}.", tone="bad" if failed else "good")
    ]
    rows = tuple((one["skill"], one["version"], one["outcome"], one.get("level") or "") for one in results)
    if rows:
        blocks.append(Table(columns=("skill", "version", "outcome", "level"), rows=rows))
    if release.outcome != "allow":
        blocks += release_report(release).blocks[2:]
    return Report(
        document={"results": results, **release_document(release)},
        blocks=tuple(blocks),
        records=results,
        exit_code=7 if failed else 0,
    )
