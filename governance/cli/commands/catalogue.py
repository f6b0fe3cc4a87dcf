"""Whole tool lists, released as one: publish, check, diff, list.

publish and check take paths, or a running MCP server (mcp URL, mcp -- CMD ARG…), with every tool there is: what is
not among them is withdrawn. A release that breaks
nothing gets the smallest honest number; a break waits for --version, or for --bump auto. Members carry the
release's number, or with --version-by content each its own. diff takes NAME FROM TO; list nothing, or a NAME.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from governance.cli.announcing import only_one_number
from governance.cli.cards import well_formed
from governance.cli.cases import refused_case
from governance.cli.catalogues import catalogues_report, diff_report, judged_report, releases_report
from governance.cli.config import require_connection
from governance.cli.present import JSONObject
from governance.cli.provenance import provenance
from governance.cli.releases import refusal, refusal_change
from governance.cli.report import Report, Verdict
from governance.cli.run import Call
from governance.cli.servers import WORD, add_owner, add_servers, read_sources, some
from governance.client import ControlPlane
from governance.core.contract import SkillManifest
from governance.core.names import check_name
from governance.core.releases import VersionBy
from governance.core.versioning import Version
from governance.errors import UsageError
from governance.importers import ImportResult
from governance.wire import CatalogueCandidate

JUDGES = True
COMMAND_AFTER = WORD

_CALLED = {"diff": "govctl catalogue diff NAME FROM TO", "list": "govctl catalogue list [NAME]"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("publish", "check", "diff", "list"), help="what to do")
    parser.add_argument("words", metavar="WORD", nargs="*", default=[], help="paths; NAME FROM TO; or NAME, as above")
    parser.add_argument("--name", help="of the catalogue (default: --namespace, else where all its tools live)")
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    add_owner(parser)
    parser.add_argument("--version", metavar="VERSION", help="of the release (default: the one that all tools say)")
    parser.add_argument("--bump", choices=("auto",), help="auto: the smallest honest number, breaks included")
    parser.add_argument(
        "--version-by",
        choices=tuple(VersionBy),
        default=VersionBy.RELEASE.value,
        help="release: all carry its number; content: each its own",
    )
    parser.add_argument(
        "--renamed", action="append", default=[], metavar="OLD=NEW", help="a tool that is gone, and its successor"
    )
    parser.add_argument("--reason", help="why, for the audit log")
    parser.add_argument("--fail-on", choices=("risky", "breaking"), help="block these whatever the number says")
    parser.add_argument("--no-transitive", action="store_true", help="judge against the baselines alone")
    parser.add_argument("--repository", help="where it is from, for the record (default: what CI says)")
    parser.add_argument("--commit", help="the commit it is from (default: what CI says)")
    parser.add_argument("--run", help="the build it is from (default: what CI says)")
    add_servers(parser)


def run(call: Call) -> int:
    """0 released or allowed, 1 the gate refused, 3 undecided alone refused, 6 the number is taken."""
    wanted = call.arguments
    if wanted.action in _CALLED:
        with well_formed(), require_connection(wanted, call.environment).open() as plane:
            return call.output.emit(_read(plane, wanted.action, wanted.words))
    only_one_number(wanted)
    if not wanted.words:
        raise UsageError(f"catalogue {wanted.action} needs paths.", fix=f"govctl catalogue {wanted.action} PATH…")
    new = some(read_sources(call, wanted.words, namespace=wanted.namespace))
    if new.refused:
        return call.output.emit(_unreadable(new))
    proposed = _proposed(wanted, new)
    with well_formed(), require_connection(wanted, call.environment).open() as plane:
        return call.output.emit(_judge(plane, wanted, proposed, new))


def _read(plane: ControlPlane, action: str, words: Sequence[str]) -> Report:
    if len(words) != 3 if action == "diff" else len(words) > 1:
        raise UsageError(f"catalogue {action} is called otherwise.", fix=_CALLED[action])
    if action == "diff":
        found = plane.diff_releases(*words)
        return diff_report(found.catalogue, found.old, found.new, found.comparison)
    return releases_report(plane.releases(words[0])) if words else catalogues_report(list(plane.catalogues()))


@dataclass(frozen=True, kw_only=True)
class _Proposed:
    """The release a command line asks for; ``version`` is None where the registry is to number it."""

    name: str
    version: str | None
    version_by: VersionBy
    renamed: dict[str, str]
    documents: list[dict[str, Any]]


def _proposed(wanted: argparse.Namespace, new: ImportResult) -> _Proposed:
    by = VersionBy(wanted.version_by)
    version = wanted.version or (None if wanted.bump else _common_number(new.accepted))
    if version is not None:
        Version.parse(version)
    documents = []
    for one in new.imported:
        document = one.manifest.to_document()
        foreign = one.importer != "native"
        if foreign or (by is VersionBy.RELEASE and version is None):
            document.pop("version", None)
        documents.append(document)
    name = check_name(wanted.name or wanted.namespace or _common_namespace(new.accepted))
    return _Proposed(name=name, version=version, version_by=by, renamed=_renames(wanted.renamed), documents=documents)


def _common_number(manifests: Iterable[SkillManifest]) -> str | None:
    numbers = {manifest.version for manifest in manifests}
    return (numbers.pop() or None) if len(numbers) == 1 else None


def _common_namespace(manifests: Sequence[SkillManifest]) -> str:
    """The namespace that all of them live in, or below."""
    parts = [manifest.namespace.split(".") for manifest in manifests]
    common: list[str] = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1 or not level[0]:
            break
        common.append(level[0])
    if not common:
        raise UsageError("The tools live in no one namespace.", fix="Give --namespace, or --name and one namespace.")
    return ".".join(common)


def _renames(given: Iterable[str]) -> dict[str, str]:
    renamed = {}
    for text in given:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise UsageError(f"{text!r} is no rename.", fix="Write --renamed OLD=NEW with whole names.")
        renamed[check_name(old)] = check_name(new)
    return renamed


def _judge(plane: ControlPlane, wanted: argparse.Namespace, proposed: _Proposed, new: ImportResult) -> Report:
    checked = plane.check(
        proposed.documents,
        catalogue=CatalogueCandidate(
            name=proposed.name, version=proposed.version, version_by=proposed.version_by, renamed=proposed.renamed
        ),
        fail_on=wanted.fail_on,
        transitive=not wanted.no_transitive,
        reason=wanted.reason,
    )
    release: JSONObject = checked.release or {}
    if proposed.version is None and not wanted.bump:
        release = _waiting(release)
    told = release["decision"]
    decisions = [{**one, "check": checked.id} for one in checked.decisions]
    if wanted.action == "check" or told["decision"] == "block":
        return judged_report(release, decisions, sources=new.imported)
    answer = plane.put_release(
        proposed.name,
        told["version"],
        proposed.documents,
        version_by=proposed.version_by,
        renamed=proposed.renamed,
        reason=wanted.reason,
        fail_on=wanted.fail_on,
        transitive=not wanted.no_transitive,
        **provenance(wanted),
    )
    done = "published" if answer.created else "unchanged"
    return judged_report(release, decisions, sources=new.imported, done=done)


def _waiting(release: JSONObject) -> JSONObject:
    """A release whose number nobody chose: refused if it breaks."""
    told = release["decision"]
    breaks = release["withdrawn"] or any(one["change"] == "changed" and one["opens_line"] for one in release["members"])
    if told["decision"] == "block" or not breaks:
        return release
    reason = {
        "code": "unnumbered-break",
        "outcome": "block",
        "message": "The release breaks its callers, and nobody chose its number.",
        "fix": f"Release it as {told['version']} with --version, or give --bump auto.",
    }
    return {**release, "decision": {**told, "decision": "block", "reasons": [reason, *told["reasons"]]}}


def _unreadable(new: ImportResult) -> Report:
    """A release goes in whole, so one tool that cannot be read is enough to refuse it."""
    count = len(new.refused)
    sentence = f"{count} of {count + len(new.imported)} tools cannot be read; a release goes in whole or not at all."
    documents = [refusal(one) for one in new.refused]
    return Report(
        document={"decision": "block", "refused": documents},
        blocks=(Verdict(word="block", sentence=sentence, tone="bad"), *map(refusal_change, new.refused)),
        records=documents,
        exit_code=1,
        cases=tuple(map(refused_case, new.refused)),
    )
