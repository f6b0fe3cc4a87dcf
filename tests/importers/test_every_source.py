"""Every source of the test data, and every dialect its skills go through: counted, and not one contract changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from governance.core.contract import SkillManifest
from governance.importers import import_paths, import_text
from governance.importers.export import export_catalogue, export_native, export_skill_md
from governance.importers.export_a2a import export_a2a
from governance.importers.export_functions import export_anthropic, export_openai

DATA = Path(__file__).parent.parent / "data"
SOURCES = {
    "catalogues/github-mcp-server.json": (117, 0, 0),
    "catalogues/kubernetes-mcp-server.json": (46, 0, 0),
    "catalogues/playwright-mcp.json": (25, 0, 0),
    "catalogues/notion-mcp-server.json": (24, 0, 0),
    "catalogues/mcp-server-git.json": (12, 0, 0),
    "catalogues/a2a_agent_cards.json": (5, 2, 0),
    "functions/openai_tools.json": (4, 0, 1),
    "functions/anthropic_tools.json": (3, 0, 1),
    "openapi/shop-3.0.yaml": (3, 2, 0),
    "openapi/shop-3.1.json": (3, 0, 0),
    "subjects/shop.json": (3, 3, 0),
}
"""Accepted, refused, warned; none of the refusals without a reason and a place."""
TOOLS: dict[str, Callable[[Sequence[SkillManifest]], Any]] = {
    "mcp": lambda skills: export_catalogue(list(skills)),
    "openai": lambda skills: export_openai(skills).document,
    "openai-flat": lambda skills: export_openai(skills, flat=True).document,
    "anthropic": lambda skills: export_anthropic(skills).document,
    "a2a": lambda skills: export_a2a(skills).document,
}


def latest(skills: Sequence[SkillManifest]) -> list[SkillManifest]:
    """One version of each: a tool list holds no two."""
    return list({skill.name: skill for skill in skills}.values())


@pytest.mark.parametrize(("file", "counts"), SOURCES.items())
def test_every_source_is_read_with_every_refusal_explained(file: str, counts: tuple[int, int, int]) -> None:
    result = import_paths([DATA / file])
    assert (len(result.imported), len(result.refused), len(result.warnings)) == counts
    for refused in result.refused:
        assert refused.error.fix
        assert all(fault.place and fault.place.line for fault in refused.error.faults)
    assert all(warning.place and warning.place.line for warning in result.warnings)


@pytest.mark.parametrize("form", TOOLS)
@pytest.mark.parametrize("file", SOURCES)
def test_every_source_keeps_its_contracts_through_every_dialect(file: str, form: str) -> None:
    skills = latest(import_paths([DATA / file]).accepted)
    if form != "a2a":
        skills = [skill for skill in skills if skill.input_schema is not None]
    if not skills:
        assert file == "catalogues/a2a_agent_cards.json"
        return
    again = import_text(json.dumps(TOOLS[form](skills)))
    assert not again.refused
    assert not again.warnings
    digests = [skill.contract_digest for skill in skills]
    assert sorted(skill.contract_digest for skill in again.accepted) == sorted(digests)


@pytest.mark.parametrize("file", SOURCES)
def test_every_source_keeps_its_manifests_as_native_text(file: str) -> None:
    for skill in import_paths([DATA / file], version=None if "subjects" in file else "1.0.0").accepted[:20]:
        for format in ("yaml", "json"):
            (again,) = import_text(export_native(skill, format=format)).accepted
            assert again.manifest_digest == skill.manifest_digest


def test_every_front_matter_is_read_or_refused_with_its_line_and_comes_back() -> None:
    entries = json.loads((DATA / "skill_front_matters.json").read_text(encoding="utf-8"))
    results = [import_text(f"---\n{entry['front_matter']}\n---\n# Do it\n", version="1.0.0") for entry in entries]
    skills = [skill for result in results for skill in result.accepted]
    refused = [refused for result in results for refused in result.refused]
    warned = [result for result in results if any(warning.code == "lenient" for warning in result.warnings)]
    assert (len(entries), len(skills), len(refused), len(warned)) == (10, 9, 1, 2)
    assert refused[0].origin.line == 21
    for skill in skills:
        for form in (export_skill_md(skill), export_native(skill), json.dumps(export_a2a([skill]).document)):
            assert import_text(form).accepted[0].contract_digest == skill.contract_digest
