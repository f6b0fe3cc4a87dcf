"""Read skills from files and folders, of every source known by its content, or from a running MCP server. Says
what is accepted, and why the rest is not; nothing is published."""

from __future__ import annotations

import argparse
from typing import Any

from governance.cli.report import Block, Bullets, Change, Fact, Heading, Report, Table, Verdict
from governance.cli.run import Call
from governance.cli.servers import SOURCES, WORD, add_owner, add_servers, ask, imported, read_sources, save, server_of
from governance.cli.terminal import counted
from governance.errors import Fault, UsageError
from governance.importers import IMPORTERS, Imported, ImportResult, Refused

COMMAND_AFTER = WORD
_MOST_WARNINGS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help=SOURCES)
    parser.add_argument("--namespace", help="prefix for the names of foreign tools")
    add_owner(parser)
    parser.add_argument("--version", help="for skills whose source has none")
    parser.add_argument(
        "--save", metavar="FILE", help="keep what the server offers as a tool list, to compare with later"
    )
    add_servers(parser)


def run(call: Call) -> int:
    """0 when every skill was accepted, 7 when some were refused, 1 when all were, 2 when there was none at all."""
    wanted = call.arguments
    result = _read(call)
    if not result.imported and not result.refused:
        raise UsageError(
            f"There is no skill in {', '.join(wanted.paths)}.",
            fix=f"Looked for: {', '.join(importer.title for importer in IMPORTERS)}.",
            faults=result.warnings[:_MOST_WARNINGS],
        )
    code = 0
    if result.refused:
        code = 7 if result.imported else 1
    return call.output.emit(_report(result, code))


def _read(call: Call) -> ImportResult:
    wanted = call.arguments
    if wanted.save is None:
        return read_sources(call, wanted.paths, namespace=wanted.namespace, version=wanted.version)
    server = server_of(call, wanted.paths)
    if server is None:
        raise UsageError("--save keeps what a server offers.", fix="Give a server: `mcp URL`, or `mcp -- CMD ARG…`.")
    heard = ask(call, server)
    save(heard, wanted.save)
    return imported(heard, namespace=wanted.namespace, version=wanted.version)


def _report(result: ImportResult, code: int) -> Report:
    accepted = [_accepted(item) for item in result.imported]
    refused = [_refused(item) for item in result.refused]
    warnings = [warning.to_document() for warning in result.warnings]
    records = [
        *({"outcome": "accepted", **one} for one in accepted),
        *({"outcome": "refused", **one} for one in refused),
        *({"outcome": "warning", **one} for one in warnings),
    ]
    return Report(
        document={"accepted": accepted, "refused": refused, "warnings": warnings},
        blocks=tuple(_blocks(result)),
        records=records,
        exit_code=code,
    )


def _accepted(item: Imported) -> dict[str, Any]:
    manifest = item.manifest
    return {
        "name": manifest.name,
        "version": manifest.version or None,
        "external_name": manifest.external_name,
        "importer": item.importer,
        "origin": str(item.origin),
        "contract_digest": manifest.contract_digest,
        "manifest": manifest.to_document(),
    }


def _refused(item: Refused) -> dict[str, Any]:
    error = item.error
    return {
        "name": item.name,
        "origin": str(item.origin),
        "code": error.code,
        "error": error.message,
        "fix": error.fix,
        "errors": [fault.to_document() for fault in error.faults],
    }


def _blocks(result: ImportResult) -> list[Block]:
    told = f"{len(result.imported)} accepted, {len(result.refused)} refused"
    if result.warnings:
        told += f", {counted(len(result.warnings), 'warning')}"
    tone = "bad" if result.refused else "warn" if result.warnings else "good"
    blocks: list[Block] = [Verdict(word="import", sentence=f"{told}.", tone=tone)]
    if result.imported:
        rows = tuple(
            (item.manifest.name, item.manifest.version or "-", item.importer, str(item.origin))
            for item in result.imported
        )
        blocks.append(Table(columns=("accepted", "version", "from", "where"), rows=rows))
    if result.refused:
        blocks.append(Heading(text="Refused"))
        blocks += [_refusal(item) for item in result.refused]
    if result.warnings:
        blocks.append(Heading(text="Warnings"))
        blocks.append(Bullets(items=tuple(map(_warning, result.warnings))))
    return blocks


def _refusal(item: Refused) -> Change:
    facts = [Fact(label="where", value=str(fault)) for fault in item.error.faults[:10]]
    facts.append(Fact(label="do", value=item.error.fix))
    return Change(
        code=item.error.code,
        place=item.name or str(item.origin),
        tone="bad",
        message=item.error.message,
        facts=tuple(facts),
    )


def _warning(fault: Fault) -> str:
    return str(fault)
