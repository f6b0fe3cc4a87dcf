"""One skill with its lines and versions, or with NAME@VERSION one version whole."""

from __future__ import annotations

import argparse

from governance.cli.cards import document, versions_table
from governance.cli.config import require_connection
from governance.cli.exact import dumps
from governance.cli.present import decision_blocks, decision_sentence
from governance.cli.report import Block, Code, Heading, Paragraph, Report, Table, Verdict
from governance.cli.run import Call
from governance.client import ControlPlane
from governance.core.versioning import Version
from governance.errors import InvalidVersion, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="NAME[@VERSION]", help="a skill, or one version of it")


def run(call: Call) -> int:
    name, _, version = call.arguments.skill.partition("@")
    if version and not _is_version(version):
        raise UsageError(
            f"{version!r} is no version but may be a range, and show tells of one version.",
            fix=f"`govctl resolve {name}@{version}` says which one serves, `govctl versions {name}` lists all.",
        )
    with require_connection(call.arguments, call.environment).open() as plane:
        report = _version(plane, name, version) if version else _skill(plane, name)
    return call.output.emit(report)


def _is_version(text: str) -> bool:
    try:
        Version.parse(text)
    except InvalidVersion:
        return False
    return True


def _skill(plane: ControlPlane, name: str) -> Report:
    skill = plane.get_skill(name)
    versions = plane.versions(skill.name)
    lines = tuple((line.opened_at, line.latest, str(line.versions)) for line in skill.lines)
    blocks: list[Block] = [
        Verdict(word=skill.state.value, sentence=f"{skill.name} {skill.latest or '(no stable version)'}"),
        Paragraph(text=skill.description),
        Paragraph(text=f"owner: {skill.owner or '-'}   tags: {', '.join(skill.tags) or '-'}"),
        Heading(text="Lines (within one, nothing breaks)"),
        Table(columns=("opened at", "latest", "versions"), rows=lines),
        Heading(text="Versions"),
        versions_table(versions),
    ]
    listed = [document(version) for version in versions]
    return Report(document={**document(skill), "all_versions": listed}, blocks=tuple(blocks))


def _version(plane: ControlPlane, name: str, wanted: str) -> Report:
    version = plane.get_version(name, wanted)
    state = "yanked" if version.yanked is not None else version.state.value
    level = version.level.value if version.level else "no declared level"
    blocks: list[Block] = [
        Verdict(
            word=state,
            sentence=f"{version.name} {version.version}, {level}",
        ),
        Paragraph(text=f"manifest {version.manifest_digest}\ncontract {version.contract_digest}"),
        Paragraph(text=f"published {version.published_at:%Y-%m-%d %H:%M} by {version.published_by}"),
        Heading(text="Decision"),
        Paragraph(text=decision_sentence(version.decision)),
        *decision_blocks(version.decision),
        Heading(text="Manifest"),
        Code(text=dumps(version.manifest, indent=2), language="json"),
    ]
    return Report(document=document(version), blocks=tuple(blocks))
