"""The reference pages say what the code does, and everything in the code is in them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from governance.cli import COMMANDS
from governance.cli.explanations import TOPIC, explanations
from governance.cli.reference import EXIT_CODES, pages
from governance.cli.topics import CONTRACT
from governance.core.skill import SkillManifest
from governance.errors import all_errors

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", pages())
def test_the_page_in_the_repository_is_the_one_the_code_writes(name: str) -> None:
    hint = f"run: python -m governance.cli.reference docs (docs/{name} is behind)"
    assert (DOCS / name).read_text(encoding="utf-8") == pages()[name], hint


def test_every_command_code_and_exit_code_is_on_a_page() -> None:
    assert all(f"\n## govctl {word}\n" in pages()["cli.md"] for word in COMMANDS)
    assert all(f"`{one.code}`" in pages()["codes.md"] for one in explanations().values() if one.kind != TOPIC)
    assert {error.exit_code for error in all_errors()} <= {code for code, _ in EXIT_CODES}


def test_every_field_of_a_contract_is_explained() -> None:
    assert set(CONTRACT) == {field.name for field in fields(SkillManifest)}
