"""What shows only when skills stand side by side: names that are nearly one, texts that speak of others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from governance.core.compat.wording import TextKind, risks_in
from governance.core.lint.model import Spot
from governance.core.lint.reading import line_of, prose
from governance.core.skill import SkillManifest

_PLURAL: Final = re.compile(r"(?:ies|es|s)$")
_COMPOUND: Final = re.compile(r".[_-].|[a-z][A-Z]")
_WEB: Final = re.compile(r"\b(?:(?:https?|wss?|ftp)://|(?=www\.))([^\s<>\"'`\])}|\\]{1,500})")
_AFTER: Final = ".,;:!?*_/"
"""Marks of the sentence, not of the address."""


def near_duplicates(manifests: Sequence[SkillManifest]) -> Iterator[tuple[SkillManifest, Spot]]:
    """Names of one namespace that differ only in marks, in the order of their words, or in a plural."""
    skills = {manifest.name: manifest for manifest in manifests}
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in skills:
        namespace, _, last = name.rpartition(".")
        words = sorted(_PLURAL.sub("", word) for word in last.split("_") if word)
        groups[namespace, "".join(words)].append(name)
        joined = _PLURAL.sub("", last.replace("_", ""))
        if joined != "".join(words):
            groups[namespace, joined].append(name)
    told: set[tuple[str, str]] = set()
    for names in groups.values():
        for name in names:
            for other in names:
                if other != name and (name, other) not in told:
                    told.add((name, other))
                    yield skills[name], Spot("/name", f"a model will confuse {name} with {other}", other)


def other_tools(manifests: Sequence[SkillManifest]) -> Iterator[tuple[SkillManifest, Spot]]:
    """Texts that name another tool of the catalogue, one the skill does not declare: a rename there breaks the
    sense here."""
    spelled = {m.name: m.external_name or m.name.rpartition(".")[2] for m in manifests}
    names = {name for name in spelled.values() if _COMPOUND.search(name)}
    for manifest in manifests:
        allowed = set(manifest.allowed_tools)
        known = {spelled[manifest.name], manifest.name, *allowed, *(spelled[n] for n in allowed & spelled.keys())}
        for pointer, text in prose(manifest):
            words = set(re.findall(r"[A-Za-z][\w.-]*\w", text)) if names else set()
            for other in sorted((names & words) - known):
                message = f"the text speaks of another tool, {other}"
                yield manifest, Spot(pointer, message, other, line_of(text, other))


def urls(manifest: SkillManifest) -> Iterator[Spot]:
    for pointer, text in prose(manifest):
        found = sorted(set(_addresses(text)))
        if found:
            more = f" and {len(found) - 3} more" if len(found) > 3 else ""
            message = f"the text sends its reader to {', '.join(found[:3])}{more}"
            yield Spot(pointer, message, " ".join(found), line_of(text, found[0]))


def _addresses(text: str) -> Iterator[str]:
    """Web addresses that lead somewhere. A host and a path alone are as often a label or a kind of object
    (``networking.k8s.io/v1``); where one is new, the comparison of two versions tells."""
    links = {match[1].rstrip(_AFTER).partition("#")[0] for match in _WEB.finditer(text.casefold())}
    if links:
        known = {risk.fragment for risk in risks_in(text) if risk.kind is TextKind.URL}
        yield from (link.rstrip(_AFTER) for link in links if link.rstrip(_AFTER) in known)
