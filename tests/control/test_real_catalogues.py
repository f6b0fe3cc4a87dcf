"""Tool lists that real servers gave, published as they are; and names that live in two namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest
from registry import Service

from governance.errors import AmbiguousName
from governance.importers import import_paths

CATALOGUES = Path(__file__).resolve().parents[1] / "data" / "catalogues"
EXPECTED = {
    "github-mcp-server.json": 117,
    "kubernetes-mcp-server.json": 46,
    "playwright-mcp.json": 25,
    "notion-mcp-server.json": 24,
    "mcp-server-git.json": 12,
}


@pytest.mark.parametrize(("file", "count"), EXPECTED.items())
def test_every_tool_of_a_real_catalogue_is_published_and_served(service: Service, file: str, count: int) -> None:
    result = import_paths([CATALOGUES / file], version="1.0.0")
    assert [str(refused.error) for refused in result.refused] == []
    assert len(result.accepted) == count
    for manifest in result.accepted:
        service.admin.put_version(manifest.to_document())
    names = {card.name for card in service.admin.search()}
    assert {manifest.name for manifest in result.accepted} <= names
    first = result.accepted[0]
    assert service.admin.get_version(first.name, "1.0.0").contract_digest == first.contract_digest
    assert len(service.entries("skill.publish")) == count


def test_one_tool_name_of_two_servers_is_two_skills_and_the_bare_name_is_ambiguous(service: Service) -> None:
    file = CATALOGUES / "mcp-server-git.json"
    for namespace in ("one", "two"):
        manifest = next(m for m in import_paths([file], namespace=namespace, version="1.0.0").accepted)
        service.admin.put_version(manifest.to_document())
    bare = manifest.name.rpartition(".")[2]
    with pytest.raises(AmbiguousName) as error:
        service.admin.get_skill(bare)
    assert f"one.{bare}" in str(error.value.details) + str(error.value)
    assert f"two.{bare}" in str(error.value.details) + str(error.value)
