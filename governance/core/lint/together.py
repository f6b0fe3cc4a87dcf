"""What shows only when skills stand side by side: names that are nearly one, texts that speak of others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from governance.core.compat.wording import TextKind, risks_in
from governance.core.lint.model import Spot
from governance.core.lint.reading import prose
from governance.core.skill import SkillManifest

_PLURAL: Final = re.compile(r"(?:ies|es|s)$")
_COMPOUND: Final = re.compile(r".[_-].|[a-z][A-Z]")


def near_duplicates(manifests: Sequence[SkillManifest]) -> Iterator[tuple[str, Spot]]:
    """Names of one namespace that differ only in marks, in the order of their words, or in a plural."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in dict.fromkeys(manifest.name for manifest in manifests):
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
                    yield name, Spot("/name", f"a model will confuse {name} with {other}")


def other_tools(manifests: Sequence[SkillManifest]) -> Iterator[tuple[str, Spot]]:
    """Descriptions that name another tool of the catalogue: a rename there breaks the sense here."""
    spelled = {m.name: m.external_name or m.name.rpartition(".")[2] for m in manifests}
    names = {name for name in spelled.values() if _COMPOUND.search(name)}
    for manifest in manifests:
        own = {spelled[manifest.name], manifest.name}
        for pointer, text in prose(manifest):
            words = set(re.findall(r"[A-Za-z][\w.-]*\w", text)) if names else set()
            for other in sorted((names & words) - own):
                yield manifest.name, Spot(pointer, f"the text speaks of another tool, {other}")


def urls(manifest: SkillManifest) -> Iterator[Spot]:
    for pointer, text in prose(manifest):
        found = sorted(risk.fragment for risk in risks_in(text) if risk.kind is TextKind.URL) if "/" in text else []
        if found:
            yield Spot(pointer, f"the text sends its reader to {', '.join(found[:3])}")
