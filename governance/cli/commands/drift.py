"""Is what a server offers now what was registered? Tools that came, went or changed, by verdict; texts by their words.

govctl drift NAME -- CMD ARG… or govctl drift NAME URL; a saved tool list does as well. NAME is a catalogue, a skill or
a namespace of the registry, at the version the server says it is, else at the highest; NAME@VERSION decides. With
--against BASE a saved list stands for the registry. What was registered was judged, so what is merely risky, such as
a text that now gives the model orders, fails here, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from governance.cli.comparing import add_comparing, comparer_of, settings_of
from governance.cli.config import require_connection
from governance.cli.drifting import FAILING, Before, Offer, drift_report, prefix_of, under_registered_names
from governance.cli.pairing import pair_up
from governance.cli.run import Call
from governance.cli.servers import WORD, add_servers, ask, imported, server_of
from governance.cli.sources import Reader, existing
from governance.core.contract import SkillManifest
from governance.core.names import snake_name
from governance.errors import UsageError
from governance.importers import Imported, ImportResult, import_paths
from governance.live import Heard

JUDGES = True
COMMAND_AFTER = ""

_CALLED = "govctl drift NAME -- CMD ARG…, or govctl drift NAME URL; with --against BASE no NAME is needed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", metavar="NAME SOURCE", nargs="*", default=[], help="what was registered, and who offers it now"
    )
    parser.add_argument("--against", metavar="BASE", help="in place of the registry: FILE or git:REF:FILE")
    parser.add_argument(
        "--namespace", help="prefix for the names of the tools (default: where the registered ones live)"
    )
    add_comparing(parser)
    parser.add_argument(
        "--fail-on",
        choices=tuple(FAILING),
        default="risky",
        help="the mildest difference that fails (default: risky; any: a reworded text as well)",
    )
    add_servers(parser)


def run(call: Call) -> int:
    """0 no drift, or only such as harms nobody; 1 drift that breaks or is risky; 3 undecided alone."""
    wanted = call.arguments
    name, source = _split(wanted.words, command=wanted.command, offline=wanted.against is not None)
    if wanted.against is not None:
        before, old, offer, new = _offline(call, name, source)
    else:
        before, old, offer, new = _online(call, str(name), source)
    new = under_registered_names(new, old)
    with comparer_of(wanted) as comparer:
        pairs = pair_up(old, new, compare=partial(comparer.check, settings=settings_of(wanted)))
    return call.output.emit(drift_report(pairs, before, offer, old, new, fail_on=wanted.fail_on))


def _split(words: Sequence[str], *, command: Sequence[str] | None, offline: bool) -> tuple[str | None, list[str]]:
    """The name and the words of the source, ``mcp`` among them where it is a server."""
    rest = list(words)
    if command is not None:
        source = [WORD]
        rest = rest[:-1] if rest[1:] and rest[-1] == WORD else rest
    elif rest:
        last = rest.pop()
        source = [WORD, last] if "://" in last and not Path(last).exists() else [last]
        rest = rest[:-1] if rest[1:] and rest[-1] == WORD else rest
    else:
        raise UsageError("drift needs to know who offers what.", fix=f"{_CALLED}.")
    if len(rest) > 1 or (not rest and not offline):
        raise UsageError("drift takes one NAME and one source.", fix=f"{_CALLED}.")
    return (rest[0] if rest else None), source


@dataclass(frozen=True, kw_only=True)
class _Source:
    """Who offers, read once; ``skills`` puts the names where they are wanted."""

    offer: Offer
    heard: Heard | None
    paths: Sequence[str]

    @classmethod
    def of(cls, call: Call, words: Sequence[str]) -> _Source:
        server = server_of(call, words)
        if server is None:
            found = import_paths(existing(words))
            numbers = {manifest.version for manifest in found.accepted}
            version = numbers.pop() if len(numbers) == 1 else None
            return cls(offer=Offer(label=" ".join(words), version=version or None), heard=None, paths=words)
        heard = ask(call, server, may_be_empty=True)
        said = heard.server.get("version")
        version = said if isinstance(said, str) and said else None
        return cls(offer=Offer(label=heard.label, version=version), heard=heard, paths=())

    def skills(self, namespace: str | None) -> ImportResult:
        if self.heard is not None:
            return imported(self.heard, namespace=namespace)
        return import_paths(existing(self.paths), namespace=namespace)


def _offline(call: Call, name: str | None, words: Sequence[str]) -> tuple[Before, ImportResult, Offer, ImportResult]:
    wanted = call.arguments
    old = Reader.of(call).skills(wanted.against)
    if not old.imported:
        raise UsageError(
            f"There is no skill in {wanted.against}.", fix="`govctl import PATH` says what is found there."
        )
    source = _Source.of(call, words)
    namespace = prefix_of(old.accepted[0]) if wanted.namespace is None else wanted.namespace
    new = source.skills(namespace)
    if name is not None:
        old, new = _within(old, name), _within(new, name)
        if not old.imported:
            raise UsageError(f"There is no {name!r} in {wanted.against}.", fix="Leave the name out to compare all.")
    numbers = {manifest.version for manifest in old.accepted}
    version = numbers.pop() if len(numbers) == 1 else None
    said = source.offer.version if source.offer.version != version else None
    before = Before(kind="file", name=wanted.against, version=version or None, at=wanted.against, said=said)
    return before, old, source.offer, new


def _online(call: Call, name: str, words: Sequence[str]) -> tuple[Before, ImportResult, Offer, ImportResult]:
    from governance.cli.registered import (
        as_told_by_tools,
        first_manifest,
        manifests_of,
        registered_as,
    )

    wanted = call.arguments
    name, _, version = name.partition("@")
    connection = require_connection(wanted, call.environment)
    with connection.open() as plane:
        registered_as(plane, name, version=version or None, said=None)  # a wrong name is told before a server starts
        source = _Source.of(call, words)
        registered = registered_as(plane, name, version=version or None, said=source.offer.version)
        first = first_manifest(plane, registered)
        namespace = prefix_of(first) if wanted.namespace is None and first is not None else wanted.namespace
        new = source.skills(namespace)
        if registered.kind == "skill":
            new = _within(new, registered.name)
        old = as_told_by_tools(manifests_of(plane, registered, new.accepted), new)
    before = Before(
        kind=registered.kind,
        name=registered.name,
        version=registered.version,
        at=connection.server,
        said=registered.said,
    )
    return before, old, source.offer, new


def _within(result: ImportResult, name: str) -> ImportResult:
    """The skill of that name, or those that live below it; of what cannot be read only that which may be meant."""

    def meant(manifest: SkillManifest) -> bool:
        return manifest.name == name or manifest.name.startswith(f"{name}.")

    kept: tuple[Imported, ...] = tuple(one for one in result.imported if meant(one.manifest))
    local = name.rpartition(".")[2]
    unreadable = tuple(one for one in result.refused if not one.name or snake_name(one.name) in (name, local))
    return replace(result, imported=kept, refused=unreadable)
