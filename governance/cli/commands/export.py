"""Write skills in another dialect: as native manifest, SKILL.md, MCP tools, tools of a model's API or A2A agent card.
Importing them again keeps the contract digest; what a client refuses is left out of what it is shown, and told."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

from governance.cli.output import json_text, write_stdout, written_file
from governance.cli.run import Call
from governance.cli.sources import Reader
from governance.cli.terminal import one_line
from governance.core.skill import SkillManifest
from governance.errors import UsageError
from governance.importers.export import export_catalogue, export_mcp, export_native, export_skill_md
from governance.importers.export_a2a import export_a2a
from governance.importers.export_functions import Exported, export_anthropic, export_openai

Manifests = tuple[SkillManifest, ...]
Told = tuple[str, tuple[str, ...]]
"""The text, and what its readers are not shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="NAME@VERSION|PATH", help="what to export")
    parser.add_argument("--to", choices=tuple(_FORMS), default="native", help="the form (default: native)")
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
    text, losses = _FORMS[wanted.to](_exportable(call, result.accepted), wanted)
    file = wanted.reports[0][1] if wanted.reports else "-"
    for loss in losses:
        call.output.note(one_line(f"note: {loss}", 400))
    if file == "-":
        write_stdout(text)
    else:
        with written_file(Path(file)) as stream:
            stream.write(text)
    return 0


def _exportable(call: Call, manifests: tuple[SkillManifest, ...]) -> tuple[SkillManifest, ...]:
    """Of many skills, those the form can hold; one that was asked for alone must be one."""
    if call.arguments.to not in _TOOL_LISTS or len(manifests) == 1:
        return manifests
    tools = tuple(manifest for manifest in manifests if manifest.input_schema is not None)
    for manifest in manifests:
        if manifest.input_schema is None:
            call.output.note(one_line(f"note: {manifest.name} has no input schema and is left out"))
    return tools


def _native(manifests: Manifests, wanted: argparse.Namespace) -> Told:
    return export_native(_single(manifests, wanted), format=wanted.format), ()


def _skill_md(manifests: Manifests, wanted: argparse.Namespace) -> Told:
    return export_skill_md(_single(manifests, wanted)), ()


def _mcp(manifests: Manifests, wanted: argparse.Namespace) -> Told:
    one = export_mcp(manifests[0]) if len(manifests) == 1 else export_catalogue(list(manifests))
    tools = one["tools"] if len(manifests) != 1 else [one]
    losses = tuple(
        f"{manifest.name}: an output of anything but objects is not taken"
        for manifest, tool in zip(manifests, tools, strict=True)
        if manifest.output_schema is not None and "outputSchema" not in tool
    )
    return json_text(one, indent=2) + "\n", losses


def _openai(manifests: Manifests, wanted: argparse.Namespace) -> Told:
    return _document(export_openai(manifests, flat=wanted.to == "openai-flat"))


def _anthropic(manifests: Manifests, wanted: argparse.Namespace) -> Told:
    return _document(export_anthropic(manifests))


def _a2a(manifests: Manifests, wanted: argparse.Namespace) -> Told:
    return _document(export_a2a(manifests))


def _document(exported: Exported) -> Told:
    return json_text(exported.document, indent=2) + "\n", exported.losses


def _single(manifests: Manifests, wanted: argparse.Namespace) -> SkillManifest:
    if len(manifests) > 1:
        raise UsageError(
            f"{wanted.source} holds {len(manifests)} skills and a {wanted.to} file holds one.",
            fix="Export one by NAME@VERSION, or take --to mcp.",
        )
    return manifests[0]


_FORMS: Final[dict[str, Callable[[Manifests, argparse.Namespace], Told]]] = {
    "native": _native,
    "skill-md": _skill_md,
    "mcp": _mcp,
    "openai": _openai,
    "openai-flat": _openai,
    "anthropic": _anthropic,
    "a2a": _a2a,
}
_TOOL_LISTS: Final = frozenset({"mcp", "openai", "openai-flat", "anthropic"})
