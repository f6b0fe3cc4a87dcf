"""Write skills as native manifest, MCP tool or SKILL.md; importing them again keeps the contract digest."""

from __future__ import annotations

import argparse
from pathlib import Path

from governance.cli.output import json_text, write_stdout, written_file
from governance.cli.run import Call
from governance.cli.sources import Reader
from governance.core.skill import SkillManifest
from governance.errors import UsageError
from governance.importers.export import export_catalogue, export_mcp, export_native, export_skill_md


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="NAME@VERSION|PATH", help="what to export")
    parser.add_argument(
        "--to", choices=("native", "mcp", "skill-md"), default="native", help="the form (default: native)"
    )
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml", help="of a native manifest")
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    parser.add_argument("--version", metavar="VERSION", help="for a skill whose source has none")


def run(call: Call) -> int:
    """The export itself is the output: to standard output, or to the one --out FILE."""
    wanted = call.arguments
    if any(flag == "-o" for flag, _ in wanted.reports):
        raise UsageError("An export has no report.", fix="Choose its form with --to and --format, its file with --out.")
    if len(wanted.reports) > 1:
        raise UsageError("An export goes to one place.", fix="Give one --out FILE.")
    result = Reader.of(call).skills(wanted.source, version=wanted.version)
    for refused in result.refused:
        raise refused.error
    if not result.accepted:
        raise UsageError(f"There is no skill in {wanted.source}.", fix="`govctl import PATH` says what is found.")
    text = _text(result.accepted, wanted)
    file = wanted.reports[0][1] if wanted.reports else "-"
    if file == "-":
        write_stdout(text)
    else:
        with written_file(Path(file)) as stream:
            stream.write(text)
    return 0


def _text(manifests: tuple[SkillManifest, ...], wanted: argparse.Namespace) -> str:
    if wanted.to == "mcp":
        one = export_mcp(manifests[0]) if len(manifests) == 1 else export_catalogue(list(manifests))
        return json_text(one, indent=2) + "\n"
    if len(manifests) > 1:
        raise UsageError(
            f"{wanted.source} holds {len(manifests)} skills and a {wanted.to} file holds one.",
            fix="Export one by NAME@VERSION, or take --to mcp.",
        )
    if wanted.to == "skill-md":
        return export_skill_md(manifests[0])
    return export_native(manifests[0], format=wanted.format)
