"""What the demo shows: one catalogue published over HTTP, then a newer one before the gate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from governance.cli.announcing import Numbers
from governance.cli.checking import Release
from governance.cli.numbering import Numbered, number
from governance.cli.present import JSONObject, decision_blocks, decision_sentence
from governance.cli.registry import ask, release_of
from governance.cli.releases import release_document, release_report
from governance.cli.report import Block, Bullets, Code, Heading, Paragraph, Report, Verdict
from governance.cli.terminal import counted
from governance.client import ControlPlane
from governance.core.compat.model import Bump
from governance.core.skill import SkillManifest
from governance.core.versioning import Version, next_version
from governance.errors import GateRefused
from governance.importers import ImportResult

_SHOWN_REFUSALS: Final = 3


@dataclass(frozen=True, kw_only=True)
class Performance:
    """What happened: versions that got in, the release that stood before the gate, and who invented it."""

    published: dict[str, str]
    """Name to version, of the first catalogue."""
    unreadable: tuple[str, ...]
    refused_first: tuple[JSONObject, ...]
    """Decisions over members of the first catalogue that the gate did not let in."""
    release: Release | None
    accepted: dict[str, str] = field(default_factory=dict)
    invented: bool = False
    """Nobody gave a newer catalogue, so the change is ours."""

    def report(self, *, address: str, home: Path, ready_sec: float, total_sec: float) -> Report:
        """As one report: what happened in order, then where to go on."""
        document: dict[str, Any] = {
            "address": address,
            "docs": f"{address}/docs",
            "home": str(home),
            "seconds": round(total_sec, 2),
            "published": self.published,
            "unreadable": list(self.unreadable),
            "accepted": self.accepted,
        }
        if self.release is not None:
            document["check"] = release_document(self.release)
        return Report(document=document, blocks=tuple(self._blocks(address, ready_sec, total_sec)))

    def _blocks(self, address: str, ready_sec: float, total_sec: float) -> Iterator[Block]:
        refused = self._refused()
        told = f"{counted(len(self.published), 'skill')} published, {counted(len(self.accepted), 'change')} let in"
        told += f", {len(refused)} refused"
        yield Verdict(word="demo", sentence=f"{told}, in {total_sec:.1f} s.", tone="good")
        yield Heading(text=f"1. A control plane on {address}, ready in {ready_sec:.1f} s")
        yield Heading(text=f"2. Published: {counted(len(self.published), 'skill')}")
        yield Bullets(items=_few([f"{name} {version}" for name, version in self.published.items()]))
        if self.unreadable:
            yield Paragraph(text="Not accepted by the importer:")
            yield Bullets(items=_few(list(self.unreadable)))
        for decision in self.refused_first:
            yield Paragraph(text=f"Not let in: {decision_sentence(decision)}")
            yield from decision_blocks(decision, notes=False)
        if self.release is None:
            return
        yield from self._gate(refused)
        yield Heading(text="5. What CI writes into the pull request (govctl check -o markdown)")
        yield Code(text=_excerpt(self.release), language="markdown")
        yield Heading(text="6. Where to go on")
        yield Bullets(
            items=(
                f"API documentation, while it runs (`govctl serve` starts one that stays): {address}/docs",
                "your own skills, no server needed: govctl check PATH --against git:main",
                "what a finding means: govctl explain CODE",
            )
        )

    def _gate(self, refused: list[JSONObject]) -> Iterator[Block]:
        release = self.release
        assert release is not None
        title = "3. A newer version, let in" if not self.invented else "3. What if somebody changed one of them?"
        yield Heading(text=title)
        for decision in release.decisions:
            if decision["decision"] != "block":
                yield Paragraph(text=f"{decision['decision'].upper()}  {decision_sentence(decision)}")
                yield from decision_blocks(decision, notes=False)
        if release.unchanged:
            yield Paragraph(text=f"Unchanged: {len(release.unchanged)}.")
        yield Heading(text=f"4. Refused: {len(refused)}")
        for decision in refused[:_SHOWN_REFUSALS]:
            yield Paragraph(text=f"BLOCK  {decision_sentence(decision)}")
            yield from decision_blocks(decision, notes=False)
        if len(refused) > _SHOWN_REFUSALS:
            yield Paragraph(text=f"…and {len(refused) - _SHOWN_REFUSALS} more; -o json has all of them.")

    def _refused(self) -> list[JSONObject]:
        decisions = self.release.decisions if self.release is not None else ()
        return [decision for decision in decisions if decision["decision"] == "block"]


def perform(plane: ControlPlane, old: ImportResult, new: ImportResult | None) -> Performance:
    """Publish ``old``, then put ``new``, or a change of our own, before the gate and publish what passes."""
    published, refused = _publish(plane, number(plane, old.accepted))
    unreadable = tuple(one.error.message for one in old.refused)
    newer = new or _invent(old, published)
    if newer is None:
        return Performance(published=published, unreadable=unreadable, refused_first=refused, release=None)
    numbered = number(plane, _as_minors(old, newer, published))
    decisions = ask(plane, numbered, fail_on=None, transitive=True, numbers=Numbers())
    passing = [one for one in numbered if not one.standing and not _blocked(one, decisions)]
    accepted, _ = _publish(plane, passing)
    return Performance(
        published=published,
        unreadable=unreadable,
        refused_first=refused,
        release=release_of(plane.base_url, newer, numbered, decisions),
        accepted=accepted,
        invented=new is None,
    )


def _publish(plane: ControlPlane, numbered: list[Numbered]) -> tuple[dict[str, str], tuple[JSONObject, ...]]:
    done: dict[str, str] = {}
    refused: list[JSONObject] = []
    for one in numbered:
        try:
            plane.put_version(one.manifest.to_document(), reason="govctl demo")
        except GateRefused as error:
            decision = error.details.get("decision")
            if isinstance(decision, dict):
                refused.append(decision)
        else:
            done[one.manifest.name] = one.manifest.version
    return done, tuple(refused)


def _blocked(one: Numbered, decisions: list[JSONObject]) -> bool:
    found = next(d for d in decisions if (d["skill"], d["version"]) == (one.manifest.name, one.manifest.version))
    return bool(found["decision"] == "block")


def _as_minors(old: ImportResult, newer: ImportResult, published: dict[str, str]) -> list[SkillManifest]:
    """What nobody numbered and has changed is offered as the next minor: the number of most changes there are."""
    before = {one.name: one.contract_digest for one in old.accepted}
    return [
        replace(one, version=str(next_version(Version.parse(published[one.name]), Bump.MINOR)))
        if not one.version and one.name in published and before[one.name] != one.contract_digest
        else one
        for one in newer.accepted
    ]


def _invent(old: ImportResult, published: dict[str, str]) -> ImportResult | None:
    """The first skill that has named arguments, with one more that is required, called a minor version."""
    for imported in old.imported:
        manifest = imported.manifest
        version = published.get(manifest.name)
        schema = manifest.input_schema
        if version is None or not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
            continue
        major, minor, _ = version.split("-")[0].split("+")[0].split(".")
        changed = replace(manifest, version=f"{major}.{int(minor) + 1}.0", input_schema=_with_tenant(schema))
        return ImportResult(imported=(replace(imported, manifest=changed),))
    return None


def _with_tenant(schema: dict[str, Any]) -> dict[str, Any]:
    added = {"type": "string", "description": "Whose data this is about"}
    required = [name for name in schema.get("required", []) if name != "tenant_id"]
    return {**schema, "properties": {**schema["properties"], "tenant_id": added}, "required": [*required, "tenant_id"]}


def _few(items: list[str], limit: int = 12) -> tuple[str, ...]:
    rest = len(items) - limit
    return tuple(items) if rest <= 0 else (*items[:limit], f"…and {rest} more")


def _excerpt(release: Release, lines: int = 30) -> str:
    from governance.cli.markdown import render_markdown

    text = render_markdown(release_report(release).blocks).splitlines()
    rest = len(text) - lines
    cut = f"({rest} more lines: `govctl check NEW --against OLD -o markdown` writes all of them.)"
    return "\n".join(text if rest <= 0 else [*text[:lines], "", cut])
